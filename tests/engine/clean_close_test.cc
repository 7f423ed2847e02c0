// Goal: a clean close leaves nothing to replay, or so little that the replay is cheaper than a table file.
// Method: stores with a long log, with a short log, and with a log whose commits are all in tables, each closed and
// opened again. The figures of the recovery say what it read.
#include <string>

#include <gtest/gtest.h>

#include "io/simulated/fault_plan.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::clean_close_test {
namespace {

using test::Change;
using test::Machine;
using test::value_of;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::size_t kRows = 40;

class CleanClose : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    Result<std::unique_ptr<Engine>> opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  void write(std::size_t value_bytes) {
    for (std::size_t row = 0; row < kRows; ++row) {
      ASSERT_TRUE(Change().put("p", std::to_string(row), std::string(value_bytes, 'v')).commit(*engine_).ok());
    }
  }
  void reopen() {
    ASSERT_TRUE(engine_->close().ok());
    open();
  }
  void expect_rows(std::size_t value_bytes) {
    for (std::size_t row = 0; row < kRows; ++row) {
      ASSERT_EQ(value_of(*engine_, "p", std::to_string(row)), std::string(value_bytes, 'v'));
    }
  }
  RecoveryStatistics recovery() const { return engine_->statistics().recovery; }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CleanClose, AfterALongLogLeavesNothingToReplay) {
  write(2 * kMiB / kRows);
  reopen();
  EXPECT_TRUE(recovery().clean);
  EXPECT_EQ(recovery().commits, 0u);
  EXPECT_EQ(recovery().log_bytes, 0u);
  expect_rows(2 * kMiB / kRows);
}

TEST_F(CleanClose, OfManyShortSessionsBoundsWhatTheNextOneReplays) {
  for (int session = 0; session < 12; ++session) {
    write(100);  // each commit takes a sector of the log
    ASSERT_NO_FATAL_FAILURE(reopen());
    ASSERT_LT(recovery().log_bytes, kMiB);
    expect_rows(100);
  }
}

TEST_F(CleanClose, RemovesALogWhoseCommitsAreAllInTables) {
  write(100);
  ASSERT_TRUE(engine_->flush().ok());
  reopen();
  EXPECT_TRUE(recovery().clean);
  EXPECT_EQ(recovery().log_records, 0u);
  expect_rows(100);
}

TEST_F(CleanClose, KeepsTheLogWhenTheTableCannotBeWritten) {
  write(2 * kMiB / kRows);
  io::FaultRule rule;
  rule.kind = io::OperationKind::kCreate;
  rule.name_suffix = ".sst";
  rule.fail_count = io::FaultRule::kFromThenOn;
  machine_.files->faults().add(rule);
  const Status closed = engine_->close();
  EXPECT_TRUE(closed.ok()) << closed.to_string();
  EXPECT_GT(machine_.files->faults().hit_count(), 0u);
  machine_.files->faults().clear();
  open();
  EXPECT_TRUE(recovery().clean);
  EXPECT_EQ(recovery().commits, kRows);
  expect_rows(2 * kMiB / kRows);
}

TEST_F(CleanClose, CrashedAtEveryStepLosesNothing) {
  write(kMiB / kRows + 1'000);
  std::vector<io::MemoryDisk> disks;
  io::SeededRandom random(7);
  std::uint64_t steps = 0;
  machine_.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (!io::is_mutating(operation.kind) || moment == io::Moment::kDuring) return;
    if (++steps % 3 != 0) return;
    for (io::MemoryDisk& disk : machine_.files->power_cuts(random, 2)) disks.push_back(std::move(disk));
  });
  ASSERT_TRUE(engine_->close().ok());
  machine_.files->set_observer({});
  ASSERT_GT(disks.size(), 10u);
  for (io::MemoryDisk& disk : disks) {
    Machine after(3, std::move(disk));
    Result<std::unique_ptr<Engine>> opened = after.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    for (std::size_t row = 0; row < kRows; ++row) {
      ASSERT_NE(value_of(**opened, "p", std::to_string(row)), "-");
    }
    ASSERT_TRUE((*opened)->close().ok());
  }
}

}  // namespace
}  // namespace varve::engine::clean_close_test
