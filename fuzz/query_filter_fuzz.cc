// Owns: the fuzzer of `$filter`.
// Must never: let a filter match an entity whose key its plan excludes. Must never let the plan's remaining condition
// differ from the filter for a key within the plan. Must never let the extended grammar refuse a filter of the table
// service, or take another filter for one.
//
// Input: a filter.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/filter/filter.h"
#include "api/filter/key_plan.h"
#include "format/keys/sort_key.h"
#include "fuzz/mutation.h"

namespace varve {
namespace {

constexpr format::TableId kTable = format::make_table_id(1, 1);

bool is_planned(const std::vector<KeyRange>& ranges, const std::string& key) {
  for (const KeyRange& range : ranges) {
    if (range.lower <= key && key < range.upper) return true;
  }
  return false;
}

void check(std::string_view text) {
  const Result<Filter> filter = Filter::parse(text);
  const bool is_of_service = Filter::parse(text, FilterGrammar::kService).ok();
  if (is_of_service != (filter.ok() && !filter->is_extended())) std::abort();
  if (!filter.ok()) return;
  const std::string begin = format::encode_table(kTable);
  const KeyPlan plan = plan_keys(*filter, kTable, {begin, format::end_of_prefix(begin), false});
  const std::vector<KeyRange>& ranges = plan.ranges;
  const Result<Filter> again = Filter::parse(plan.residual.text());
  if (!again.ok()) std::abort();
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].lower < ranges[i - 1].upper) std::abort();
  }
  format::EntityBuilder builder;
  builder.add_int32("A", 3);
  builder.add_string("B", "x");
  const std::string properties = builder.finish();
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(properties);
  if (!view.ok()) std::abort();
  for (const std::string_view partition : {"", "a", "p", "z"}) {
    for (const std::string_view row : {"", "a", "r", "z"}) {
      const FilterSubject subject{partition, row, 638'000'000'000'000'000, *view};
      const bool matches = filter->matches(subject);
      if (is_planned(ranges, *format::encode_sort_key(kTable, partition, row))) {
        if (plan.residual.matches(subject) != matches || again->matches(subject) != matches) std::abort();
      } else if (matches) {
        std::abort();
      }
    }
  }
}

}  // namespace
}  // namespace varve

/// Words of such texts.
constexpr std::string_view kWords[] = {"PartitionKey",
                                       "RowKey",
                                       "Timestamp",
                                       "A",
                                       " eq ",
                                       " ne ",
                                       " lt ",
                                       " le ",
                                       " gt ",
                                       " ge ",
                                       " and ",
                                       " or ",
                                       "not ",
                                       "(",
                                       ")",
                                       "'a'",
                                       "'p'",
                                       "''",
                                       "'\\xee\\xbf\\xbf'",
                                       "true",
                                       "false",
                                       "5",
                                       "7L",
                                       "-1.5e3",
                                       "2D",
                                       "9223372036854775807L",
                                       "datetime'2026-03-03T11:20:30Z'",
                                       "guid'0f1e2d3c-0000-4000-8000-00000000abcd'",
                                       "X'0aff'",
                                       "binary'00'",
                                       "B",
                                       ",",
                                       " in (",
                                       "startswith(",
                                       "endswith(",
                                       "contains(",
                                       "equals_ignoring_case(",
                                       "exists(",
                                       "NaN",
                                       "INF"};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  varve::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_words(kWords, data, size, size_max, seed);
}
