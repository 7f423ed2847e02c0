// The content of the block cache after a flush and a compaction.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/levels/tree_shape.h"
#include "io/simulated/manual_clock.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::fresh_blocks_test {
namespace {

using test::Change;
using test::Machine;

constexpr int kRows = 2000;
constexpr std::uint64_t kCacheBytes = 64 << 20;

std::string row_name(int row) {
  const std::string digits = std::to_string(row);
  return std::string(6 - digits.size(), '0') + digits;
}

/// A store, and the number of its reads of blocks from the disk.
class FreshBlocksTest : public testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    cache_ = std::make_shared<BlockCache>(machine_.scheduler(), cache_bytes_);
    EngineOptions options = Machine::writable();
    options.block_cache = cache_;
    Result<std::unique_ptr<Engine>> engine = machine_.open(options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    engine_ = *std::move(engine);
  }

  void reopen() {
    ASSERT_TRUE(engine_->close().ok());
    engine_.reset();
    open();
  }

  /// Writes every `step`th row from `first` on, with a value that no other round has.
  void write(int first = 0, int step = 1) {
    ++round_;
    for (int row = first; row < kRows; row += step) {
      ASSERT_TRUE(Change().put("p", row_name(row), value_of_row(row, round_)).commit(*engine_).ok());
    }
  }
  std::string value_of_row(int row, int round) const {
    std::string value = std::to_string(row) + " in round " + std::to_string(round);
    io::SeededRandom random(static_cast<std::uint64_t>(row) * 1000 + static_cast<std::uint64_t>(round));
    for (int i = 0; i < value_bytes_; ++i) value += static_cast<char>('!' + io::random_below(random, 90));
    return value;
  }

  /// Returns the number of disk reads for finding all rows as of the last whole round.
  std::uint64_t reads_for_all() {
    const std::uint64_t before = engine_->statistics().block_reads;
    for (int row = 0; row < kRows; ++row) {
      EXPECT_EQ(test::value_of(*engine_, "p", row_name(row)), value_of_row(row, round_));
    }
    return engine_->statistics().block_reads - before;
  }

  /// Fills the last level with several runs.
  void fill_the_last_level() {
    value_bytes_ = 1000;
    write();
    merge_the_last_rows();
  }

  /// Writes the same values again: four files of level 0 are merged when there is no other work.
  void merge_the_last_rows() {
    const std::uint64_t copied = engine_->statistics().compaction_copied_bytes;
    for (int i = 0; i < 4; ++i) {
      --round_;
      write(kRows - 4);
      ASSERT_TRUE(engine_->flush().ok());
    }
    ASSERT_TRUE(engine_->compact().ok());
    copied_bytes_ = engine_->statistics().compaction_copied_bytes - copied;
  }

  std::uint64_t cached_blocks() const { return cache_->figures().block_count; }

  Machine machine_;
  std::uint64_t cache_bytes_ = kCacheBytes;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<Engine> engine_;
  int round_ = 0;
  int value_bytes_ = 40;
  std::uint64_t copied_bytes_ = 0;  // by the last merge
};

TEST_F(FreshBlocksTest, WhatWasFlushedIsReadWithoutTheDisk) {
  write();
  ASSERT_TRUE(engine_->flush().ok());
  EXPECT_GT(cached_blocks(), 10u);
  EXPECT_EQ(reads_for_all(), 0u);
  // Equal blocks are read from the disk.
  cache_->set_bytes_max(0);
  cache_->set_bytes_max(kCacheBytes);
  EXPECT_GT(reads_for_all(), 10u);
  EXPECT_EQ(reads_for_all(), 0u);
}

TEST_F(FreshBlocksTest, ACompactionOfWhatIsCachedLeavesItCached) {
  write();
  ASSERT_TRUE(engine_->flush().ok());
  write();
  ASSERT_TRUE(engine_->flush().ok());
  const std::uint64_t merges = engine_->statistics().compaction_written_bytes;
  ASSERT_TRUE(engine_->compact().ok());
  ASSERT_GT(engine_->statistics().compaction_written_bytes, merges);
  EXPECT_EQ(reads_for_all(), 0u);
  cache_->check_invariants();
}

TEST_F(FreshBlocksTest, AMergeInAFullCacheLeavesMostOfTheHotBlocksCached) {
  value_bytes_ = 1000;
  for (int round = 0; round < 2; ++round) {
    write();
    ASSERT_TRUE(engine_->flush().ok());
    ASSERT_TRUE(engine_->compact().ok());
  }
  reads_for_all();
  reads_for_all();  // The second read of a block makes it hot.
  const std::uint64_t hot_blocks = cached_blocks();
  // The cache has room for the inputs of the merge, and for a part of its output.
  cache_->set_bytes_max(cache_->figures().used_bytes * 5 / 4);
  write(0, 8);
  ASSERT_TRUE(engine_->flush().ok());
  ASSERT_TRUE(engine_->compact().ok());
  --round_;
  std::uint64_t reads = engine_->statistics().block_reads;
  for (int row = 1; row < kRows; row += 8) {
    EXPECT_EQ(test::value_of(*engine_, "p", row_name(row)), value_of_row(row, round_));
  }
  reads = engine_->statistics().block_reads - reads;
  EXPECT_LE(reads, hot_blocks / 4) << "of " << hot_blocks << " blocks";
}

/// The blocks of a long file are made apart from it, and cached when their place is known.
TEST_F(FreshBlocksTest, BlocksThatWereMadeApartAreCachedToo) {
  const TreeShape usual = tree_shape();
  tree_shape().chunk_weight_max = 20'000;
  reopen();
  for (int round = 0; round < 2; ++round) {
    write();
    ASSERT_TRUE(engine_->flush().ok());
    EXPECT_EQ(reads_for_all(), 0u);
  }
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_EQ(reads_for_all(), 0u);
  cache_->check_invariants();
  reopen();  // with an empty cache
  write();
  ASSERT_TRUE(engine_->flush().ok());
  reopen();
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_EQ(cached_blocks(), 0u) << "nobody read what was merged";
  tree_shape() = usual;
}

TEST_F(FreshBlocksTest, WhatACompactionCopiesStaysCached) {
  fill_the_last_level();
  ASSERT_EQ(reads_for_all(), 0u);
  merge_the_last_rows();
  ASSERT_GT(copied_bytes_, 0u);
  EXPECT_EQ(reads_for_all(), 0u);
  cache_->check_invariants();
}

TEST_F(FreshBlocksTest, WhatACompactionCopiesAndNobodyReadsIsNotCached) {
  fill_the_last_level();
  reopen();
  merge_the_last_rows();
  ASSERT_GT(copied_bytes_, 0u);
  EXPECT_LE(cached_blocks(), 20u);
}

TEST_F(FreshBlocksTest, ACompactionOfWhatNobodyReadsCachesNothing) {
  write();
  ASSERT_TRUE(engine_->flush().ok());
  write();
  ASSERT_TRUE(engine_->flush().ok());
  reopen();  // with an empty cache
  const std::uint64_t merges = engine_->statistics().compaction_written_bytes;
  ASSERT_TRUE(engine_->compact().ok());
  ASSERT_GT(engine_->statistics().compaction_written_bytes, merges);
  EXPECT_EQ(cached_blocks(), 0u);
  EXPECT_GT(reads_for_all(), 10u);
}

TEST_F(FreshBlocksTest, OldBlocksLeaveWithTheirFiles) {
  write();
  ASSERT_TRUE(engine_->flush().ok());
  const std::uint64_t of_one_file = cached_blocks();
  for (int i = 0; i < 5; ++i) {
    write();
    ASSERT_TRUE(engine_->flush().ok());
    ASSERT_TRUE(engine_->compact().ok());
  }
  EXPECT_EQ(reads_for_all(), 0u);
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_LE(cached_blocks(), of_one_file + of_one_file / 2);
}

class GivenUpFile : public FreshBlocksTest, public testing::WithParamInterface<io::SyncPoint> {};

/// Tests complete files that no manifest names, and files that were never complete.
TEST_P(GivenUpFile, LeavesNothingInTheCache) {
  write();
  io::FaultRule rule;
  rule.sync_point = GetParam().name;
  rule.fail_count = io::FaultRule::kFromThenOn;
  machine_.files->faults().add(rule);
  EXPECT_FALSE(engine_->flush().ok());
  (void)engine_->close();
  engine_.reset();  // No attempt is running afterwards.
  EXPECT_GT(machine_.files->faults().hit_count(), 0u);
  EXPECT_EQ(cached_blocks(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Points, GivenUpFile, testing::Values(sync_points::kTable, sync_points::kTableNames));

class FreshBlocksWithoutCache : public FreshBlocksTest {
 protected:
  void SetUp() override {
    cache_bytes_ = 0;
    FreshBlocksTest::SetUp();
  }
};

TEST_F(FreshBlocksWithoutCache, EverythingIsReadFromTheDisk) {
  write();
  ASSERT_TRUE(engine_->flush().ok());
  EXPECT_EQ(cached_blocks(), 0u);
  EXPECT_GT(reads_for_all(), 10u);
}

}  // namespace
}  // namespace varve::engine::fresh_blocks_test
