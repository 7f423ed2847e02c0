// Goal: the law holds after a crash at every step of every scenario (more than 40): after a kill and after several
// kinds of power cuts at each step.
// Method: tests/lab/crash. The soak runs longer shares with other images.
#include "tests/lab/crash/crash.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/lab/scenario/judgement.h"

namespace varve::lab::crash_test {
namespace {

constexpr std::uint64_t kSeed = 1;

class CrashPoints : public testing::TestWithParam<std::size_t> {};

TEST_P(CrashPoints, LeaveAPrefixWithEverythingAcknowledged) {
  const Scenario& scenario = scenarios()[GetParam()];
  Share share;
  share.seed = kSeed;
  share.only = std::string(scenario.name);
  const Report report = crash_points(share);
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.what << "\n" << finding.detail << "\nseed " << finding.seed;
  }
  const auto recoveries = report.counts.find("recoveries");
  ASSERT_NE(recoveries, report.counts.end());
  EXPECT_GE(recoveries->second, 12u) << "hardly anything was looked at";
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  std::string name;
  bool begins = true;
  for (const char c : scenarios()[info.param].name) {
    if (c == '-') {
      begins = true;
    } else {
      name += begins ? static_cast<char>(c - 'a' + 'A') : c;
      begins = false;
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, CrashPoints, testing::Range<std::size_t>(0, scenarios().size()), name_of);

TEST(CrashPointsOnRados, LeaveAPrefixWithEverythingAcknowledged) {
  std::uint64_t recoveries = 0;
  for (const char* const name : {"insert-buffered", "log-recycled", "index-build", "drop-flushed-table",
                                 "load-unsorted", "merge-repeatedly", "large-values", "recover-killed", "checkpoint"}) {
    Share share;
    share.seed = kSeed;
    share.only = name;
    share.machine = std::string(kRados);
    const Report report = crash_points(share);
    for (const Finding& finding : report.findings) {
      ADD_FAILURE() << finding.what << "\n" << finding.detail << "\nseed " << finding.seed;
    }
    recoveries += report.counts.at("recoveries on RADOS");
  }
  EXPECT_GE(recoveries, 90u) << "hardly anything was looked at";
}

/// Returns the run from which the planted errors below are made.
CrashRun run_of_inserts() {
  return run_to_crash(*find_scenario("insert-sync"), kSeed);
}

TEST(CrashLaw, FindsAnAcknowledgedWriteThatIsLost) {
  const CrashRun run = run_of_inserts();
  Image early = run.images.front();
  ASSERT_EQ(check_image(early, run.ledger, {}, kSeed), "");
  early.mark = run.images.back().mark;  // promises more than the disk contains
  EXPECT_NE(check_image(early, run.ledger, {}, kSeed).find("acknowledged and lost"), std::string::npos);
}

TEST(CrashLaw, JudgesByTheVersionThatTheOpenRecoveredIfTheStoreHasWrittenSince) {
  const CrashRun run = run_of_inserts();
  const Image& early = run.images.front();
  const Opened opened = open_copy(early.remains, kSeed, {});
  ASSERT_TRUE(opened.store != nullptr);
  const Result<Content> found = read_content(*opened.store);
  ASSERT_TRUE(found.ok());
  const std::uint64_t later = run.images.back().mark.highest_version + 1;
  const Judgement judged = judge_opened(run.ledger, early.mark, early.killed, early.remains, later, *found);
  EXPECT_EQ(judged.broken, "");
  EXPECT_EQ(judged.version, (*opened.store->statistics()).visible_version.ticks);
  const Ledger::Mark& promised = run.images.back().mark;
  const Judgement lost = judge_opened(run.ledger, promised, early.killed, early.remains, later, *found);
  EXPECT_NE(lost.broken.find("acknowledged and lost"), std::string::npos) << lost.broken;
}

TEST(CrashLaw, FindsAWriteThatNobodyMade) {
  const CrashRun run = run_of_inserts();
  const Ledger forgetful;  // a ledger without any write
  Image last = run.images.back();
  last.mark = {};
  EXPECT_NE(check_image(last, forgetful, {}, kSeed).find("no prefix"), std::string::npos);
}

TEST(CrashLaw, FindsADiskThatDoesNotOpen) {
  const CrashRun run = run_of_inserts();
  Image last = run.images.back();
  ASSERT_TRUE(last.remains.disk.remove_file("/store/CURRENT").ok());
  EXPECT_NE(check_image(last, run.ledger, {}, kSeed), "");
}

TEST(CrashLaw, FindsAFileThatNothingNames) {
  const CrashRun run = run_of_inserts();
  Opened opened = open_copy(run.images.back().remains, kSeed, {});
  ASSERT_TRUE(opened.store != nullptr);
  ASSERT_TRUE(opened.store->close().ok());
  io::MemoryDisk closed = opened.machine->files->snapshot().disk;
  EXPECT_EQ(check_files(closed, kStorePath), "");
  closed.write_file("/store/000099.sst", {});
  EXPECT_NE(check_files(closed, kStorePath).find("000099.sst"), std::string::npos);
}

}  // namespace
}  // namespace varve::lab::crash_test
