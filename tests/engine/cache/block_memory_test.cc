// Goal: blocks never overlap, their figures are exact, spans are divided without waste, empty spans are returned, and
// scattered blocks can be gathered.
// Method: blocks of random sizes. The number of a block determines its content, which is checked before the block is
// freed. Spans are counted.
#include "engine/cache/block_memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/posix/large_pages.h"
#include "tests/engine/cache/cache_fill.h"
#include "tests/support/allocation_counter.h"

namespace varve::engine::block_memory_test {
namespace {

struct Held {
  BlockNode* node;
  char fill;
};

class BlockMemoryTest : public testing::Test {
 protected:
  ~BlockMemoryTest() override { free_all(); }

  bool hold(std::uint32_t content_bytes) {
    BlockNode* const node = memory_.allocate(content_bytes, kTestType);
    if (node == nullptr) return false;
    const auto fill = static_cast<char>(next_fill_++ % 127);
    std::memset(node->content_begin(), fill, content_bytes);
    held_.push_back({node, fill});
    return true;
  }
  /// Marks the block as cached, so that it may be moved.
  void cache(BlockNode& node) {
    node.indexed = true;
    node.state = BlockNode::kCached;
  }
  void expect_whole(const Held& held) {
    const std::string_view content = held.node->content();
    EXPECT_EQ(content.find_first_not_of(held.fill), std::string_view::npos);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.node) % kCacheLineBytes, 0U);
  }
  void free_at(std::size_t place) {
    expect_whole(held_[place]);
    memory_.free(*held_[place].node);
    held_[place] = held_.back();
    held_.pop_back();
  }
  void free_all() {
    while (!held_.empty()) free_at(held_.size() - 1);
  }
  std::uint64_t slot_bytes_of_held() const {
    std::uint64_t sum = 0;
    for (const Held& held : held_) {
      const std::size_t bytes = CachedBlock::kHeaderBytes + held.node->content().size();
      if (has_slot(bytes)) sum += slot_bytes_for(bytes);
    }
    return sum;
  }
  /// Gathers blocks like a shard. Returns the number of moved blocks.
  std::size_t gather() {
    std::size_t moves = 0;
    while (memory_.is_scattered() && memory_.bytes_to_move() > 0) {
      BlockNode* const from = memory_.next_to_move();
      if (from == nullptr) continue;
      BlockNode* const to = memory_.allocate_beside(static_cast<std::uint32_t>(from->content().size()), from->type());
      if (to == nullptr) {
        memory_.stop_moving();
        continue;
      }
      std::memcpy(to->content_begin(), from->content().data(), from->content().size());
      cache(*to);
      for (Held& held : held_) {
        if (held.node == from) held.node = to;
      }
      memory_.free(*from);
      ++moves;
    }
    return moves;
  }

  io::Scheduler scheduler_;
  SpanSource source_{scheduler_};
  BlockMemory memory_{nullptr, source_};
  std::vector<Held> held_;
  unsigned next_fill_ = 0;
};

TEST(BlockSize, OfASlotIsLittleMoreThanWhatIsAskedFor) {
  for (std::size_t bytes = kSlotBytesMin; bytes <= kSlotBytesMax; ++bytes) {
    const std::size_t slot = slot_bytes_for(bytes);
    ASSERT_GE(slot, bytes);
    ASSERT_EQ(slot % kCacheLineBytes, 0U);
    ASSERT_LE(slots_for(bytes) * slot, kSlotsBytes) << bytes;
    ASSERT_EQ(slots_for(slot), slots_for(bytes)) << bytes;
    if (bytes <= 6144) {
      ASSERT_LE(slot, bytes + bytes / 18 + kCacheLineBytes) << bytes;
    }
  }
  EXPECT_EQ(taken_bytes_for(kSlotBytesMin - 1), kSlotBytesMin - 1);
  EXPECT_EQ(taken_bytes_for(kSlotBytesMax + 1), kSlotBytesMax + 1);
}

TEST_F(BlockMemoryTest, GivesRandomBlocksEachItsOwnBytesAndKeepsExactFigures) {
  std::mt19937 random(7);
  for (int step = 0; step < 30'000; ++step) {
    if (held_.empty() || random() % 100 < (step < 15'000 ? 60U : 40U)) {
      const auto below = [&random](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
      const std::array<std::uint32_t, 3> sizes{4032 + below(1024), below(1200), 1000 + below(20'000)};
      ASSERT_TRUE(hold(sizes[below(3)]));
    } else {
      free_at(random() % held_.size());
    }
    if (step % 500 == 0) {
      ASSERT_EQ(memory_.slot_bytes(), slot_bytes_of_held());
    }
  }
  free_all();
  EXPECT_EQ(memory_.slot_bytes(), 0U);
  EXPECT_EQ(memory_.free_bytes(), 0U);
}

TEST_F(BlockMemoryTest, EmptySpansGoBackAndAreTakenAgain) {
  const std::uint64_t aligned_before = test::aligned_bytes_held();
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(hold(4'200));
  EXPECT_EQ(test::aligned_bytes_held(), aligned_before);
  const std::uint64_t most = source_.held_bytes();
  EXPECT_GE(most, memory_.slot_bytes());
  EXPECT_LE(most, memory_.slot_bytes() * 104 / 100 + 2 * io::kLargePageBytes);
  free_all();
  EXPECT_LE(source_.held_bytes(), 24 * kSpanBytes);
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(hold(8'400));
  for (int i = 0; i < 4'000; ++i) free_at(0);
  gather();
}

TEST_F(BlockMemoryTest, OfASmallCacheIsLittleMoreThanItsBlocks) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(hold(4'200));
  EXPECT_LE(source_.held_bytes(), std::size_t{512} << 10);
}

TEST_F(BlockMemoryTest, WhatIsScatteredIsGatheredByMoving) {
  std::mt19937 random(11);
  for (int i = 0; i < 6'000; ++i) {
    ASSERT_TRUE(hold(4'200));
    cache(*held_.back().node);
  }
  const std::uint64_t most = source_.held_bytes();
  while (held_.size() > 1'500) free_at(random() % held_.size());
  EXPECT_GT(source_.held_bytes(), most / 2);  // nearly every span has a block
  EXPECT_TRUE(memory_.is_scattered());
  EXPECT_GT(gather(), 0U);
  EXPECT_FALSE(memory_.is_scattered());
  EXPECT_EQ(memory_.slot_bytes(), slot_bytes_of_held());
  EXPECT_LE(memory_.free_bytes(), memory_.slot_bytes() / 30 + 2 * kSpanBytes);
  EXPECT_LT(source_.held_bytes(), most / 2);
  for (const Held& held : held_) expect_whole(held);
}

TEST_F(BlockMemoryTest, WhatIsPinnedStaysWhereItIsAndNobodyTriesForever) {
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_TRUE(hold(4'200));
    cache(*held_.back().node);
    held_.back().node->state = BlockNode::kCached + BlockNode::kOnePin;
  }
  for (std::size_t place = 0; place < held_.size(); place += 2) free_at(place);
  EXPECT_TRUE(memory_.is_scattered());
  EXPECT_EQ(gather(), 0U);
  EXPECT_FALSE(memory_.is_scattered());
  for (const Held& held : held_) held.node->state = BlockNode::kCached;
  for (int i = 0; i < 200; ++i) free_at(0);  // more is free than at the last attempt
  EXPECT_TRUE(memory_.is_scattered());
  EXPECT_GT(gather(), 0U);
  for (const Held& held : held_) expect_whole(held);
}

TEST_F(BlockMemoryTest, WhereThereIsNoMemoryABlockIsRefusedAndNothingIsKept) {
  held_.reserve(1);
  for (const std::uint32_t content_bytes : {100U, 4'200U, 100'000U}) {
    for (std::uint64_t nth = 1;; ++nth) {
      const test::AllocationFailure failure(nth);
      const bool is_held = hold(content_bytes);
      if (!failure.happened()) {
        EXPECT_TRUE(is_held);
        break;
      }
      EXPECT_FALSE(is_held);
      EXPECT_EQ(memory_.slot_bytes(), 0U);
    }
    free_all();
  }
}

TEST_F(BlockMemoryTest, SpansOfASizeBeginAtManyPlacesOfTheProcessorsCaches) {
  std::vector<std::uintptr_t> seen;
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(hold(8'600));
    const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(held_.back().node) % kSpanBytes;
    if (std::find(seen.begin(), seen.end(), place) == seen.end()) seen.push_back(place);
  }
  EXPECT_GT(seen.size(), 300U);
}

}  // namespace
}  // namespace varve::engine::block_memory_test
