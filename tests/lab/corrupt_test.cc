// Goal: every change of a cleanly closed store is detected, and a crashed store lacks only data that the law allows it
// to lose.
// Method: a fixed share of the suite; also, broken stores that the judge must detect.
#include "tests/lab/corrupt/corrupt.h"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/lab/corrupt/judge.h"
#include "tests/lab/isolated/isolated.h"
#include "tests/support/effort.h"

namespace varve::lab::corrupt_test {
namespace {

void expect_none(const Report& report) {
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << "seed " << finding.seed << ", " << finding.part << ": " << finding.what << "\n" << finding.detail;
  }
}

TEST(Corrupt, NoDamageGoesUnnoticed) {
  CorruptEffort effort;
  effort.flips_max = test::effort(effort.flips_max);
  effort.cuts_max = test::effort(effort.cuts_max);
  const Report report = run_corrupt(Share{.seed = 1}, effort);
  expect_none(report);
  const auto counted = [&](const std::string& name) {
    const auto at = report.counts.find(name);
    return at == report.counts.end() ? 0 : at->second;
  };
  EXPECT_EQ(counted("stores"), 5u);
  EXPECT_GE(counted("cases"), test::effort(12'000u));
  for (const std::string kind :
       {"header", "fields", "checksum", "manifest edit", "group", "footer", "slot header", "data block",
        "filter partition", "index partition", "dictionary", "table directory", "properties", "top index"}) {
    EXPECT_GE(counted("region " + kind), 1u) << kind;
  }
  for (const std::string kind :
       {"flip", "cut", "extend", "zero", "swap", "missing", "empty", "double", "rename", "root-and-manifest",
        "stale-block", "replayed-file", "foreign-block", "foreign-file", "checkpoint-block", "another-file"}) {
    EXPECT_GE(counted("damage " + kind), 1u) << kind;
  }
  for (const std::string outcome : {"refused", "quarantined", "repaired", "shortened", "rolled back"}) {
    EXPECT_GE(counted("outcome " + outcome), 1u) << outcome;
  }
}

class CorruptJudge : public ::testing::Test {
 protected:
  Verdict verdict_of(const Damage& damage, const io::MemoryDisk& disk) const {
    return judge_.judge(damage, disk, true);
  }
  static const io::MemoryDisk& other(const Sample& sample, std::string_view name) {
    for (const OtherDisk& one : sample.others) {
      if (one.name == name) return one.disk;
    }
    std::abort();
  }
  const Sample sample_ = make_clean_sample(1);
  const Victim victim_{sample_};
  const Judge judge_{victim_};
  const Damage flip_{.kind = DamageKind::kFlip, .file = "CURRENT", .offset = 9, .mask = 1};
};

TEST_F(CorruptJudge, CallsDamageThatNothingNoticesAFinding) {
  const Verdict verdict = verdict_of(flip_, sample_.disk);
  EXPECT_EQ(verdict.outcome, Outcome::kBroken);
  EXPECT_EQ(verdict.what, "nothing noticed the damage");
}

TEST_F(CorruptJudge, CallsAnOlderStateAFinding) {
  const Verdict verdict = verdict_of(flip_, other(sample_, "older"));
  EXPECT_EQ(verdict.outcome, Outcome::kBroken);
  EXPECT_EQ(verdict.what, "it opened at a version that was never shown");
}

TEST_F(CorruptJudge, CallsARefusalThatNamesAnotherFileAFinding) {
  const Damage elsewhere{.kind = DamageKind::kFlip, .file = "000001.wal", .offset = 9, .mask = 1};
  const Verdict verdict = verdict_of(elsewhere, *victim_.apply(flip_));
  EXPECT_EQ(verdict.outcome, Outcome::kBroken);
  EXPECT_EQ(verdict.what, "the refusal names another file");
}

TEST_F(CorruptJudge, CallsAWrongAnswerAFinding) {
  Sample lying = sample_;
  StoreContent content = sample_.content();
  ASSERT_FALSE(content.tables.empty());
  content.tables.back().entities.emplace_back("a row", "that was never there");
  lying.history[lying.version] = std::make_shared<const StoreContent>(std::move(content));
  const Victim victim(lying);
  EXPECT_EQ(Judge(victim).judge(flip_, lying.disk, false).outcome, Outcome::kBroken);
}

TEST(CorruptJudgeOfACrash, CallsALogThatEndsBeforeTheDamageAFinding) {
  const Sample sample = make_killed_sample(1);
  const Victim victim(sample);
  const Judge judge(victim);
  // The damage passed to the judge is a flip in the log buffer. The real change also removes all records of the log.
  Damage told{.kind = DamageKind::kFlip, .offset = 9, .mask = 1};
  io::MemoryDisk disk = sample.disk;
  for (const std::string& name : victim.names()) {
    if (name.ends_with(".buf")) told.file = name;
    if (!name.ends_with(".buf") && !name.ends_with(".wal")) continue;
    std::vector<std::byte> bytes = *disk.read_file(sample_path(name));
    if (bytes.size() > 4096) std::fill(bytes.begin() + 4096, bytes.end(), std::byte{0});
    disk.write_file(sample_path(name), bytes);
  }
  const Verdict verdict = judge.judge(told, disk, false);
  EXPECT_EQ(verdict.outcome, Outcome::kBroken) << outcome_name(verdict.outcome);
  EXPECT_EQ(verdict.what, "commits before the damage are missing") << verdict.detail;
}

TEST(Isolated, ACaseThatCrashesOrHangsIsAFindingAndTheOthersRun) {
  const IsolatedRun run = run_isolated(10, 60, [](std::size_t index) {
    if (index == 3) std::raise(SIGKILL);
    if (index == 5) std::raise(SIGALRM);  // the signal for a case that takes too long
    if (index == 7) return CaseResult{1, "a law", "broken"};
    return CaseResult{2};
  });
  ASSERT_EQ(run.codes.size(), 10u);
  EXPECT_EQ(run.codes[3], kCrashedCode);
  EXPECT_EQ(run.codes[5], kCrashedCode);
  EXPECT_EQ(run.codes[9], 2);
  ASSERT_EQ(run.failures.size(), 3u);
  EXPECT_EQ(run.failures[0].index, 3u);
  EXPECT_EQ(run.failures[0].what, "the case crashes: signal 9");
  EXPECT_EQ(run.failures[1].what, "the case hangs");
  EXPECT_EQ(run.failures[2].what, "a law");
}

}  // namespace
}  // namespace varve::lab::corrupt_test
