// Owns: the promises of the block cache (engine/cache/block_cache.h) to one thread: C1 to C3, and the meaning of the
// budget.

#include "engine/cache/block_cache.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/scheduler.h"
#include "tests/engine/cache/cache_fill.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"

namespace varve::engine::block_cache_test {
namespace {

constexpr std::uint64_t kBudget = 1 << 20;
constexpr std::uint32_t kBlockBytes = 4000;
constexpr std::uint64_t kBlockMemoryBytes = taken_bytes_for(kBlockBytes + CachedBlock::kHeaderBytes);

class BlockCacheTest : public testing::Test {
 protected:
  ~BlockCacheTest() override { cache_.reset(); }

  void make(std::uint64_t bytes_max) {
    cache_.reset();
    held_before_ = test::aligned_bytes_held();
    cache_.emplace(scheduler_, bytes_max);
  }

  /// Checks C2 to the byte, while the test owns no block of its own.
  void expect_exact() {
    const BlockCacheFigures figures = cache_->figures();
    EXPECT_EQ(figures.used_bytes + figures.pinned_bytes,
              test::aligned_bytes_held() - held_before_ + figures.slot_bytes);
    EXPECT_LE(figures.used_bytes, figures.bytes_max);
    cache_->check_invariants();
  }

  /// Inserts blocks of another file until all unprotected blocks are evicted.
  void flush_out() {
    const std::uint64_t file_id = 1'000'000;  // of no other test
    for (std::uint64_t i = 0; i < 4 * kBudget / kBlockBytes; ++i) insert(*cache_, {file_id, i}, kBlockBytes);
  }

  io::Scheduler scheduler_;
  std::uint64_t held_before_ = 0;
  std::optional<BlockCache> cache_;
};

TEST_F(BlockCacheTest, FindsWhatWasInsertedUnderItsNameAlone) {
  make(kBudget);
  const std::uint64_t file_id = cache_->next_file_id();
  const std::uint64_t other = cache_->next_file_id();
  EXPECT_NE(file_id, 0U);
  EXPECT_NE(file_id, other);
  EXPECT_FALSE(is_found(*cache_, {file_id, 64}));
  EXPECT_TRUE(is_whole(*insert(*cache_, {file_id, 64}, 100), {file_id, 64}));
  EXPECT_TRUE(is_found(*cache_, {file_id, 64}));
  EXPECT_FALSE(is_found(*cache_, {file_id, 65}));
  EXPECT_FALSE(is_found(*cache_, {other, 64}));
  EXPECT_TRUE(is_whole(*cache_->pin(file_id, 64), {file_id, 64}));
  EXPECT_FALSE(cache_->pin(other, 64));
  expect_exact();
}

TEST_F(BlockCacheTest, WhatALongWalkComesByEntersWhereThereIsRoomOrWhenItComesAgain) {
  make(kBudget);
  EXPECT_FALSE(read_through(*cache_, {1, 1}, kBlockBytes, BlockPriority::kPassing));
  EXPECT_TRUE(is_found(*cache_, {1, 1}));
  flush_out();
  const BlockCacheFigures before = cache_->figures();
  EXPECT_FALSE(read_through(*cache_, {2, 1}, kBlockBytes, BlockPriority::kPassing));
  EXPECT_FALSE(is_found(*cache_, {2, 1}));
  EXPECT_EQ(cache_->figures().evictions, before.evictions);
  EXPECT_EQ(cache_->figures().refusals, before.refusals + 1);
  EXPECT_FALSE(read_through(*cache_, {2, 1}, kBlockBytes, BlockPriority::kPassing));
  EXPECT_TRUE(is_found(*cache_, {2, 1}));
  flush_out();
  EXPECT_TRUE(is_found(*cache_, {2, 1}));  // It is in the main queue.
  expect_exact();
}

TEST_F(BlockCacheTest, WhatSucceedsCachedBlocksOutlivesWhatIsReadOnce) {
  make(kBudget);
  flush_out();
  EXPECT_FALSE(read_through(*cache_, {3, 1}, kBlockBytes, BlockPriority::kSuccessor));
  EXPECT_FALSE(read_through(*cache_, {3, 2}, kBlockBytes, BlockPriority::kNormal));
  flush_out();
  EXPECT_TRUE(is_found(*cache_, {3, 1}));
  EXPECT_FALSE(is_found(*cache_, {3, 2}));
  expect_exact();
}

TEST_F(BlockCacheTest, CountsHitsMissesEvictionsAndRefusals) {
  make(kBudget);
  EXPECT_FALSE(read_through(*cache_, {1, 1}, 100));
  EXPECT_TRUE(read_through(*cache_, {1, 1}, 100));
  EXPECT_TRUE(cache_->pin(1, 1));
  EXPECT_FALSE(cache_->pin(1, 2));
  insert(*cache_, {1, 3}, kBudget);
  const BlockCacheFigures figures = cache_->figures();
  EXPECT_EQ(figures.hits, 2U);
  EXPECT_EQ(figures.misses, 2U);
  EXPECT_EQ(figures.evictions, 0U);
  EXPECT_EQ(figures.refusals, 1U);
  EXPECT_EQ(figures.block_count, 1U);
  flush_out();
  EXPECT_GT(cache_->figures().evictions, 3 * kBudget / kBlockBytes);
  EXPECT_EQ(cache_->figures().refusals, 1U);
}

TEST_F(BlockCacheTest, TheFirstOfTwoEqualInsertsStays) {
  make(kBudget);
  const PinnedBlock first = insert(*cache_, {1, 1}, 100);
  const PinnedBlock second = insert(*cache_, {1, 1}, 100);
  EXPECT_EQ(&*first, &*second);
  EXPECT_EQ(cache_->figures().block_count, 1U);
  expect_exact();
}

TEST_F(BlockCacheTest, ContentIsAlignedToACacheLineAndMayBeEmpty) {
  make(kBudget);
  for (const std::uint32_t size : {0U, 1U, 63U, 64U, 4096U}) {
    const PinnedBlock pinned = insert(*cache_, {1, size}, size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pinned->content().data()) % 64, 0U);
    EXPECT_EQ(pinned->content().size(), size);
    EXPECT_GE(pinned->memory_bytes(), size + 64U);
    EXPECT_LE(pinned->memory_bytes(), (size + 64U) * 21 / 20);
    EXPECT_TRUE(is_found(*cache_, {1, size}));
  }
  expect_exact();
}

TEST_F(BlockCacheTest, NeverHoldsMoreThanItsBudgetAndFillsIt) {
  make(kBudget);
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    insert(*cache_, {1, i}, static_cast<std::uint32_t>(i * 7919 % 9'000));
    const BlockCacheFigures figures = cache_->figures();
    ASSERT_LE(figures.used_bytes, kBudget);
    ASSERT_EQ(figures.used_bytes + figures.pinned_bytes,
              test::aligned_bytes_held() - held_before_ + figures.slot_bytes);
    if (figures.evictions > 0) {
      ASSERT_GT(figures.used_bytes, kBudget - 40'000);
    }
  }
  EXPECT_GT(cache_->figures().evictions, 2'000U);
  expect_exact();
}

TEST_F(BlockCacheTest, WithABudgetOfZeroItHandsBlocksThrough) {
  make(0);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const PinnedBlock pinned = insert(*cache_, {1, i}, kBlockBytes);
    EXPECT_TRUE(is_whole(*pinned, {1, i}));
    EXPECT_EQ(cache_->figures().pinned_bytes, kBlockMemoryBytes);
    EXPECT_FALSE(is_found(*cache_, {1, i}));
  }
  EXPECT_EQ(cache_->figures().used_bytes, 0U);
  EXPECT_EQ(cache_->figures().pinned_bytes, 0U);
  EXPECT_EQ(cache_->figures().refusals, 10U);
  expect_exact();
}

TEST_F(BlockCacheTest, ABudgetTooSmallForAnythingHoldsNothing) {
  for (std::uint64_t bytes_max = 1; bytes_max < 600; ++bytes_max) {
    make(bytes_max);
    for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(is_whole(*insert(*cache_, {1, i}, 100), {1, i}));
    expect_exact();
  }
  EXPECT_GT(cache_->figures().block_count, 0U);
}

TEST_F(BlockCacheTest, ABlockOfHalfItsShareIsCachedAndALargerOneIsNot) {
  make(kBudget);
  insert(*cache_, {1, 1}, kBudget / 2 - 64);
  insert(*cache_, {1, 2}, kBudget / 2 - 63);
  EXPECT_TRUE(is_found(*cache_, {1, 1}));
  EXPECT_FALSE(is_found(*cache_, {1, 2}));
  expect_exact();
}

TEST_F(BlockCacheTest, APinnedBlockOutlivesItsEvictionBeyondTheBudget) {
  make(kBudget);
  PinnedBlock pinned = insert(*cache_, {1, 1}, kBlockBytes);
  EXPECT_EQ(cache_->figures().pinned_bytes, 0U);  // still within the budget
  flush_out();
  EXPECT_FALSE(is_found(*cache_, {1, 1}));
  EXPECT_TRUE(is_whole(*pinned, {1, 1}));
  EXPECT_EQ(cache_->figures().pinned_bytes, kBlockMemoryBytes);
  expect_exact();

  // A second read meanwhile inserts another block of the same name.
  PinnedBlock again = insert(*cache_, {1, 1}, kBlockBytes);
  EXPECT_NE(&*again, &*pinned);
  PinnedBlock moved = std::move(pinned);
  EXPECT_FALSE(pinned);  // NOLINT(bugprone-use-after-move): that it is empty is the point
  moved.release();
  EXPECT_EQ(cache_->figures().pinned_bytes, 0U);
  moved = std::move(again);
  EXPECT_TRUE(is_whole(*moved, {1, 1}));
  moved = PinnedBlock();
  EXPECT_TRUE(is_found(*cache_, {1, 1}));
  expect_exact();
}

TEST_F(BlockCacheTest, ABlockFoundUnderAGuardCanBeKeptBeyondIt) {
  make(kBudget);
  insert(*cache_, {1, 1}, kBlockBytes);
  PinnedBlock pinned;
  {
    BlockCache::ReadGuard guard(*cache_);
    const CachedBlock* const found = guard.find(1, 1);
    ASSERT_NE(found, nullptr);
    pinned = guard.pin(*found);
    EXPECT_EQ(&*pinned, found);
  }
  flush_out();
  EXPECT_TRUE(is_whole(*pinned, {1, 1}));
}

TEST_F(BlockCacheTest, WhatAGuardSawStaysWhileItLivesAndTheBudgetHolds) {
  make(kBudget);
  insert(*cache_, {1, 1}, kBlockBytes);
  bool pinned_while_evicted = true;
  std::uint64_t refusals = 0;
  {
    BlockCache::ReadGuard guard(*cache_);
    const CachedBlock* const found = guard.find(1, 1);
    ASSERT_NE(found, nullptr);
    // Under a guard this thread may not change anything, so another thread does.
    const auto change = [&] {
      cache_->erase_file(1);
      flush_out();
    };
    (*scheduler_.start("other", change)).join();
    EXPECT_TRUE(is_whole(*found, {1, 1}));
    EXPECT_EQ(guard.find(1, 1), nullptr);
    pinned_while_evicted = static_cast<bool>(guard.pin(*found));
    const BlockCacheFigures figures = cache_->figures();
    refusals = figures.refusals;
    EXPECT_LE(figures.used_bytes, kBudget);
    EXPECT_EQ(figures.used_bytes + figures.pinned_bytes,
              test::aligned_bytes_held() - held_before_ + figures.slot_bytes);
  }
  EXPECT_FALSE(pinned_while_evicted);  // no reader held it any more
  EXPECT_GT(refusals, 0U);             // the evicted blocks could not be freed, so there was no room
  insert(*cache_, {1, 2}, kBlockBytes);
  EXPECT_TRUE(is_found(*cache_, {1, 2}));
  EXPECT_EQ(cache_->figures().refusals, refusals);
  expect_exact();
}

TEST_F(BlockCacheTest, WhatWasPinnedStaysBeyondTheBudgetUntilGuardsHaveEnded) {
  make(kBudget);
  PinnedBlock pinned = insert(*cache_, {1, 1}, kBlockBytes);
  flush_out();
  {
    const BlockCache::ReadGuard guard(*cache_);
    (*scheduler_.start("other", [&] { pinned.release(); })).join();
    EXPECT_EQ(cache_->figures().pinned_bytes, kBlockMemoryBytes);
    expect_exact();
  }
  cache_->erase_file(1);
  EXPECT_EQ(cache_->figures().pinned_bytes, 0U);
  expect_exact();
}

TEST_F(BlockCacheTest, AnErasedFileLeavesWithItsBytes) {
  make(kBudget);
  const PinnedBlock pinned = insert(*cache_, {1, 0}, kBlockBytes);
  for (std::uint64_t i = 1; i < 40; ++i) insert(*cache_, {1, i}, kBlockBytes, BlockPriority::kHigh);
  for (std::uint64_t i = 0; i < 40; ++i) insert(*cache_, {2, i}, kBlockBytes);
  for (std::uint64_t i = 0; i < 40; ++i) insert(*cache_, {1 + 2048, i}, kBlockBytes);
  const std::uint64_t used_bytes = cache_->figures().used_bytes;
  cache_->erase_file(1);
  EXPECT_EQ(cache_->figures().used_bytes, used_bytes - 40U * kBlockMemoryBytes);
  EXPECT_EQ(cache_->figures().pinned_bytes, kBlockMemoryBytes);
  EXPECT_EQ(cache_->figures().block_count, 80U);
  EXPECT_EQ(cache_->figures().evictions, 0U);
  for (std::uint64_t i = 0; i < 40; ++i) {
    EXPECT_FALSE(is_found(*cache_, {1, i}));
    EXPECT_TRUE(is_found(*cache_, {2, i}));
    EXPECT_TRUE(is_found(*cache_, {1 + 2048, i}));
  }
  EXPECT_TRUE(is_whole(*pinned, {1, 0}));
  cache_->erase_file(99);
  expect_exact();
}

TEST_F(BlockCacheTest, ShrinksAtOnceAndGrowsAgain) {
  make(kBudget);
  for (std::uint64_t i = 0; i < 20'000; ++i) insert(*cache_, {1, i}, 20);  // many blocks, so that the tables are large
  for (const std::uint64_t bytes_max : {kBudget / 2, kBudget / 64, std::uint64_t{1000}, std::uint64_t{0}}) {
    cache_->set_bytes_max(bytes_max);
    EXPECT_EQ(cache_->bytes_max(), bytes_max);
    EXPECT_LE(cache_->figures().used_bytes, bytes_max);
    EXPECT_GE(cache_->figures().used_bytes, bytes_max / 2);
    expect_exact();
  }
  EXPECT_EQ(cache_->figures().block_count, 0U);
  cache_->set_bytes_max(2 * kBudget);
  for (std::uint64_t i = 0; i < 100; ++i) insert(*cache_, {1, i}, kBlockBytes);
  EXPECT_EQ(cache_->figures().block_count, 100U);
  expect_exact();
}

TEST_F(BlockCacheTest, ShrinkingWithoutMemoryForSmallerTablesLetsAllGo) {
  make(kBudget);
  for (std::uint64_t i = 0; i < 20'000; ++i) insert(*cache_, {1, i}, 20);
  {
    const test::AllocationFailure failure(1);
    cache_->set_bytes_max(kBudget / 64);
    EXPECT_TRUE(failure.happened());
  }
  EXPECT_EQ(cache_->figures().used_bytes, 0U);
  expect_exact();
  EXPECT_FALSE(read_through(*cache_, {1, 1}, 100));
  EXPECT_TRUE(read_through(*cache_, {1, 1}, 100));
}

TEST_F(BlockCacheTest, WithoutMemoryForItsTablesABlockIsHandedThrough) {
  for (const std::uint64_t nth : {1U, 2U}) {  // the index, the ghosts
    make(kBudget);
    Block block = block_for(*cache_, {1, 1}, kBlockBytes);
    {
      const test::AllocationFailure failure(nth);
      const PinnedBlock pinned = cache_->insert(1, 1, std::move(block), BlockPriority::kNormal);
      EXPECT_TRUE(failure.happened());
      EXPECT_TRUE(is_whole(*pinned, {1, 1}));
    }
    EXPECT_FALSE(is_found(*cache_, {1, 1}));
    EXPECT_EQ(cache_->figures().used_bytes, 0U);
    expect_exact();
    EXPECT_FALSE(read_through(*cache_, {1, 1}, kBlockBytes));
    EXPECT_TRUE(read_through(*cache_, {1, 1}, kBlockBytes));
  }
}

TEST_F(BlockCacheTest, WithoutMemoryForLargerTablesItGoesOnWithWhatItHas) {
  make(kBudget);
  for (std::uint64_t i = 0; i < 6; ++i) insert(*cache_, {1, i}, 100);
  for (std::uint64_t i = 6; i < 50; ++i) {
    Block block = block_for(*cache_, {1, i}, 100);
    const test::AllocationFailure failure(1 + i % 2);
    const PinnedBlock pinned = cache_->insert(1, i, std::move(block), BlockPriority::kNormal);
    EXPECT_TRUE(failure.happened());
    EXPECT_TRUE(is_whole(*pinned, {1, i}));
    EXPECT_TRUE(is_found(*cache_, {1, i}));
    EXPECT_EQ(cache_->figures().block_count, 6U);
  }
  expect_exact();
}

TEST_F(BlockCacheTest, ABlockThatCannotBeAllocatedIsAnError) {
  make(kBudget);
  const test::AllocationFailure failure(1);
  EXPECT_EQ(cache_->allocate(1, 1, 100, kTestType).code(), Code::kOutOfMemory);
}

/// Tests every state of the next block: present, pinned, evicted, of no file, or the requested block itself.
TEST_F(BlockCacheTest, APinOfAWalkIsAPinAndLeavesTheNextBlockAsItIs) {
  make(kBudget);
  insert(*cache_, {1, 64}, 100);
  insert(*cache_, {1, 128}, 0);  // less than the prefetched part
  const BlockCacheFigures before = cache_->figures();
  for (const std::uint64_t next : {std::uint64_t{128}, std::uint64_t{64}, std::uint64_t{192}, UINT64_MAX}) {
    EXPECT_TRUE(is_whole(*cache_->pin(1, 64, next), {1, 64}));
    EXPECT_FALSE(cache_->pin(1, 65, next));
  }
  const BlockCacheFigures after = cache_->figures();
  EXPECT_EQ(after.hits - before.hits, 4U);
  EXPECT_EQ(after.misses - before.misses, 4U);
  expect_exact();
  cache_->erase_file(1);
  EXPECT_FALSE(cache_->pin(1, 64, 128));
  make(0);
  EXPECT_FALSE(cache_->pin(1, 64, 128));
}

TEST_F(BlockCacheTest, FindAndPinAllocateNothing) {
  make(kBudget);
  insert(*cache_, {1, 1}, 100);
  const std::uint64_t before = test::allocation_count();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(is_found(*cache_, {1, 1}));
    EXPECT_TRUE(cache_->pin(1, 1));
    EXPECT_FALSE(cache_->pin(1, 2));
  }
  EXPECT_EQ(test::allocation_count(), before);
}

TEST_F(BlockCacheTest, ALargeCacheHasAllItsShardsInUse) {
  make(std::uint64_t{128} << 20);
  for (std::uint64_t i = 0; i < 10'000; ++i) insert(*cache_, {1 + i % 7, i / 7 * 4096}, 64);
  EXPECT_EQ(cache_->figures().block_count, 10'000U);
  for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_TRUE(is_found(*cache_, {1 + i % 7, i / 7 * 4096}));
  cache_->erase_file(3);
  EXPECT_EQ(cache_->figures().block_count, 10'000U - 10'000 / 7 - 1);
  expect_exact();
}

/// Returns whether the link points to a block. If it does, the block must be whole.
bool is_linked(BlockCache& cache, const CacheLink& link, BlockKey key) {
  BlockCache::ReadGuard guard(cache);
  const CachedBlock* const block = guard.find(link);
  EXPECT_TRUE(block == nullptr || is_whole(*block, key)) << "file " << key.file_id << ", offset " << key.offset;
  return block != nullptr;
}

TEST_F(BlockCacheTest, ALinkPointsToItsBlockUntilTheBlockLeaves) {
  make(kBudget);
  CacheLink link;
  cache_->link(1, 64, link);
  EXPECT_FALSE(link.is_set()) << "the block is not cached";
  insert(*cache_, {1, 64}, kBlockBytes);
  EXPECT_FALSE(link.is_set()) << "nobody linked it";
  cache_->link(1, 64, link);
  EXPECT_TRUE(is_linked(*cache_, link, {1, 64}));
  cache_->check_invariants();

  cache_->erase_file(2);
  EXPECT_TRUE(link.is_set());
  cache_->erase_file(1);
  EXPECT_FALSE(link.is_set());

  insert(*cache_, {1, 64}, kBlockBytes);
  cache_->link(1, 64, link);
  const PinnedBlock pinned = cache_->pin(1, 64);
  cache_->set_bytes_max(0);
  EXPECT_FALSE(link.is_set()) << "a pin keeps the block, but not in the cache";
  EXPECT_TRUE(is_whole(*pinned, {1, 64}));

  cache_->set_bytes_max(kBudget);
  insert(*cache_, {1, 64}, kBlockBytes);
  cache_->link(1, 64, link);
  CacheLink second;
  cache_->link(1, 64, second);
  EXPECT_FALSE(second.is_set()) << "a block has one link";
  cache_->unlink(1, 64, link);
  EXPECT_FALSE(link.is_set());
  EXPECT_TRUE(is_found(*cache_, {1, 64})) << "unlinking is no eviction";
  cache_->link(1, 64, second);
  EXPECT_TRUE(is_linked(*cache_, second, {1, 64}));
  cache_->unlink(1, 64, second);

  insert(*cache_, {3, 64}, kBlockBytes);
  CacheLink of_an_unread_block;
  cache_->link(3, 64, of_an_unread_block);
  EXPECT_TRUE(of_an_unread_block.is_set());
  flush_out();
  EXPECT_FALSE(of_an_unread_block.is_set());
  EXPECT_FALSE(is_found(*cache_, {3, 64}));
  expect_exact();
}

TEST_F(BlockCacheTest, AFindByALinkIsAHitAndKeepsTheBlock) {
  make(kBudget);
  insert(*cache_, {1, 64}, kBlockBytes);
  CacheLink link;
  CacheLink unset;
  cache_->link(1, 64, link);
  const BlockCacheFigures before = cache_->figures();
  for (std::uint64_t i = 0; i < 4 * kBudget / kBlockBytes; ++i) {
    EXPECT_FALSE(is_linked(*cache_, unset, {1, 65}));
    ASSERT_TRUE(is_linked(*cache_, link, {1, 64})) << "a block in use was evicted for a block that nobody reads";
    insert(*cache_, {2, i}, kBlockBytes);
  }
  EXPECT_EQ(cache_->figures().hits, before.hits + 4 * kBudget / kBlockBytes);
  EXPECT_EQ(cache_->figures().misses, before.misses);
  EXPECT_GT(cache_->figures().evictions, before.evictions);
  cache_->unlink(1, 64, link);
}

using BlockCacheDeathTest = BlockCacheTest;

TEST_F(BlockCacheDeathTest, NobodyLocksUnderAGuard) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  make(kBudget);
  Block block = block_for(*cache_, {1, 1}, 100);
  PinnedBlock pinned = insert(*cache_, {1, 2}, 100);
  BlockCache::ReadGuard guard(*cache_);
  EXPECT_DEATH((void)cache_->insert(1, 1, std::move(block), BlockPriority::kNormal), "held_by_this_thread");
  EXPECT_DEATH(cache_->erase_file(1), "held_by_this_thread");
  EXPECT_DEATH(cache_->set_bytes_max(0), "held_by_this_thread");
  EXPECT_DEATH(pinned.release(), "held_by_this_thread");
}

// Goal: after any operations, a find returns the bytes of its name or nothing, and the figures give the memory to the
// byte.
// Method: random operations, compared with the set of names that may be cached.
class BlockCacheBySeed : public BlockCacheTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
  ~BlockCacheBySeed() override {
    for (auto& [name, link] : links_) cache_->unlink(name.first, name.second, link);
  }

  BlockKey some_key() { return {1 + random_() % 4, random_() % 60 * 64}; }

  /// A link points to the block that is cached under its name, or to none.
  void expect_links_of_cached() {
    for (const auto& [name, link] : links_) {
      if (!link.is_set()) continue;
      const BlockKey key{name.first, name.second};
      BlockCache::ReadGuard guard(*cache_);
      const CachedBlock* const block = guard.find(link);
      ASSERT_EQ(block, guard.find(key.file_id, key.offset)) << "file " << name.first << ", offset " << name.second;
      ASSERT_TRUE(is_whole(*block, key));
      ++links_followed_;
    }
  }

  void step() {
    const BlockKey key = some_key();
    const auto name = std::pair(key.file_id, key.offset);
    switch (random_() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        const auto size = static_cast<std::uint32_t>(random_() % (random_() % 8 == 0 ? 40'000 : 6'000));
        const BlockPriority priority = random_() % 4 == 0 ? BlockPriority::kHigh : BlockPriority::kNormal;
        PinnedBlock pinned = insert(*cache_, key, size, priority);
        ASSERT_TRUE(is_whole(*pinned, key));
        may_be_cached_.insert(name);
        if (random_() % 8 == 0) pins_.emplace_back(key, std::move(pinned));
        break;
      }
      case 5: {
        PinnedBlock pinned = random_() % 2 == 0 ? cache_->pin(key.file_id, key.offset)
                                                : cache_->pin(key.file_id, key.offset, some_key().offset);
        if (pinned) pins_.emplace_back(key, std::move(pinned));
        break;
      }
      case 6:
      case 7:
        if (!pins_.empty()) {
          std::swap(pins_[random_() % pins_.size()], pins_.back());
          ASSERT_TRUE(is_whole(*pins_.back().second, pins_.back().first));
          pins_.pop_back();
        }
        break;
      case 8:
        if (random_() % 8 != 0) break;
        cache_->erase_file(key.file_id);
        std::erase_if(may_be_cached_, [&](const auto& each) { return each.first == key.file_id; });
        break;
      case 9:
        if (random_() % 8 == 0) cache_->set_bytes_max(random_() % 4 == 0 ? random_() % 1'000 : random_() % kBudget);
        break;
      case 10:
        if (random_() % 4 == 0) {
          cache_->unlink(key.file_id, key.offset, links_[name]);
        } else {
          cache_->link(key.file_id, key.offset, links_[name]);
        }
        break;
      default:
        if (is_found(*cache_, key)) {
          ASSERT_TRUE(may_be_cached_.contains(name));
        }
    }
  }

  std::mt19937_64 random_{GetParam()};
  std::set<std::pair<std::uint64_t, std::uint64_t>> may_be_cached_;
  std::vector<std::pair<BlockKey, PinnedBlock>> pins_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, CacheLink> links_;
  std::uint64_t links_followed_ = 0;
};

TEST_P(BlockCacheBySeed, AnswersAsItsModelAndTellsItsMemoryToTheByte) {
  SCOPED_TRACE(GetParam());
  make(kBudget / 2);
  for (int i = 0; i < 4'000 && !HasFailure(); ++i) {
    ASSERT_NO_FATAL_FAILURE(step());
    ASSERT_NO_FATAL_FAILURE(expect_links_of_cached());
    expect_exact();
  }
  for (const auto& [key, pinned] : pins_) EXPECT_TRUE(is_whole(*pinned, key));
  EXPECT_GT(cache_->figures().hits, 100U);
  EXPECT_GT(links_followed_, 1'000U);
  cache_->set_bytes_max(0);
  expect_exact();
  pins_.clear();
  expect_exact();
  EXPECT_EQ(test::aligned_bytes_held(), held_before_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BlockCacheBySeed,
                         testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

}  // namespace
}  // namespace varve::engine::block_cache_test
