// Goal: for every order in which threads run, one order of operations explains the results of a store's clients. It is
// the order of commit versions. A seed always runs in the same way.
// Method: tests/lab/schedules: a fixed share of its rounds, and proofs that its checks reject histories that are known
// to be bad. Repeat a finding with `varve-lab schedules --seed N`.
#include "tests/lab/schedules/schedules.h"

#include <gtest/gtest.h>

#include "tests/lab/schedules/history.h"
#include "tests/lab/schedules/recorder.h"
#include "tests/support/effort.h"

namespace varve::lab::schedules_test {
namespace {

// -- Histories of one object with only cell 0 -------------------------------------------------------------------------

HistoryOperation writes(std::uint64_t invoked, std::uint64_t returned, std::int64_t value) {
  HistoryOperation operation;
  operation.invoked = invoked;
  operation.returned = returned;
  operation.sets = {{0, value}};
  return operation;
}

HistoryOperation reads(std::uint64_t invoked, std::uint64_t returned, std::int64_t value) {
  HistoryOperation operation;
  operation.invoked = invoked;
  operation.returned = returned;
  operation.needs = {{0, true, value}};
  return operation;
}

/// Returns a successful replacement of `from` by `to`.
HistoryOperation swaps(std::uint64_t invoked, std::uint64_t returned, std::int64_t from, std::int64_t to) {
  HistoryOperation operation = writes(invoked, returned, to);
  operation.needs = {{0, true, from}};
  return operation;
}

HistoryOperation perhaps(HistoryOperation operation) {
  operation.certain = false;
  operation.returned = HistoryOperation::kNever;
  return operation;
}

Linearity verdict_of(const std::vector<HistoryOperation>& history) {
  return judge_history(history, 2);
}

TEST(LabHistory, WhatHappenedOneAfterTheOtherIsAccepted) {
  EXPECT_EQ(verdict_of({}), Linearity::kLinearizable);
  EXPECT_EQ(verdict_of({reads(1, 2, 0), writes(3, 4, 7), reads(5, 6, 7), swaps(7, 8, 7, 9), reads(9, 10, 9)}),
            Linearity::kLinearizable);
}

TEST(LabHistory, OperationsSideBySideMayHaveHappenedInAnyOrder) {
  EXPECT_EQ(verdict_of({writes(1, 10, 1), writes(2, 9, 2), reads(3, 4, 2), reads(5, 6, 1)}), Linearity::kLinearizable);
  EXPECT_EQ(verdict_of({writes(1, 10, 1), reads(2, 3, 0), reads(4, 5, 1)}), Linearity::kLinearizable);
}

TEST(LabHistory, AStaleReadIsRefused) {
  EXPECT_EQ(verdict_of({writes(1, 2, 1), writes(3, 4, 2), reads(5, 6, 1)}), Linearity::kNotLinearizable);
  EXPECT_EQ(verdict_of({writes(1, 2, 1), reads(3, 4, 0)}), Linearity::kNotLinearizable);
}

TEST(LabHistory, ALostUpdateIsRefused) {
  EXPECT_EQ(verdict_of({writes(1, 2, 1), swaps(3, 6, 1, 2), swaps(4, 5, 1, 3)}), Linearity::kNotLinearizable);
}

TEST(LabHistory, TwoReadersWhoSawTwoWritesInTwoOrdersAreRefused) {
  EXPECT_EQ(verdict_of({writes(1, 20, 1), writes(2, 19, 2), reads(3, 4, 1), reads(5, 6, 2), reads(7, 8, 1)}),
            Linearity::kNotLinearizable);
}

TEST(LabHistory, AReadOfWhatWasWrittenOnlyLaterIsRefused) {
  EXPECT_EQ(verdict_of({reads(1, 2, 5), writes(3, 4, 5)}), Linearity::kNotLinearizable);
}

TEST(LabHistory, ARefusalThatTheStateDoesNotExplainIsRefused) {
  HistoryOperation insert_refused;  // the entity exists already
  insert_refused.invoked = 3;
  insert_refused.returned = 4;
  insert_refused.needs = {{0, false, 0}};
  EXPECT_EQ(verdict_of({insert_refused}), Linearity::kNotLinearizable);
  EXPECT_EQ(verdict_of({writes(1, 2, 1), insert_refused}), Linearity::kLinearizable);
}

TEST(LabHistory, WhatEndedUnknownMayHaveHappenedLaterOrNot) {
  EXPECT_EQ(verdict_of({perhaps(writes(1, 0, 1)), reads(2, 3, 0)}), Linearity::kLinearizable);
  EXPECT_EQ(verdict_of({perhaps(writes(1, 0, 1)), reads(2, 3, 0), reads(4, 5, 1)}), Linearity::kLinearizable);
}

TEST(LabHistory, WhatEndedUnknownCannotHaveHappenedAndThenNot) {
  EXPECT_EQ(verdict_of({perhaps(writes(1, 0, 1)), reads(2, 3, 1), reads(4, 5, 0)}), Linearity::kNotLinearizable);
  EXPECT_EQ(verdict_of({reads(1, 2, 1), perhaps(writes(3, 0, 1))}), Linearity::kNotLinearizable);
}

TEST(LabHistory, ALostIncrementIsRefused) {
  HistoryOperation first = writes(1, 10, 2);
  first.sets = {{0, 2, true}};
  HistoryOperation second = writes(2, 9, 3);
  second.sets = {{0, 3, true}};
  EXPECT_EQ(verdict_of({first, second, reads(11, 12, 5)}), Linearity::kLinearizable);
  EXPECT_EQ(verdict_of({first, second, reads(11, 12, 3)}), Linearity::kNotLinearizable);
  EXPECT_EQ(verdict_of({first, perhaps(second), reads(11, 12, 2)}), Linearity::kLinearizable);
}

TEST(LabHistory, TwoWhoTookOneNameAreRefused) {
  HistoryOperation taken;
  taken.invoked = 2;
  taken.returned = 9;
  taken.needs = {{0, true, 7}};
  EXPECT_EQ(verdict_of({swaps(1, 10, 0, 7), taken}), Linearity::kLinearizable);
  EXPECT_EQ(verdict_of({swaps(1, 10, 0, 7), swaps(2, 9, 0, 8)}), Linearity::kNotLinearizable);
}

TEST(LabHistory, ABatchIsSeenWholeOrNotAtAll) {
  HistoryOperation batch = writes(1, 10, 1);
  batch.sets.push_back({1, 1});
  HistoryOperation half = reads(2, 3, 1);
  half.needs.push_back({1, true, 0});
  EXPECT_EQ(verdict_of({batch, half}), Linearity::kNotLinearizable);
}

TEST(LabHistory, TheSearchSaysWhenItGaveUp) {
  std::vector<HistoryOperation> many;
  for (std::uint64_t i = 0; i < 24; ++i) many.push_back(writes(i + 1, 1000 + i, static_cast<std::int64_t>(i)));
  many.push_back(reads(2000, 2001, 99));
  EXPECT_EQ(judge_history(many, 2, 100), Linearity::kGivenUp);
}

// -- Versions ---------------------------------------------------------------------------------------------------------

CommitRecord commit_of(std::uint64_t version, std::map<Place, std::int64_t> sets) {
  CommitRecord commit;
  commit.version = version;
  commit.invoked = 2 * version;
  commit.returned = 2 * version + 1;
  commit.sets = std::move(sets);
  return commit;
}

ViewRecord view_of(std::uint64_t moment, std::optional<std::uint64_t> version, std::int64_t first,
                   std::int64_t second) {
  ViewRecord view;
  view.invoked = moment;
  view.returned = moment;
  view.version = version;
  view.content[0][1] = first;
  view.content[1][1] = second;
  return view;
}

constexpr Place kFirst{0, 1};
constexpr Place kSecond{1, 1};

std::size_t findings_of(const std::vector<CommitRecord>& commits, const std::vector<ViewRecord>& views) {
  Recorder recorder;
  for (const CommitRecord& commit : commits) recorder.add(commit);
  for (const ViewRecord& view : views) recorder.add(view);
  return recorder.judge(1).findings.size();
}

TEST(LabRecorder, AViewIsOfOneVersion) {
  const std::vector<CommitRecord> commits{commit_of(10, {{kFirst, 1}}), commit_of(20, {{kSecond, 2}})};
  EXPECT_EQ(findings_of(commits, {view_of(100, std::nullopt, 1, 2), view_of(100, 20, 1, 2)}), 0U);
  EXPECT_EQ(findings_of(commits, {view_of(100, std::nullopt, 0, 2)}), 1U);  // the later commit without the earlier one
  EXPECT_EQ(findings_of(commits, {view_of(100, 20, 1, 0)}), 1U);
  EXPECT_EQ(findings_of(commits, {view_of(100, std::nullopt, 1, 0)}), 1U);  // older than an acknowledged commit
  EXPECT_EQ(findings_of(commits, {view_of(100, 10, 1, 0)}), 1U);
  EXPECT_EQ(findings_of(commits, {view_of(30, 10, 1, 0)}), 0U);
}

TEST(LabRecorder, ABatchIsWholeInEveryView) {
  const std::vector<CommitRecord> commits{commit_of(10, {{kFirst, 1}, {kSecond, 2}})};
  EXPECT_EQ(findings_of(commits, {view_of(5, std::nullopt, 1, 2)}), 0U);
  EXPECT_EQ(findings_of(commits, {view_of(5, std::nullopt, 1, 0)}), 1U);
}

TEST(LabRecorder, VersionsAreUniqueAndRiseWithTime) {
  EXPECT_EQ(findings_of({commit_of(10, {{kFirst, 1}}), commit_of(10, {{kSecond, 2}})}, {}), 1U);
  CommitRecord late = commit_of(10, {{kFirst, 1}});
  late.invoked = 500;
  late.returned = 501;
  EXPECT_EQ(findings_of({late, commit_of(20, {{kSecond, 2}})}, {}), 1U);
}

TEST(LabRecorder, ATransactionThatDidNotSeeTheNewestIsFound) {
  CommitRecord transaction = commit_of(30, {{kSecond, 3}});
  transaction.read_version = 10;
  transaction.reads = {{kFirst, 1}};
  EXPECT_EQ(findings_of({commit_of(10, {{kFirst, 1}}), transaction}, {}), 0U);
  EXPECT_EQ(findings_of({commit_of(10, {{kFirst, 1}}), commit_of(20, {{kFirst, 2}}), transaction}, {}), 1U);
  transaction.reads = {{kFirst, 7}};
  EXPECT_EQ(findings_of({commit_of(10, {{kFirst, 1}}), transaction}, {}), 1U);
}

TEST(LabRecorder, AnETagThatIsNotOfTheLastWriteIsFound) {
  Recorder recorder;
  recorder.add(commit_of(10, {{kFirst, 1}}));
  recorder.saw(1, 11);
  EXPECT_EQ(recorder.judge(1).findings.size(), 1U);
}

// -- The suite --------------------------------------------------------------------------------------------------------

constexpr std::uint64_t kRounds = 200;

void expect_no_findings(const Report& report) {
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what << "\n" << finding.detail;
  }
}

TEST(LabSchedules, AFixedShareOfRoundsHasNoFinding) {
  const Report report = run_schedules({1, test::effort(kRounds), "", "", std::string(kDisk)});
  expect_no_findings(report);
  const auto at_least = [&report](const char* name, std::uint64_t number) {
    const auto found = report.counts.find(name);
    EXPECT_GE(found == report.counts.end() ? 0 : found->second, number / test::kEffortDivisor) << name;
  };
  at_least("schedules", kRounds);
  at_least("determinism pairs", kRounds);
  at_least("histories checked", 6 * kRounds);
  at_least("names that were taken", kRounds / 2);
  at_least("increments", kRounds);
  at_least("operations checked", 10'000);
  at_least("commits", 2500);
  at_least("views at one version", 1000);
  at_least("schedules with faults", 30);
  at_least("schedules with a stuck call", 20);
  at_least("writes that ended Unknown", 15);
  at_least("checkpoints", 100);
  at_least("commits beside a stalled writer", 21 * kRounds);
  EXPECT_EQ(report.counts.count("histories given up"), 0U);
}

TEST(LabSchedules, AFixedShareOfRoundsOnRadosHasNoFinding) {
  const std::uint64_t rounds = test::effort<std::uint64_t>(24);
  const Report report = run_schedules({1, rounds, "", "", std::string(kRados)});
  expect_no_findings(report);
  EXPECT_EQ(report.counts.at("schedules on RADOS"), rounds);
  EXPECT_EQ(report.counts.at("commits beside a stalled writer"), 21 * rounds);
  for (const char* const name : {"commits", "checkpoints", "schedules with faults"}) {
    EXPECT_TRUE(report.counts.contains(name) || test::kEffortDivisor > 1) << name;
  }
  EXPECT_EQ(report.counts.count("histories given up"), 0U);
}

TEST(LabSchedules, OneSeedInEightIsOnRados) {
  std::uint64_t on_rados = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    if (is_on_rados({}, seed)) ++on_rados;
  }
  EXPECT_EQ(on_rados, 10U);
  EXPECT_TRUE(run_schedules(Share{.seed = 3, .rounds = 1}).counts.contains("schedules on RADOS"));
}

}  // namespace
}  // namespace varve::lab::schedules_test
