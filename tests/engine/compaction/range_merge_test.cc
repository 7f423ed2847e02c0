// Goal: a merge of level 0 that is cut into ranges shows every version right between two ranges, loses nothing if a range
// fails or the process ends there, and leaves level 0 only when all ranges are published.
// Method: a base of many small files, and a few files of level 0 over all of it, with updates, deletes and snapshots. The
// n-th new table file is held up, or fails. Meanwhile every held version is compared with its rows.
#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/engine/compaction/held_rows.h"
#include "tests/support/effort.h"

namespace varve::engine::range_merge_test {
namespace {

constexpr std::size_t kLevel0Files = 4;
constexpr int kTurnsMax = 1'000'000;

class RangeMerge : public HeldRows {
 protected:
  // Updates are so few and small that a flush is one file.
  RangeMerge() : HeldRows(10, 3) {}
  void SetUp() override {
    engine_ = *machine_.open();
    make_base(*engine_, rows_);
    for (std::size_t file = 0; file < kLevel0Files; ++file) {
      write(25);
      held_.emplace_back(engine_->snapshot(), rows_);
      write(15);
      ASSERT_EQ(engine_->flush().to_string(), "Ok");
    }
    ASSERT_EQ(level(0).files, kLevel0Files);
    check(*engine_);
  }

  /// Returns the number of blocks in which a get of each row looks.
  std::uint64_t blocks_of_gets() const {
    ReadCost cost;
    for (std::uint64_t row = 0; row < kRowCount; ++row) EXPECT_TRUE(engine_->view().get(key_of(row), &cost).ok());
    return cost.blocks_read + cost.blocks_from_cache;
  }

  /// The rule applies to the sync of the n-th new table file.
  io::FaultRule at_new_file(std::uint64_t number, io::FaultEffect effect) const {
    io::FaultRule rule;
    rule.sync_point = sync_points::kTable.name;
    rule.skip_count = number;
    rule.fail_count = 1;
    rule.effect = effect;
    return rule;
  }
};

TEST_P(RangeMerge, ShowsEveryVersionBetweenTwoRanges) {
  io::MemoryFileSystem& files = *machine_.files;
  const std::uint64_t entries_before = level(kLastLevel).entries;
  const std::uint64_t blocks_before = blocks_of_gets();
  files.faults().add(at_new_file(3 + GetParam() % 3, io::FaultEffect::kNever));
  Status compacted;
  io::Thread caller = *machine_.scheduler().start("caller", [&] { compacted = engine_->compact(); });
  files.await_stuck(1);
  // The other ranges go on. The first one that is published may have hardly any of the gets.
  const auto was_passed = [&] {
    return level(kLastLevel).entries != entries_before && blocks_of_gets() + 20 < blocks_before;
  };
  for (int i = 0; i < kTurnsMax && !was_passed(); ++i) machine_.scheduler().yield();
  EXPECT_EQ(level(0).files, kLevel0Files) << "level 0 left before the last range";
  EXPECT_NE(level(kLastLevel).entries, entries_before) << "no range was published by itself";
  EXPECT_LT(blocks_of_gets() + 20, blocks_before) << "gets still look in level 0";
  check(*engine_);

  Machine other(1, files.snapshot());  // The process ends here.
  const auto reopened = *other.open();
  check(*reopened);
  EXPECT_EQ(reopened->compact().to_string(), "Ok");
  check(*reopened);

  files.let_go();
  caller.join();
  EXPECT_EQ(compacted.to_string(), "Ok");
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
}

TEST_P(RangeMerge, ThatFailsInOneRangeKeepsLevel0AndSucceedsLater) {
  io::FaultRule rule = at_new_file(GetParam() % 5, io::FaultEffect::kError);
  rule.code = Code::kNoSpace;
  machine_.files->faults().add(rule);
  EXPECT_EQ(engine_->compact().code(), Code::kNoSpace);
  EXPECT_EQ(level(0).files, kLevel0Files);
  check(*engine_);
  machine_.files->faults().clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
}

TEST_P(RangeMerge, BesideADropOfItsTableLeavesNothing) {
  io::MemoryFileSystem& files = *machine_.files;
  files.faults().add(at_new_file(3 + GetParam() % 3, io::FaultEffect::kNever));
  io::Thread caller = *machine_.scheduler().start("caller", [&] { (void)engine_->compact(); });
  files.await_stuck(1);
  ASSERT_TRUE(Change().retire(test::kTable).commit(*engine_).ok());
  files.let_go();
  caller.join();
  held_.clear();
  rows_.clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  check(*engine_);
  for (std::uint32_t number = 0; number < kLevelCount; ++number) EXPECT_EQ(level(number).files, 0u);
}

TEST_P(RangeMerge, BesideWritersKeepsTheNewestVersions) {
  io::MemoryFileSystem& files = *machine_.files;
  files.faults().add(at_new_file(3 + GetParam() % 3, io::FaultEffect::kNever));
  io::Thread caller = *machine_.scheduler().start("caller", [&] { (void)engine_->compact(); });
  files.await_stuck(1);
  write(80);
  held_.emplace_back(engine_->snapshot(), rows_);
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  write(80);
  check(*engine_);
  files.let_go();
  caller.join();
  check(*engine_);
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  check(*engine_);
  EXPECT_EQ(level(0).files, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RangeMerge, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

}  // namespace
}  // namespace varve::engine::range_merge_test
