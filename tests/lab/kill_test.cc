// Goal: acknowledged operations survive the death of the process at any time and place, and under any refused resource.
// Method: a fixed share of the suite. Also, ledgers with claims that the store does not fulfil, which the checker must
// detect.
#include "tests/lab/kill/kill.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/io/temporary_directory.h"
#include "tests/lab/kill/outbox.h"
#include "tests/lab/kill/writer.h"
#include "tests/support/effort.h"

namespace varve::lab::kill_test {
namespace {

void expect_none(const Report& report) {
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << "seed " << finding.seed << ", " << finding.part << ": " << finding.what << "\n" << finding.detail;
  }
}

Report run_part(const std::string& part, std::uint64_t rounds, std::uint64_t lives) {
  const io::TemporaryDirectory directory;
  Share share{.seed = 1, .rounds = rounds, .only = part, .directory = directory.path()};
  return run_kill(share, KillEffort{.lives = lives});
}

TEST(Kill, WhatAKilledWriterWasPromisedIsThere) {
  const std::uint64_t lives = test::effort<std::uint64_t>(7);
  Report report = run_part("writers", 2, lives);
  expect_none(report);
  EXPECT_EQ(report.counts["checks"], 2 * lives);
  EXPECT_EQ(report.counts["kills by step"] + report.counts["kills by time"] + report.counts["clean ends"], 2 * lives);
  EXPECT_GE(report.counts["kills by step"] + report.counts["kills by time"], lives);
  EXPECT_GE(report.counts["operations"], lives);
}

TEST(Kill, AnOutboxLosesNoMessageAndDeliversNoneWithoutItsEntityOrAfterItsDelete) {
  const std::uint64_t lives = test::effort<std::uint64_t>(24);
  Report report = run_part("outbox", 2, lives);
  expect_none(report);
  EXPECT_GE(report.counts["checks of outboxes"], 2u);
  EXPECT_EQ(report.counts["kills of outboxes"] + report.counts["clean ends"], 2 * lives);
  EXPECT_GE(report.counts["kills of outboxes"], lives);
  EXPECT_GE(report.counts["messages put"], lives);
  EXPECT_GE(report.counts["messages deleted"], lives);
}

TEST(Kill, OneOfManyOpenersWinsAndAForkOfItDoesNot) {
  Report report = run_part("locks", 1, 0);
  expect_none(report);
  EXPECT_EQ(report.counts["lock races"], 2u);
  EXPECT_EQ(report.counts["openers refused"], 10u);
  EXPECT_EQ(report.counts["forks refused"], 1u);
}

TEST(Kill, LimitsOfTheSystemLoseNothing) {
  Report report = run_part("limits", 2, 0);
  expect_none(report);
  EXPECT_EQ(report.counts["runs under few descriptors"], 4u);
  EXPECT_EQ(report.counts["runs under a bound on files"], 4u);
  EXPECT_GE(report.counts["went on after the limit"] + report.counts["the limit met the log"], 2u);
}

TEST(Kill, ASmallDiskIsFullAgainAndAgain) {
  Report report = run_part("small-disk", 1, 0);
  expect_none(report);
  EXPECT_EQ(report.counts["small disks mounted"] + report.counts["small disks in memory"], 1u);
  EXPECT_GE(report.counts["times full"], 10u);
}

/// A store that a writer filled and closed, and its ledger.
class KillChecker : public ::testing::Test {
 protected:
  void SetUp() override {
    life_.directory = directory_.path();
    life_.operations_max = 30;
    const ChildEnd end = wait_for(start_child([&] { return run_writer(life_, *ledger_); }));
    ASSERT_EQ(end.text, "") << ledger_->complaint();
    ASSERT_EQ(ledger_->complaint(), "");
    ASSERT_EQ(ledger_->threads[0].acknowledged, 30u);
  }
  std::string complaint() {
    wait_for(start_child([&] { return run_checker(life_, *ledger_); }));
    return ledger_->complaint();
  }
  const io::TemporaryDirectory directory_;
  SharedLedger ledger_;
  Life life_;
};

TEST_F(KillChecker, AcceptsWhatIsThere) {
  EXPECT_EQ(complaint(), "");
}

TEST_F(KillChecker, FindsALostOperation) {
  ledger_->threads[1].begun = 32;
  ledger_->threads[1].acknowledged = 31;
  EXPECT_NE(complaint().find("thread 1 after operation 31"), std::string::npos) << complaint();
}

TEST_F(KillChecker, FindsAnOperationThatWasNotBegun) {
  ledger_->threads[2].begun = 29;
  ledger_->threads[2].acknowledged = 29;
  EXPECT_NE(complaint().find("thread 2 after operation 29"), std::string::npos) << complaint();
}

TEST_F(KillChecker, FindsAVersionThatWentBack) {
  ledger_->version = ledger_->version + 1'000'000'000;
  EXPECT_EQ(complaint(), "the store went back to an older version");
}

/// A queue whose messages are all done, and the ledger of it.
class OutboxChecker : public ::testing::Test {
 protected:
  void SetUp() override {
    life_.directory = directory_.path();
    life_.items_max = 20;
    wait_for(start_child([&] { return run_outbox(life_, *ledger_); }));
    ASSERT_EQ(ledger_->common.complaint(), "");
    ASSERT_EQ(ledger_->next_item, 40u);
  }
  std::string complaint() {
    wait_for(start_child([&] { return run_outbox_checker(life_, *ledger_); }));
    return ledger_->common.complaint();
  }
  const io::TemporaryDirectory directory_;
  SharedOutboxLedger ledger_;
  OutboxLife life_;
};

TEST_F(OutboxChecker, AcceptsWhatIsDone) {
  EXPECT_EQ(complaint(), "");
}

TEST_F(OutboxChecker, FindsALostMessage) {
  ledger_->items[7].delete_begun = false;
  EXPECT_EQ(complaint(), "message 7 was lost");
}

TEST_F(OutboxChecker, FindsAnEntityWithoutItsMessage) {
  ledger_->items[8].delivered = false;
  EXPECT_EQ(complaint(), "message 8 is missing, and its entity is there");
}

TEST_F(OutboxChecker, FindsAMessageWithoutItsEntity) {
  ledger_->items[40].delivered = true;
  ledger_->next_item = 41;
  EXPECT_EQ(complaint(), "message 40 was delivered, and its entity is gone");
}

TEST_F(OutboxChecker, FindsADeliveryAfterTheDelete) {
  life_.workers = 0;
  life_.items_max = 1;
  life_.producers = 1;
  ledger_->items[40].deleted_at = 1;
  wait_for(start_child([&] { return run_outbox(life_, *ledger_); }));
  EXPECT_EQ(complaint(), "message 40 was delivered after its delete was acknowledged");
}

TEST_F(KillChecker, FindsALostStore) {
  std::filesystem::remove(life_.store() + "/CURRENT");
  EXPECT_NE(complaint(), "");
}

}  // namespace
}  // namespace varve::lab::kill_test
