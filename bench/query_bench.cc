// Owns: what a `$filter` costs: parsing it, planning it, judging entities by it.
// Method: ten thousand encoded entities of ten properties, the filter's among the last; one in a thousand matches.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "api/filter/filter.h"
#include "api/filter/key_plan.h"
#include "format/entity.h"
#include "format/sort_key.h"

namespace varve {
namespace {

constexpr format::TableId kTable = format::make_table_id(1, 7);
constexpr std::size_t kEntities = 10'000;

std::vector<std::string> encoded_entities() {
  std::vector<std::string> entities;
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < kEntities; ++i) {
    builder.add_string("FirstName", "Ann");
    builder.add_int32("Age", static_cast<std::int32_t>(i % 90));
    builder.add_string("Street", "Main Street " + std::to_string(i));
    builder.add_string("City", "Springfield");
    builder.add_double("Balance", static_cast<double>(i) * 0.5);
    builder.add_boolean("Active", i % 2 == 0);
    builder.add_date_time("Since", 638'000'000'000'000'000 + i);
    builder.add_int64("Visits", static_cast<std::int64_t>(i));
    builder.add_string("Note", "an ordinary customer");
    builder.add_string("LastName", i % 1000 == 0 ? "Smith" : "Smithson");
    entities.push_back(builder.finish());
  }
  return entities;
}

void judge(benchmark::State& state, const char* text) {
  const Filter filter = *Filter::parse(text);
  const std::vector<std::string> entities = encoded_entities();
  std::size_t i = 0;
  std::size_t matching = 0;
  for (auto _ : state) {
    const format::EntityView view = *format::EntityView::open(entities[i]);
    matching += filter.matches({"partition", "row", 638'000'000'000'000'000, view}) ? 1U : 0U;
    i = i + 1 == kEntities ? 0 : i + 1;
  }
  benchmark::DoNotOptimize(matching);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(judge, one_string, "LastName eq 'Smith'");
BENCHMARK_CAPTURE(judge, one_number, "Age ge 65");
BENCHMARK_CAPTURE(judge, absent_property, "Missing eq 'Smith'");
BENCHMARK_CAPTURE(judge, five_comparisons,
                  "Active and Age ge 30 and Balance lt 4000.0 and (LastName eq 'Smith' or Visits gt 9000L)");

void parse(benchmark::State& state, const char* text) {
  for (auto _ : state) benchmark::DoNotOptimize(Filter::parse(text));
}
BENCHMARK_CAPTURE(parse, point, "PartitionKey eq 'p' and RowKey eq 'r'");
BENCHMARK_CAPTURE(parse, five_comparisons,
                  "Active and Age ge 30 and Balance lt 4000.0 and (LastName eq 'Smith' or Visits gt 9000L)");

void plan_fifty_points(benchmark::State& state) {
  std::string rows = "RowKey eq '0'";
  for (int i = 1; i < 50; ++i) rows += " or RowKey eq '" + std::to_string(i) + "'";
  const Filter filter = *Filter::parse("PartitionKey eq 'p' and (" + rows + ")");
  const std::string begin = format::encode_table(kTable);
  const KeyRange whole{begin, format::end_of_prefix(begin), false};
  for (auto _ : state) benchmark::DoNotOptimize(plan_ranges(filter, kTable, whole));
}
BENCHMARK(plan_fifty_points);

}  // namespace
}  // namespace varve
