// Owns: the cost of a `$filter`: parsing it, planning it, and evaluating it for entities. Also the cost of scans per
// entity, forward and backward.
// Method: ten thousand encoded entities have ten properties. The filter's property is among the last, and one entity in
// a thousand matches. Scans read a hundred thousand entities of 120 bytes from tables. The cache holds all of them or
// none, and a tenth of them is in the memtable as well. Forward and backward scans are measured side by side. Fifty
// keys are read in four ways: by one filter that names them, by fifty gets, by one get of many keys, and by a filter
// without keys.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "api/filter/filter.h"
#include "api/filter/key_plan.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "varve/store.h"

namespace varve {
namespace {

constexpr format::TableId kQueryTable = format::make_table_id(1, 7);
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
    const format::EncodedEntity view = *format::EncodedEntity::open(entities[i]);
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
  const std::string begin = format::encode_table(kQueryTable);
  const KeyRange whole{begin, format::end_of_prefix(begin), false};
  for (auto _ : state) benchmark::DoNotOptimize(plan_keys(filter, kQueryTable, whole));
}
BENCHMARK(plan_fifty_points);

/// A store in a directory of its own, which is removed at the end.
class ScannedStore {
 public:
  explicit ScannedStore(std::uint64_t cache_bytes) {
    const char* chosen = std::getenv("VARVE_BENCH_DIRECTORY");
    path_ = (chosen != nullptr ? std::filesystem::path(chosen) : std::filesystem::temp_directory_path()) /
            ("varve-scan-bench-" + std::to_string(std::random_device{}()));
    ResourceOptions memory;
    memory.block_cache_bytes = cache_bytes;
    StoreOptions options;
    options.create_if_absent = true;
    options.default_durability = Durability::kBuffered;
    options.resources = *Resources::create(memory);
    store_ = *Store::open(path_.string(), options);
    if (!store_->create_account("bench").ok()) std::abort();
    table_.emplace(*store_->create_table("bench", "Rows"));
    write(1);
    if (!store_->compact().ok()) std::abort();
    write(10);
  }
  ~ScannedStore() {
    table_.reset();
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// Scans everything page by page. Returns the number of entities.
  std::int64_t scan(bool backward) const {
    Scan scan;
    scan.backward = backward;
    scan.filter = "not (N ge 0)";  // decodes nothing and skips nothing, since no statistics can exclude an entity
    std::int64_t examined = 0;
    for (;;) {
      const Result<Page> page = table_->scan(scan);
      if (!page.ok()) std::abort();
      examined += static_cast<std::int64_t>(page->cost.entities_examined);
      if (!page->continuation) return examined;
      scan.continuation = *page->continuation;
    }
  }

  static std::string key(int number) { return std::to_string(1'000'000 + number); }
  const Table& table() const { return *table_; }
  static constexpr int kScanned = 100'000;

 private:
  static constexpr int kOfATransaction = 100;

  void write(int every) {
    for (int i = 0; i < kScanned; i += kOfATransaction * every) {
      EntityGroupTransaction transaction;
      for (int j = 0; j < kOfATransaction; ++j) {
        transaction.insert_or_replace(Entity("p", key(i + j)).set("N", j).set("Text", std::string(80, 'x')));
      }
      if (!table_->execute(transaction).ok()) std::abort();
    }
  }

  std::filesystem::path path_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
};

void scan(benchmark::State& state, std::uint64_t cache_bytes, bool backward) {
  const ScannedStore store(cache_bytes);
  std::int64_t entities = store.scan(backward);  // fills the cache
  entities = 0;
  for (auto _ : state) entities += store.scan(backward);
  state.SetItemsProcessed(entities);
}
BENCHMARK_CAPTURE(scan, forward_cached, std::uint64_t{256} << 20, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scan, backward_cached, std::uint64_t{256} << 20, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scan, forward_cold, std::uint64_t{0}, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(scan, backward_cold, std::uint64_t{0}, true)->Unit(benchmark::kMillisecond)->UseRealTime();

constexpr int kWanted = 50;

/// Returns keys from the whole partition that are not also in the memtable.
std::vector<EntityKey> wanted_keys() {
  std::vector<EntityKey> keys;
  for (int i = 0; i < kWanted; ++i)
    keys.push_back({"p", ScannedStore::key(i * (ScannedStore::kScanned / kWanted) + 507)});
  return keys;
}

void fifty_by_filter(benchmark::State& state, std::uint64_t cache_bytes) {
  const ScannedStore store(cache_bytes);
  Scan scan;
  for (const EntityKey& key : wanted_keys()) {
    scan.filter +=
        (scan.filter.empty() ? "PartitionKey eq 'p' and (RowKey eq '" : " or RowKey eq '") + key.row_key + "'";
  }
  scan.filter += ")";
  for (auto _ : state) {
    const Result<Page> page = store.table().scan(scan);
    if (!page.ok() || page->entities.size() != kWanted) std::abort();
  }
}

void fifty_by_gets(benchmark::State& state, std::uint64_t cache_bytes) {
  const ScannedStore store(cache_bytes);
  const std::vector<EntityKey> keys = wanted_keys();
  for (auto _ : state) {
    for (const EntityKey& key : keys) {
      if (!(*store.table().get(key.partition_key, key.row_key)).has_value()) std::abort();
    }
  }
}

void fifty_by_get_many(benchmark::State& state, std::uint64_t cache_bytes) {
  const ScannedStore store(cache_bytes);
  const std::vector<EntityKey> keys = wanted_keys();
  for (auto _ : state) {
    if (!(*store.table().get_many(keys)).back().has_value()) std::abort();
  }
}

void fifty_by_scan(benchmark::State& state, std::uint64_t cache_bytes) {
  const ScannedStore store(cache_bytes);
  for (auto _ : state) benchmark::DoNotOptimize(store.scan(false));
}
BENCHMARK_CAPTURE(fifty_by_filter, cached, std::uint64_t{256} << 20)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(fifty_by_gets, cached, std::uint64_t{256} << 20)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(fifty_by_get_many, cached, std::uint64_t{256} << 20)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(fifty_by_scan, cached, std::uint64_t{256} << 20)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(fifty_by_filter, cold, std::uint64_t{0})->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(fifty_by_gets, cold, std::uint64_t{0})->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(fifty_by_get_many, cold, std::uint64_t{0})->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace varve
