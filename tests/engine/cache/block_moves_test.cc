// Goal: the cache's memory stays close to its budget for every sequence of block sizes, and is returned when the budget
// shrinks. Blocks are moved for this without an effect on readers.
// Method: blocks of a file of one size, then of another size, at random. Every found byte is compared.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cache/block_cache.h"
#include "io/posix/large_pages.h"
#include "io/scheduler.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/engine/cache/cache_fill.h"

namespace varve::engine::block_moves_test {
namespace {

constexpr std::uint64_t kBudget = std::uint64_t{8} << 20;  // of one shard
constexpr std::uint64_t kBlocksOfFile = 4'000;             // several times what the cache holds
/// Memory beside blocks: a share of their size, some spans, and the spans that are kept for the next allocation.
constexpr std::uint64_t kBeside = kBudget / 20 + 12 * kSpanBytes;

std::uint32_t size_of_file(std::uint64_t file_id) {
  constexpr std::array<std::uint32_t, 5> kSizes{6'100, 8'500, 4'300, 12'000, 5'000};
  return kSizes[file_id % kSizes.size()];
}

TEST(BlockMoves, BlocksOfAnotherSizeTakeThePlaceOfThoseBefore) {
  io::Scheduler scheduler;
  BlockCache cache(scheduler, kBudget);
  std::mt19937 random(3);
  std::uint64_t most = 0;
  for (std::uint64_t file_id = 1; file_id <= 6; ++file_id) {
    for (int i = 0; i < 12'000; ++i) {
      read_through(cache, {file_id, random() % kBlocksOfFile}, size_of_file(file_id));
      const BlockCacheFigures figures = cache.figures();
      ASSERT_LE(figures.used_bytes, kBudget);
      most = std::max(most, figures.span_bytes);
    }
    cache.check_invariants();
  }
  EXPECT_LE(most, kBudget + kBeside);
  const BlockCacheFigures figures = cache.figures();
  EXPECT_GT(figures.moves, 0U);
  EXPECT_LT(figures.moves, figures.misses);  // fewer than one copy per block read
}

TEST(BlockMoves, AShrunkenCacheGivesItsMemoryBack) {
  io::Scheduler scheduler;
  constexpr std::uint64_t kMuch = std::uint64_t{64} << 20;
  BlockCache cache(scheduler, kMuch);
  std::mt19937 random(5);
  for (int i = 0; i < 60'000; ++i) read_through(cache, {1, random() % 20'000}, 4'300);
  EXPECT_GT(cache.figures().span_bytes, kMuch * 9 / 10);
  cache.set_bytes_max(kMuch / 4);
  cache.check_invariants();
  const BlockCacheFigures figures = cache.figures();
  EXPECT_GT(figures.used_bytes, kMuch / 5);
  // Eight shards.
  EXPECT_LE(figures.span_bytes, kMuch / 4 + kMuch / 80 + 8 * 3 * kSpanBytes + 2 * io::kLargePageBytes);
  for (std::uint64_t i = 0; i < 20'000; ++i) (void)is_found(cache, {1, i});
}

TEST(BlockMoves, AFileThatGoesGivesItsMemoryBackBesideThoseThatStay) {
  io::Scheduler scheduler;
  BlockCache cache(scheduler, kBudget);
  for (std::uint64_t i = 0; i < 1'500; ++i) insert(cache, {1 + i % 3, i}, 4'300);
  cache.erase_file(1);
  cache.erase_file(2);
  cache.check_invariants();
  EXPECT_GT(cache.figures().moves, 0U);
  EXPECT_LE(cache.figures().span_bytes, cache.figures().used_bytes * 17 / 16 + 12 * kSpanBytes);
  for (std::uint64_t i = 0; i < 1'500; ++i) EXPECT_EQ(is_found(cache, {1 + i % 3, i}), i % 3 == 2);
}

TEST(BlockMoves, LinksFollowTheirBlocks) {
  io::Scheduler scheduler;
  BlockCache cache(scheduler, kBudget);
  std::vector<CacheLink> links(500);  // of the file that stays
  for (std::uint64_t i = 0; i < 1'500; ++i) {
    insert(cache, {1 + i % 3, i}, 4'300);
    if (i % 3 == 2) cache.link(3, i, links[i / 3]);
  }
  cache.erase_file(1);
  cache.erase_file(2);
  ASSERT_GT(cache.figures().moves, 0U);
  cache.check_invariants();
  for (std::uint64_t i = 2; i < 1'500; i += 3) {
    const BlockKey key{3, i};
    {
      BlockCache::ReadGuard guard(cache);
      const CachedBlock* const linked = guard.find(links[i / 3]);
      ASSERT_NE(linked, nullptr);
      ASSERT_EQ(linked, guard.find(key.file_id, key.offset)) << "the link points to the block's old place";
      ASSERT_TRUE(is_whole(*linked, key));
    }
    cache.unlink(key.file_id, key.offset, links[i / 3]);
  }
}

/// Readers hold guards and pins while their blocks are moved. The sizes change all the time.
BlockCacheFigures move_beside_readers(io::Scheduler& scheduler, std::uint64_t seed, std::uint64_t thread_count,
                                      std::uint64_t rounds, std::uint64_t steps) {
  BlockCache cache(scheduler, kBudget);
  std::vector<io::Thread> threads;
  for (std::uint64_t number = 0; number < thread_count; ++number) {
    threads.push_back(*scheduler.start("reader", [&, number] {
      std::mt19937_64 random(seed * 100 + number);
      std::vector<std::pair<BlockKey, PinnedBlock>> pins(4);
      for (std::uint64_t step = 0; step < rounds * steps; ++step) {
        const std::uint64_t file_id = 1 + step / steps + random() % 2;
        const BlockKey key{file_id, random() % kBlocksOfFile};
        PinnedBlock under_guard;
        {
          BlockCache::ReadGuard guard(cache);
          const CachedBlock* const found = guard.find(key.file_id, key.offset);
          if (random() % 8 == 0) scheduler.yield();
          if (found != nullptr) {
            ASSERT_TRUE(is_whole(*found, key));
            if (random() % 16 == 0) under_guard = guard.pin(*found);
          }
        }
        if (under_guard) {
          ASSERT_TRUE(is_whole(*under_guard, key));
        }
        PinnedBlock pinned = cache.pin(key.file_id, key.offset);
        if (!pinned) pinned = insert(cache, key, size_of_file(file_id));
        ASSERT_TRUE(is_whole(*pinned, key));
        auto& [held_key, held] = pins[random() % pins.size()];
        if (held) {
          ASSERT_TRUE(is_whole(*held, held_key));
        }
        held_key = key;
        held = std::move(pinned);
      }
      pins.clear();
    }));
  }
  threads.clear();
  cache.check_invariants();
  const BlockCacheFigures figures = cache.figures();
  EXPECT_EQ(figures.pinned_bytes, 0U);
  cache.set_bytes_max(0);
  EXPECT_EQ(cache.figures().slot_bytes, 0U);
  return figures;
}

TEST(BlockMoves, ReadersOnThreadsNoticeNothing) {
  io::Scheduler scheduler;
  const BlockCacheFigures figures = move_beside_readers(scheduler, 1, 4, 4, 4'000);
  EXPECT_GT(figures.moves, 100U);
  EXPECT_LE(figures.span_bytes, kBudget + kBeside + 4 * kSpanBytes);
}

class BlockMovesBySeed : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BlockMovesBySeed, ReadersNoticeNothing) {
  io::ManualClock clock;
  io::SeededScheduler seeded(GetParam(), clock);
  EXPECT_GT(move_beside_readers(seeded.scheduler(), GetParam(), 3, 3, 1'500).moves, 20U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BlockMovesBySeed, testing::Range<std::uint64_t>(1, 5));

}  // namespace
}  // namespace varve::engine::block_moves_test
