// Owns: the cost of the block cache: finding and pinning a hot block, and the churn of a working set that does not fit.
// Method: blocks have 4 KiB. "Hot": all blocks fit, and lookups are random. "Small" is a set whose headers fit the
// processor's caches, "large" is a set whose headers do not. "Churn": every insert evicts a block. Times are per
// thread. If a find scales, two threads show the same time as one.
#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/cache/block_cache.h"
#include "io/scheduler.h"

namespace varve::engine {
namespace {

constexpr std::uint32_t kBlockBytes = 4096;
constexpr std::uint64_t kSmallCache = 1'000;
constexpr std::uint64_t kLargeCache = 100'000;

/// A Xorshift generator, because a better generator costs nearly as much as a find.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) noexcept : state_(seed * 2 + 1) {}
  std::uint64_t below(std::uint64_t bound) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 32) * bound >> 32;
  }

 private:
  std::uint64_t state_;
};

PinnedBlock insert(BlockCache& cache, std::uint64_t file_id, std::uint64_t number) {
  Result<Block> block = cache.allocate(file_id, number * kBlockBytes, kBlockBytes, 1);
  return cache.insert(file_id, number * kBlockBytes, *std::move(block), BlockPriority::kNormal);
}

io::Scheduler bench_scheduler;
std::unique_ptr<BlockCache> shared;
std::uint64_t shared_file_id = 0;

void fill_hot(const benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  shared = std::make_unique<BlockCache>(bench_scheduler, std::uint64_t{1} << 30);
  shared_file_id = shared->next_file_id();
  for (std::uint64_t number = 0; number < count; ++number) (void)insert(*shared, shared_file_id, number);
}

void drop(const benchmark::State&) {
  shared.reset();
}

void check_hits(benchmark::State& state, std::int64_t hits) {
  if (hits != state.iterations()) state.SkipWithError("a block was missing");
  state.SetItemsProcessed(state.iterations());
}

void BM_FindHot(benchmark::State& state) {
  Numbers numbers(static_cast<std::uint64_t>(state.thread_index()) + 1);
  const auto count = static_cast<std::uint64_t>(state.range(0));
  std::int64_t hits = 0;
  for (auto _ : state) {
    BlockCache::ReadGuard guard(*shared);
    if (guard.find(shared_file_id, numbers.below(count) * kBlockBytes) != nullptr) ++hits;
  }
  check_hits(state, hits);
}
BENCHMARK(BM_FindHot)
    ->Setup(fill_hot)
    ->Teardown(drop)
    ->Arg(kSmallCache)
    ->Arg(kLargeCache)
    ->ThreadRange(1, 2)
    ->UseRealTime();

/// Measures the finds of a point read: index partition, filter partition and data block under one guard.
void BM_FindThreeUnderOneGuard(benchmark::State& state) {
  Numbers numbers(static_cast<std::uint64_t>(state.thread_index()) + 1);
  const auto count = static_cast<std::uint64_t>(state.range(0));
  std::int64_t hits = 0;
  for (auto _ : state) {
    BlockCache::ReadGuard guard(*shared);
    bool all = true;
    for (int i = 0; i < 3; ++i) {
      all = guard.find(shared_file_id, numbers.below(count) * kBlockBytes) != nullptr && all;
    }
    if (all) ++hits;
  }
  check_hits(state, hits);
}
BENCHMARK(BM_FindThreeUnderOneGuard)
    ->Setup(fill_hot)
    ->Teardown(drop)
    ->Arg(kSmallCache)
    ->ThreadRange(1, 2)
    ->UseRealTime();

void BM_PinHot(benchmark::State& state) {
  Numbers numbers(static_cast<std::uint64_t>(state.thread_index()) + 1);
  const auto count = static_cast<std::uint64_t>(state.range(0));
  std::int64_t hits = 0;
  for (auto _ : state) {
    if (shared->pin(shared_file_id, numbers.below(count) * kBlockBytes)) ++hits;
  }
  check_hits(state, hits);
}
BENCHMARK(BM_PinHot)->Setup(fill_hot)->Teardown(drop)->Arg(kSmallCache)->ThreadRange(1, 2)->UseRealTime();

void fill_for_churn(const benchmark::State&) {
  shared = std::make_unique<BlockCache>(bench_scheduler, std::uint64_t{64} << 20);
  shared_file_id = shared->next_file_id();
  for (std::uint64_t number = 0; number < 20'000; ++number) (void)insert(*shared, 0, number);
}

/// Measures allocating and inserting a block while another block is evicted and freed.
void BM_InsertChurn(benchmark::State& state) {
  const std::uint64_t file_id = shared->next_file_id();
  std::uint64_t number = 0;
  for (auto _ : state) benchmark::DoNotOptimize(insert(*shared, file_id, number++));
  if (state.thread_index() == 0) state.counters["refused"] = static_cast<double>(shared->figures().refusals);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_InsertChurn)->Setup(fill_for_churn)->Teardown(drop)->ThreadRange(1, 2)->UseRealTime();

/// Measures one thread that inserts and evicts, and another thread that finds blocks that stay.
void BM_FindBesideChurn(benchmark::State& state) {
  constexpr std::uint64_t kHot = 2'000;
  const bool finds = state.thread_index() == 0;
  if (finds) {
    // in the second round the blocks return from the ghost list, or are marked as visited
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t number = 0; number < kHot; ++number) {
        if (!shared->pin(shared_file_id, number * kBlockBytes)) (void)insert(*shared, shared_file_id, number);
      }
    }
  }
  Numbers numbers(1);
  const std::uint64_t file_id = shared->next_file_id();
  std::uint64_t number = 0;
  std::uint64_t hits = 0;
  for (auto _ : state) {
    if (finds) {
      BlockCache::ReadGuard guard(*shared);
      if (guard.find(shared_file_id, numbers.below(kHot) * kBlockBytes) != nullptr) ++hits;
    } else {
      benchmark::DoNotOptimize(insert(*shared, file_id, number++));
    }
  }
  if (finds) {
    state.counters["hit_share"] = static_cast<double>(hits) / static_cast<double>(state.iterations());
  } else {
    state.counters["refused"] = static_cast<double>(shared->figures().refusals);
  }
}
BENCHMARK(BM_FindBesideChurn)->Setup(fill_for_churn)->Teardown(drop)->Threads(2)->UseRealTime();

/// Measures removing a file of 100 blocks from a cache of 100,000.
void BM_EraseFile(benchmark::State& state) {
  constexpr std::uint64_t kBlocksOfFile = 100;
  for (auto _ : state) {
    state.PauseTiming();
    const std::uint64_t file_id = shared->next_file_id();
    for (std::uint64_t number = 0; number < kBlocksOfFile; ++number) (void)insert(*shared, file_id, number);
    state.ResumeTiming();
    shared->erase_file(file_id);
  }
}
BENCHMARK(BM_EraseFile)->Setup(fill_hot)->Teardown(drop)->Arg(kLargeCache);

}  // namespace
}  // namespace varve::engine
