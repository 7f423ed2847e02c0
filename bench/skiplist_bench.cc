// Owns: the cost of the memtable: single and batched inserts, lookups that hit and miss, scans.
//
// Keys are entities of partitions of 100 rows. Values have 100 bytes. The argument is the number of entries in the
// memtable. A million entries have about 170 MB, far more than a processor's caches.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/memory/memtable.h"
#include "engine/memory/memtable_cursor.h"
#include "engine/read/cursor.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"

namespace varve::engine {
namespace {

constexpr std::size_t kRowsPerPartition = 100;
constexpr std::size_t kValueBytes = 100;
constexpr CommitVersion kFirstVersion = 639'000'000'000'000'000;
constexpr std::int64_t kSmall = 10'000;
constexpr std::int64_t kLarge = 1'000'000;

std::string key_of(std::size_t number, const char* end = "") {
  std::array<char, 32> partition;
  std::array<char, 32> row;
  std::snprintf(partition.data(), partition.size(), "partition-%06zu", number / kRowsPerPartition);
  std::snprintf(row.data(), row.size(), "row-%04zu%s", number % kRowsPerPartition, end);
  return *format::encode_sort_key(format::make_table_id(1, 1), partition.data(), row.data());
}

std::vector<std::size_t> shuffled(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(1));
  return numbers;
}

std::vector<std::size_t> ascending(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

/// Returns one batch for each number, each with `rows` consecutive rows.
std::vector<std::string> batches_of(const std::vector<std::size_t>& numbers, std::size_t rows) {
  const std::string value(kValueBytes, 'v');
  std::vector<std::string> batches;
  batches.reserve(numbers.size());
  format::BatchBuilder builder;
  for (const std::size_t number : numbers) {
    for (std::size_t row = 0; row < rows; ++row) builder.put(key_of(number * rows + row), value);
    batches.push_back(builder.finish());
  }
  return batches;
}

void insert_one(Memtable& memtable, const std::string& batch, CommitVersion version) {
  const Result<MemtableDemand> demand = Memtable::demand_of(batch);
  const Result<Memtable::Reservation> reservation = memtable.reserve(*demand);
  memtable.insert(*reservation, batch, version);
}

/// Inserts batch after batch. After the last batch it continues with a new memtable.
void insert_all(benchmark::State& state, const std::vector<std::string>& batches, std::size_t rows) {
  auto memtable = std::make_unique<Memtable>();
  std::size_t next = 0;
  for (auto _ : state) {
    if (next == batches.size()) {
      state.PauseTiming();
      memtable = std::make_unique<Memtable>();
      next = 0;
      state.ResumeTiming();
    }
    insert_one(*memtable, batches[next], kFirstVersion + next);
    ++next;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

void BM_InsertSequential(benchmark::State& state) {
  insert_all(state, batches_of(ascending(static_cast<std::size_t>(state.range(0))), 1), 1);
}
BENCHMARK(BM_InsertSequential)->Arg(kLarge);

void BM_InsertRandom(benchmark::State& state) {
  insert_all(state, batches_of(shuffled(static_cast<std::size_t>(state.range(0))), 1), 1);
}
BENCHMARK(BM_InsertRandom)->Arg(kSmall)->Arg(kLarge);

void BM_InsertSortedBatchOf100(benchmark::State& state) {
  const std::size_t partitions = static_cast<std::size_t>(state.range(0)) / kRowsPerPartition;
  insert_all(state, batches_of(shuffled(partitions), kRowsPerPartition), kRowsPerPartition);
}
BENCHMARK(BM_InsertSortedBatchOf100)->Arg(kSmall)->Arg(kLarge);

/// Returns a memtable of `count` entries. It is kept for the next measurement.
const Memtable& filled(std::size_t count) {
  static std::unique_ptr<Memtable> memtable;
  if (memtable != nullptr && memtable->entry_count() == count) return *memtable;
  memtable = std::make_unique<Memtable>();
  CommitVersion version = kFirstVersion;
  for (const std::string& batch : batches_of(shuffled(count), 1)) insert_one(*memtable, batch, version++);
  return *memtable;
}

void find_all(benchmark::State& state, const char* end) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Memtable& memtable = filled(count);
  std::vector<std::string> keys;
  std::vector<std::size_t> numbers = shuffled(count);
  // so that the order is not that of insertion, which is the order in memory
  std::reverse(numbers.begin(), numbers.end());
  for (const std::size_t number : numbers) keys.push_back(key_of(number, end));
  std::size_t next = 0;
  std::int64_t hits = 0;
  for (auto _ : state) {
    if (memtable.find(keys[next], format::kCommitVersionMax).has_value()) ++hits;
    if (++next == keys.size()) next = 0;
  }
  if (hits != (*end == '\0' ? state.iterations() : 0)) state.SkipWithError("a lookup went wrong");
  state.SetItemsProcessed(state.iterations());
}

void BM_FindHit(benchmark::State& state) {
  find_all(state, "");
}
BENCHMARK(BM_FindHit)->Arg(kSmall)->Arg(kLarge);

void BM_FindMiss(benchmark::State& state) {
  find_all(state, "x");
}
BENCHMARK(BM_FindMiss)->Arg(kSmall)->Arg(kLarge);

void BM_ScanForward(benchmark::State& state) {
  const Memtable& memtable = filled(static_cast<std::size_t>(state.range(0)));
  Cursor cursor(ReadStates::Pin(), std::make_unique<MemtableCursor>(memtable), "", "", format::kCommitVersionMax);
  for (auto _ : state) {
    if (cursor.valid()) {
      cursor.next();
    } else {
      cursor.seek_to_first();
    }
    benchmark::DoNotOptimize(cursor.value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ScanForward)->Arg(kSmall)->Arg(kLarge);

void BM_ScanBackward(benchmark::State& state) {
  const Memtable& memtable = filled(static_cast<std::size_t>(state.range(0)));
  Cursor cursor(ReadStates::Pin(), std::make_unique<MemtableCursor>(memtable), "", "", format::kCommitVersionMax);
  for (auto _ : state) {
    if (cursor.valid()) {
      cursor.previous();
    } else {
      cursor.seek_to_last();
    }
    benchmark::DoNotOptimize(cursor.value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ScanBackward)->Arg(kSmall)->Arg(kLarge);

/// Measures a page of 100 entities at a random place: one search and a short scan.
void BM_ScanPage(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Memtable& memtable = filled(count);
  std::vector<std::string> starts;
  for (const std::size_t number : shuffled(count / kRowsPerPartition)) {
    starts.push_back(key_of(number * kRowsPerPartition));
  }
  std::size_t next = 0;
  for (auto _ : state) {
    Cursor cursor(ReadStates::Pin(), std::make_unique<MemtableCursor>(memtable), starts[next], "",
                  format::kCommitVersionMax);
    cursor.seek_to_first();
    for (std::size_t row = 0; row < kRowsPerPartition && cursor.valid(); ++row) {
      benchmark::DoNotOptimize(cursor.value());
      cursor.next();
    }
    if (++next == starts.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRowsPerPartition));
}
BENCHMARK(BM_ScanPage)->Arg(kLarge);

}  // namespace
}  // namespace varve::engine
