// Goal: valuable blocks stay (engine/cache/eviction_order.h): during scans, beside other priorities, and when the hot
// set changes.
// Method: one shard, blocks of one size, seeded traces. The hit rate is asserted.
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cache/block_cache.h"
#include "io/scheduler.h"
#include "tests/engine/cache/cache_fill.h"

namespace varve::engine::eviction_test {
namespace {

constexpr std::uint32_t kBlockBytes = 4032;  // 4,096 with the header
constexpr std::uint64_t kCacheBlocks = 1'000;
constexpr std::uint64_t kBudget = kCacheBlocks * 4096 + 64 * 1024;  // including tables
constexpr std::uint64_t kHotFile = 1;
constexpr std::uint64_t kScanFile = 2;
constexpr std::uint64_t kIndexFile = 3;
constexpr std::uint64_t kNewFile = 4;

class Eviction : public testing::Test {
 protected:
  bool read(std::uint64_t file_id, std::uint64_t number, BlockPriority priority = BlockPriority::kNormal) {
    return read_through(cache_, {file_id, number * 4096}, kBlockBytes, priority);
  }
  /// Returns the number of cached blocks of the file. Does not change which blocks are hot.
  std::uint64_t present(std::uint64_t file_id, std::uint64_t count) {
    std::uint64_t found = 0;
    for (std::uint64_t number = 0; number < count; ++number) {
      if (is_found(cache_, {file_id, number * 4096})) ++found;
    }
    return found;
  }
  /// As present(), without any hit.
  std::uint64_t cached_of(std::uint64_t file_id) const {
    std::uint64_t found = 0;
    for (const ListedBlock& block : cache_.list()) {
      if (block.file_id == file_id) ++found;
    }
    return found;
  }
  void read_all(std::uint64_t file_id, std::uint64_t count, BlockPriority priority = BlockPriority::kNormal) {
    for (std::uint64_t number = 0; number < count; ++number) read(file_id, number, priority);
  }

  io::Scheduler scheduler_;
  BlockCache cache_{scheduler_, kBudget};
};

TEST_F(Eviction, AHotSetStaysThroughAScanOfTenTimesTheCache) {
  constexpr std::uint64_t kHot = kCacheBlocks * 6 / 10;
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  read_all(kScanFile, 10 * kCacheBlocks);
  EXPECT_EQ(present(kHotFile, kHot), kHot);
}

TEST_F(Eviction, AHotSetThatIsReadDuringTheScanLosesNothing) {
  constexpr std::uint64_t kHot = kCacheBlocks * 8 / 10;
  std::mt19937_64 random(1);
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  std::uint64_t hits = 0;
  for (std::uint64_t number = 0; number < 10 * kCacheBlocks; ++number) {
    read(kScanFile, number);
    if (read(kHotFile, random() % kHot)) ++hits;
  }
  EXPECT_GE(hits, 10 * kCacheBlocks * 999 / 1000);
}

TEST_F(Eviction, TwoScansAtOnceOfTheSameBlocksDoNotDisplaceAHotSetInUse) {
  // Each block of the scan is hit once, shortly after its insertion: it counts as visited, and is moved to the main
  // queue for a short time.
  constexpr std::uint64_t kHot = kCacheBlocks / 2;
  std::mt19937_64 random(1);
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  std::uint64_t hits = 0;
  std::uint64_t reads = 0;
  for (std::uint64_t number = 0; number < 10 * kCacheBlocks; ++number) {
    read(kScanFile, number);
    read(kScanFile, number);
    for (int i = 0; i < 4; ++i, ++reads) hits += static_cast<std::uint64_t>(read(kHotFile, random() % kHot));
  }
  EXPECT_GE(hits, reads * 97 / 100);
}

TEST_F(Eviction, PartitionsOfHighPriorityStayThroughAScanWithoutBeingRead) {
  constexpr std::uint64_t kPartitions = kCacheBlocks * 75 / 100;
  read_all(kIndexFile, kPartitions, BlockPriority::kHigh);
  read_all(kScanFile, 10 * kCacheBlocks);
  EXPECT_EQ(present(kIndexFile, kPartitions), kPartitions);
  EXPECT_EQ(cache_.figures().refusals, 0U);
}

TEST_F(Eviction, HighPriorityBeyondItsShareMakesRoomForData) {
  read_all(kIndexFile, 2 * kCacheBlocks, BlockPriority::kHigh);
  // all of the room, while no other priority needs it
  EXPECT_GT(cache_.figures().block_count, kCacheBlocks * 98 / 100);
  constexpr std::uint64_t kHot = kCacheBlocks * 15 / 100;
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  read_all(kIndexFile, 4 * kCacheBlocks, BlockPriority::kHigh);
  EXPECT_EQ(present(kHotFile, kHot), kHot);
  const std::uint64_t partitions = present(kIndexFile, 4 * kCacheBlocks);
  EXPECT_GT(partitions, kCacheBlocks * 79 / 100);
}

TEST_F(Eviction, AmongPartitionsThoseInUseStay) {
  constexpr std::uint64_t kHot = kCacheBlocks / 4;
  std::mt19937_64 random(1);
  read_all(kHotFile, kHot, BlockPriority::kHigh);
  std::uint64_t hits = 0;
  for (std::uint64_t number = 0; number < 10 * kCacheBlocks; ++number) {
    read(kIndexFile, number, BlockPriority::kHigh);
    if (read(kHotFile, random() % kHot, BlockPriority::kHigh)) ++hits;
  }
  EXPECT_GE(hits, 10 * kCacheBlocks * 85 / 100);
}

TEST_F(Eviction, WhatSucceedsCachedBlocksWaitsForItsFileAndThenTakesTheirPlaces) {
  constexpr std::uint64_t kHot = kCacheBlocks * 6 / 10;
  constexpr std::uint64_t kSuccessors = kCacheBlocks * 3 / 10;
  std::mt19937_64 random(1);
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  // A merge writes, and no reader can find its blocks yet. Meanwhile all other blocks are hit.
  for (std::uint64_t number = 0; number < kSuccessors; ++number) {
    read(kNewFile, number, BlockPriority::kSuccessor);
    for (int i = 0; i < 20; ++i) read(kHotFile, random() % kHot);
  }
  for (std::uint64_t number = 0; number < 10 * kCacheBlocks; ++number) {
    read(kScanFile, number);
    read(kHotFile, random() % kHot);
  }
  EXPECT_EQ(cached_of(kNewFile), kSuccessors);
  EXPECT_GE(cached_of(kHotFile), kHot * 95 / 100);

  cache_.begin_file(kNewFile);
  cache_.erase_file(kHotFile);
  EXPECT_EQ(cached_of(kNewFile), kSuccessors);
  read_all(kScanFile, 2 * kCacheBlocks);
  EXPECT_EQ(cached_of(kNewFile), kSuccessors) << "they did not enter the main queue";
  // Like all others, they leave when other blocks are hit instead.
  for (std::uint64_t number = 0; number < 3 * kCacheBlocks; ++number) {
    read(kIndexFile, number);
    read(kIndexFile, number);
  }
  EXPECT_EQ(cached_of(kNewFile), 0U);
  cache_.check_invariants();
}

TEST_F(Eviction, WhatWaitsForItsFileHasAPartOfTheCacheOnly) {
  constexpr std::uint64_t kHot = kCacheBlocks * 3 / 10;
  std::mt19937_64 random(1);
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  std::uint64_t hits = 0;
  constexpr std::uint64_t kSuccessors = 4 * kCacheBlocks;
  for (std::uint64_t number = 0; number < kSuccessors; ++number) {
    read(kNewFile, number, BlockPriority::kSuccessor);
    for (int i = 0; i < 2; ++i) hits += static_cast<std::uint64_t>(read(kHotFile, random() % kHot));
  }
  EXPECT_GE(hits, 2 * kSuccessors * 9 / 10);
  // The first third waits. With nothing else left, a smaller budget evicts it.
  EXPECT_GE(cached_of(kNewFile), kCacheBlocks / 4);
  cache_.erase_file(kHotFile);
  cache_.set_bytes_max(kBudget / 10);
  EXPECT_LE(cache_.figures().used_bytes, kBudget / 10);
  EXPECT_GT(cached_of(kNewFile), 0U);
  cache_.check_invariants();
  cache_.erase_file(kNewFile);
  EXPECT_EQ(cache_.figures().block_count, 0U);
}

TEST_F(Eviction, ABlockThatComesBackSoonIsKept) {
  constexpr std::uint64_t kReturning = 50;
  read_all(kScanFile, 2 * kCacheBlocks);
  read_all(kHotFile, kReturning);
  // The blocks are evicted from the small queue unvisited...
  for (std::uint64_t number = 0; number < kCacheBlocks + 100; ++number) read(kScanFile, 10'000 + number);
  ASSERT_EQ(present(kHotFile, kReturning), 0U);
  // ...and are read again soon after.
  read_all(kHotFile, kReturning);
  for (std::uint64_t number = 0; number < 10 * kCacheBlocks; ++number) read(kScanFile, 20'000 + number);
  EXPECT_EQ(present(kHotFile, kReturning), kReturning);
}

TEST_F(Eviction, ANewHotSetTakesThePlaceOfAnOldOne) {
  constexpr std::uint64_t kHot = kCacheBlocks * 8 / 10;
  read_all(kHotFile, kHot);
  read_all(kHotFile, kHot);
  for (int round = 0; round < 8; ++round) read_all(kScanFile, kHot);
  EXPECT_EQ(present(kScanFile, kHot), kHot);
}

/// Counts the hits of an LRU cache on the same trace.
class LeastRecentlyUsed {
 public:
  bool read(std::uint64_t number) {
    if (const auto found = places_.find(number); found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return true;
    }
    if (order_.size() == kCacheBlocks) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    order_.push_front(number);
    places_[number] = order_.begin();
    return false;
  }

 private:
  std::list<std::uint64_t> order_;
  std::map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

TEST_F(Eviction, HitsMoreOftenThanLeastRecentlyUsedWouldOnSkewedReadsWithScans) {
  // Reads follow Zipf's law (exponent 1) over ten times the cache, with occasional runs of neighbours.
  constexpr std::uint64_t kBlocks = 10 * kCacheBlocks;
  std::vector<double> cumulated;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    cumulated.push_back((i == 0 ? 0.0 : cumulated.back()) + 1.0 / static_cast<double>(i + 1));
  }
  std::mt19937_64 random(1);
  LeastRecentlyUsed other;
  std::uint64_t hits = 0;
  std::uint64_t other_hits = 0;
  std::uint64_t reads = 0;
  const auto read_one = [&](std::uint64_t number) {
    ++reads;
    if (read(kHotFile, number)) ++hits;
    if (other.read(number)) ++other_hits;
  };
  while (reads < 100'000) {
    const double place = static_cast<double>(random() >> 11) * 0x1p-53 * cumulated.back();
    read_one(
        static_cast<std::uint64_t>(std::lower_bound(cumulated.begin(), cumulated.end(), place) - cumulated.begin()) *
        7919 % kBlocks);
    if (random() % 1'000 == 0) {
      const std::uint64_t from = random() % kBlocks;
      for (std::uint64_t i = 0; i < 500; ++i) read_one((from + i) % kBlocks);
    }
  }
  RecordProperty("hits_of_1000", std::to_string(1'000 * hits / reads));
  RecordProperty("least_recently_used_hits_of_1000", std::to_string(1'000 * other_hits / reads));
  EXPECT_GT(hits, other_hits + reads / 50);
}

}  // namespace
}  // namespace varve::engine::eviction_test
