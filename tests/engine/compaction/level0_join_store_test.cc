// Goal: flushes that become one file of level 0 show every version as before, lose nothing if that merge fails or the process
// ends after it, and leave the base as it was.
// Method: a base of many small files, and as many small flushes as fill level 0, with updates, deletes and snapshots. Every
// held version is compared with its rows.
#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/engine/compaction/held_rows.h"
#include "tests/support/effort.h"

namespace varve::engine::level0_join_store_test {
namespace {

constexpr int kTurnsMax = 1'000'000;

class JoinedFlushes : public HeldRows {
 protected:
  // Updates are so few and small that a flush is one file, and all of them together are small beside the base.
  JoinedFlushes() : HeldRows(10, 3) {}
  void SetUp() override {
    engine_ = *machine_.open();
    make_base(*engine_, rows_);
    base_ = level(kLastLevel);
  }
  /// Writes one flush less than fills level 0.
  void nearly_fill() {
    for (std::uint32_t file = 1; file < tree_shape().level0_flushes; ++file) write_flush();
    ASSERT_EQ(level(0).files, tree_shape().level0_flushes - 1);
  }
  void write_flush() {
    write(25);
    held_.emplace_back(engine_->snapshot(), rows_);
    write(15);
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
  }
  void await_files_of_level0(std::uint64_t count) {
    for (int i = 0; i < kTurnsMax && level(0).files != count; ++i) machine_.scheduler().yield();
    ASSERT_EQ(level(0).files, count);
  }
  void expect_base_unchanged() const {
    EXPECT_EQ(level(kLastLevel).files, base_.files);
    EXPECT_EQ(level(kLastLevel).bytes, base_.bytes);
    EXPECT_EQ(level(kLastLevel).entries, base_.entries);
  }

  LevelStatistics base_;
};

TEST_P(JoinedFlushes, ShowEveryVersionBeforeAndAfterACrash) {
  nearly_fill();
  write_flush();
  await_files_of_level0(1);
  expect_base_unchanged();
  check(*engine_);

  Machine other(1, machine_.files->snapshot());  // The process ends here.
  const auto reopened = *other.open();
  check(*reopened);
  EXPECT_EQ(reopened->compact().to_string(), "Ok");
  check(*reopened);

  held_.clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
}

TEST_P(JoinedFlushes, StayApartAfterAFailureAndBecomeOneLater) {
  nearly_fill();
  io::FaultRule rule;
  rule.sync_point = sync_points::kTable.name;
  rule.skip_count = 1;  // the flush
  rule.fail_count = 1;
  rule.code = Code::kNoSpace;
  machine_.files->faults().add(rule);
  write_flush();
  check(*engine_);
  await_files_of_level0(1);  // after a rest
  expect_base_unchanged();
  check(*engine_);
}

TEST_P(JoinedFlushes, BesideWritersKeepTheNewestVersions) {
  nearly_fill();
  io::FaultRule rule;
  rule.sync_point = sync_points::kTable.name;
  rule.skip_count = 1;
  rule.fail_count = 1;
  rule.effect = io::FaultEffect::kNever;
  machine_.files->faults().add(rule);
  write_flush();
  machine_.files->await_stuck(1);
  write_flush();
  check(*engine_);
  machine_.files->let_go();
  await_files_of_level0(2);
  check(*engine_);
  for (std::uint32_t flush = 2; flush < tree_shape().level0_flushes; ++flush) write_flush();
  await_files_of_level0(1);
  expect_base_unchanged();
  check(*engine_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, JoinedFlushes, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

}  // namespace
}  // namespace varve::engine::level0_join_store_test
