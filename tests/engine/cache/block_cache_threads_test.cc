// Owns: the promises of the block cache (engine/cache/block_cache.h) to many threads: C1 to C3 during concurrent
// changes.
// Method: a cache far too small for the reads, so that blocks are evicted while they are read. Every byte is compared.
// Freed memory is overwritten first. The test runs once on real threads, which the thread sanitizer checks. It also
// runs one thread at a time by seed, with a switch under the guard at any moment.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cache/block_cache.h"
#include "io/scheduler.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/engine/cache/cache_fill.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"

namespace varve::engine::block_cache_threads_test {
namespace {

constexpr std::uint64_t kBudget = 256 << 10;
constexpr std::uint64_t kFiles = 4;
constexpr std::uint64_t kBlocksPerFile = 60;
constexpr std::uint64_t kPinsMax = 4;  // of a thread

/// The links of all blocks of file 1, which all threads share.
class SharedLinks {
 public:
  explicit SharedLinks(BlockCache& cache) : cache_(cache) {}
  ~SharedLinks() {
    for (std::uint64_t i = 0; i < links_.size(); ++i) cache_.unlink(kFile, i * kBytesBetween, links_[i]);
  }
  static constexpr std::uint64_t kFile = 1;
  static constexpr std::uint64_t kBytesBetween = 512;

  /// Returns null if blocks of this file have no links.
  CacheLink* of(BlockKey key) { return key.file_id == kFile ? &links_[key.offset / kBytesBetween] : nullptr; }

 private:
  BlockCache& cache_;
  std::array<CacheLink, kBlocksPerFile> links_;
};

/// The operations of one thread, by its own seed.
class Worker {
 public:
  Worker(BlockCache& cache, io::Scheduler& scheduler, SharedLinks& links, std::uint64_t seed)
      : cache_(cache), scheduler_(scheduler), links_(links), random_(seed) {}

  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) step();
    pins_.clear();
  }

 private:
  static std::uint32_t size_of(BlockKey key) { return static_cast<std::uint32_t>(word_at(key, 1) % 6'000); }

  /// Returns a key. Half of the reads use a tenth of the blocks.
  BlockKey some_key() {
    const std::uint64_t bound = random_() % 2 == 0 ? kBlocksPerFile / 10 : kBlocksPerFile;
    return {1 + random_() % kFiles, random_() % bound * SharedLinks::kBytesBetween};
  }

  void look_under_a_guard() {
    std::vector<BlockKey> missing;
    {
      BlockCache::ReadGuard guard(cache_);
      for (int i = 0; i < 3; ++i) {
        const BlockKey key = some_key();
        CacheLink* const link = links_.of(key);
        const CachedBlock* block = link == nullptr ? nullptr : guard.find(*link);
        if (block == nullptr) block = guard.find(key.file_id, key.offset);
        if (block == nullptr) {
          missing.push_back(key);
          continue;
        }
        scheduler_.yield();
        ASSERT_TRUE(is_whole(*block, key));
        if (random_() % 8 != 0) continue;
        PinnedBlock pinned = guard.pin(*block);
        if (pinned) pins_.push_back({key, std::move(pinned)});
      }
    }
    for (const BlockKey key : missing) {
      const BlockPriority priority = key.file_id == 1 ? BlockPriority::kHigh : BlockPriority::kNormal;
      PinnedBlock pinned = insert(cache_, key, size_of(key), priority);
      ASSERT_TRUE(is_whole(*pinned, key));
      if (random_() % 4 == 0) pins_.push_back({key, std::move(pinned)});
    }
  }

  void let_some_go() {
    while (pins_.size() > kPinsMax || (!pins_.empty() && random_() % 4 == 0)) {
      std::swap(pins_[random_() % pins_.size()], pins_.back());
      ASSERT_TRUE(is_whole(*pins_.back().block, pins_.back().key));
      pins_.pop_back();
    }
  }

  void step() {
    ASSERT_NO_FATAL_FAILURE(look_under_a_guard());
    const BlockKey key = some_key();
    PinnedBlock pinned = cache_.pin(key.file_id, key.offset);
    if (pinned) {
      scheduler_.yield();
      ASSERT_TRUE(is_whole(*pinned, key));
    }
    ASSERT_NO_FATAL_FAILURE(let_some_go());
    if (CacheLink* const link = links_.of(key); link != nullptr) {
      if (random_() % 16 == 0) cache_.unlink(key.file_id, key.offset, *link);
      cache_.link(key.file_id, key.offset, *link);
    }
    if (random_() % 64 == 0) cache_.erase_file(1 + random_() % kFiles);
    if (random_() % 128 == 0) cache_.set_bytes_max(random_() % 8 == 0 ? 0 : kBudget / 4 + random_() % kBudget);
    if (random_() % 64 == 0) {
      ASSERT_LE(cache_.figures().block_count, kFiles * kBlocksPerFile);
    }
  }

  struct Pin {
    BlockKey key;
    PinnedBlock block;
  };

  BlockCache& cache_;
  io::Scheduler& scheduler_;
  SharedLinks& links_;
  std::mt19937_64 random_;
  std::vector<Pin> pins_;
};

/// Returns the figures of the run, so that the caller can check whether enough happened.
BlockCacheFigures run_workers(io::Scheduler& scheduler, std::uint64_t seed, std::uint64_t worker_count,
                              std::uint64_t steps) {
  const std::uint64_t held_before = test::aligned_bytes_held();
  BlockCacheFigures figures;
  {
    BlockCache cache(scheduler, kBudget);
    SharedLinks links(cache);
    std::vector<io::Thread> threads;
    for (std::uint64_t i = 0; i < worker_count; ++i) {
      threads.push_back(*scheduler.start("worker", [&cache, &scheduler, &links, steps, worker_seed = seed * 100 + i] {
        Worker(cache, scheduler, links, worker_seed).run(steps);
      }));
    }
    threads.clear();
    cache.check_invariants();
    figures = cache.figures();
    // Memory that the last thread released while another one read is freed by the next operation.
    EXPECT_EQ(figures.used_bytes + figures.pinned_bytes, test::aligned_bytes_held() - held_before + figures.slot_bytes);
    cache.set_bytes_max(0);
    EXPECT_EQ(cache.figures().used_bytes, 0U);
    EXPECT_EQ(cache.figures().pinned_bytes, 0U);
  }
  EXPECT_EQ(test::aligned_bytes_held(), held_before);
  return figures;
}

class BlockCacheThreadsBySeed : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BlockCacheThreadsBySeed, EveryBlockIsWholeWhileItIsLookedAt) {
  SCOPED_TRACE(GetParam());
  io::Scheduler scheduler;
  const BlockCacheFigures figures = run_workers(scheduler, GetParam(), 4, 4'000);
  EXPECT_GT(figures.hits, 4'000U);
  EXPECT_GT(figures.evictions, 4'000U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BlockCacheThreadsBySeed, testing::Range<std::uint64_t>(1, 4));

TEST(BlockCacheSchedules, EveryBlockIsWholeWhileItIsLookedAt) {
  std::uint64_t hits = 0;
  std::uint64_t evictions = 0;
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(40); ++seed) {
    SCOPED_TRACE(seed);
    std::array<std::uint64_t, 2> hashes{};
    for (std::uint64_t& hash : hashes) {
      io::ManualClock clock;
      io::SeededScheduler seeded(seed, clock);
      const BlockCacheFigures figures = run_workers(seeded.scheduler(), seed, 3, 150);
      hits += figures.hits;
      evictions += figures.evictions;
      hash = seeded.trace_hash();
    }
    ASSERT_EQ(hashes[0], hashes[1]);  // only the seed decides, and no address
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(hits, test::effort(10'000U));
  EXPECT_GT(evictions, test::effort(10'000U));
}

// The budget holds at every observable moment, even while guards retain evicted blocks.
TEST(BlockCacheSchedules, TheBudgetHoldsWhileGuardsLast) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler seeded(seed, clock);
    io::Scheduler& scheduler = seeded.scheduler();
    const std::uint64_t held_before = test::aligned_bytes_held();
    BlockCache cache(scheduler, kBudget);
    std::atomic<int> inserting{2};
    std::vector<io::Thread> threads;
    for (std::uint64_t writer = 0; writer < 2; ++writer) {
      threads.push_back(*scheduler.start("writer", [&, writer] {
        for (std::uint64_t i = 0; i < 150; ++i) {
          insert(cache, {1 + writer, i}, 4'000);
          EXPECT_LE(cache.figures().used_bytes, kBudget);
        }
        inserting.fetch_sub(1);
      }));
    }
    threads.push_back(*scheduler.start("reader", [&] {
      for (std::uint64_t round = 0; inserting.load() > 0; ++round) {
        BlockCache::ReadGuard guard(cache);
        const BlockKey key{1 + round % 2, round % 150};
        const CachedBlock* const block = guard.find(key.file_id, key.offset);
        for (int i = 0; i < 10; ++i) scheduler.yield();
        if (block != nullptr) {
          EXPECT_TRUE(is_whole(*block, key));
        }
        EXPECT_LE(cache.figures().used_bytes, kBudget);
      }
    }));
    threads.clear();
    const BlockCacheFigures figures = cache.figures();
    EXPECT_EQ(figures.used_bytes + figures.pinned_bytes, test::aligned_bytes_held() - held_before + figures.slot_bytes);
    cache.check_invariants();
  }
}

TEST(BlockCacheSchedules, ShrinkingWaitsForTheGuardThatIsOpen) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler seeded(seed, clock);
    io::Scheduler& scheduler = seeded.scheduler();
    BlockCache cache(scheduler, kBudget);
    insert(cache, {1, 1}, 4'000);
    std::atomic<bool> is_open{false};
    std::atomic<bool> is_closed{false};
    io::Thread reader = *scheduler.start("reader", [&] {
      {
        BlockCache::ReadGuard guard(cache);
        const CachedBlock* const block = guard.find(1, 1);
        is_open.store(true);
        for (int i = 0; i < 100; ++i) scheduler.yield();
        EXPECT_TRUE(is_whole(*block, {1, 1}));
        is_closed.store(true);
      }
      scheduler.yield();
    });
    while (!is_open.load()) scheduler.yield();
    cache.set_bytes_max(0);
    EXPECT_TRUE(is_closed.load());
    EXPECT_EQ(cache.figures().used_bytes, 0U);
    reader.join();
  }
}

TEST(BlockCacheSchedules, OfManyWhoReadOneBlockAtOnceAllGetTheSame) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler seeded(seed, clock);
    io::Scheduler& scheduler = seeded.scheduler();
    BlockCache cache(scheduler, kBudget);
    std::vector<PinnedBlock> pins(4);
    std::vector<io::Thread> threads;
    for (PinnedBlock& pin : pins) {
      threads.push_back(*scheduler.start("reader", [&] {
        if (is_found(cache, {1, 1})) {
          pin = cache.pin(1, 1);
          return;
        }
        Block block = block_for(cache, {1, 1}, 4'000);
        scheduler.yield();  // simulates the read of the device
        pin = cache.insert(1, 1, std::move(block), BlockPriority::kNormal);
      }));
    }
    threads.clear();
    for (const PinnedBlock& pin : pins) {
      ASSERT_TRUE(pin);
      EXPECT_EQ(&*pin, &*pins.front());
    }
    EXPECT_EQ(cache.figures().block_count, 1U);
  }
}

}  // namespace
}  // namespace varve::engine::block_cache_threads_test
