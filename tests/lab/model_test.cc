// Goal: after any mix of operations, reopens, kills, power cuts and faults the store answers like a model, under every
// choice of options.
// Method: tests/lab/model: a fixed share of its rounds, and proofs that it finds planted errors. Repeat a finding with
// `varve-lab model --seed N`. Store its shortened list in tests/lab/model/regressions.
#include "tests/lab/model/model.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/lab/model/generator.h"
#include "tests/lab/model/run.h"
#include "tests/support/effort.h"

namespace varve::lab::model_test {
namespace {

void expect_no_findings(const Report& report) {
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << "seed " << finding.seed << ": " << finding.what << "\n" << finding.detail;
  }
}

constexpr std::uint64_t kRounds = 200;

TEST(LabModel, AFixedShareOfRoundsHasNoFinding) {
  const Report report = run_model({1, test::effort(kRounds), "", "", std::string(kDisk)});
  expect_no_findings(report);
  const auto at_least = [&report](const char* name, std::uint64_t number) {
    const auto found = report.counts.find(name);
    EXPECT_GE(found == report.counts.end() ? 0 : found->second, number / test::kEffortDivisor) << name;
  };
  at_least("operations", 60'000);
  at_least("commits", 15'000);
  at_least("entities compared", 60'000);
  at_least("power cuts", 300);
  at_least("kills", 120);
  at_least("crash images", 110);
  at_least("reopens", 500);
  at_least("read-only opens", 80);
  at_least("verifications", 30);
  at_least("snapshots read later", 50);
  at_least("pages of walks", 250);
  at_least("checkpoints", 100);
  at_least("loads finished", 80);
  at_least("transactions", 700);
  at_least("transactions in conflict", 200);
  at_least("patches", 150);
  at_least("patches refused", 150);
  at_least("builds", 100);
  at_least("builds refused or ended", 30);
  at_least("indexes dropped", 40);
  at_least("queries with an index", 40);
  at_least("queries at snapshots", 50);
  at_least("builds that found a value twice", 10);
  at_least("writes refused by unique indexes", 5);
  at_least("loads refused by unique indexes", 1);
  at_least("rules of expiry", 100);
  at_least("clocks set back over ends", 1);
  at_least("entities that ended", 100);
  at_least("groups", 1500);
  at_least("groups refused", 1500);
  at_least("faults", 100);
  at_least("disks freed", 5);
  at_least("clock jumps", 300);
  at_least("replays under other options", 40);
}

TEST(LabModel, AFixedShareOfRoundsOnRadosHasNoFinding) {
  const Report report = run_model({1, test::effort<std::uint64_t>(24), "", "", std::string(kRados)});
  expect_no_findings(report);
  for (const char* name : {"commits", "kills", "takeovers", "crash images", "faults"}) {
    EXPECT_TRUE(report.counts.contains(name) || test::kEffortDivisor > 1) << name;
  }
}

/// Returns the first finding in some rounds with an error in the model itself.
std::optional<Finding> finding_of(Planted planted) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Report report = run_model_round(seed, planted);
    if (!report.findings.empty()) return report.findings.front();
  }
  return std::nullopt;
}

void expect_found_and_shrunk(Planted planted, std::size_t operations_max) {
  const std::optional<Finding> finding = finding_of(planted);
  ASSERT_TRUE(finding.has_value());
  const Result<OperationList> list = parse_list(finding->detail);
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  EXPECT_LE(list->operations.size(), operations_max) << finding->detail;
  EXPECT_FALSE(run_list(*list, planted).what.empty()) << finding->detail;
  EXPECT_EQ(run_list(*list).what, "") << finding->detail;
}

TEST(LabModel, AMergeThatForgetsPropertiesIsFoundAndShrunk) {
  expect_found_and_shrunk(Planted::kMergeReplaces, 4);
}

TEST(LabModel, ADurableWriteThatIsLostIsFoundAndShrunk) {
  expect_found_and_shrunk(Planted::kBufferedIsDurable, 8);
}

TEST(LabModel, ADroppedTableThatComesBackIsFoundAndShrunk) {
  expect_found_and_shrunk(Planted::kDropKeepsEntities, 5);
}

TEST(LabModel, AnEntityThatStaysAfterItsEndIsFoundAndShrunk) {
  expect_found_and_shrunk(Planted::kNoEnds, 8);
}

TEST(LabModel, AValueOfAUniqueIndexThatTwoEntitiesHaveIsFoundAndShrunk) {
  expect_found_and_shrunk(Planted::kSharedValues, 8);
}

TEST(LabModel, TheSameListRunsTheSameWayTwice) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(20); ++seed) {
    const OperationList list = make_list(seed);
    const RunResult first = run_list(list);
    const RunResult second = run_list(list);
    EXPECT_EQ(first.answers, second.answers) << "seed " << seed;
    EXPECT_EQ(first.counts, second.counts) << "seed " << seed;
  }
}

TEST(LabModel, AListIsTheSameAfterItWasWrittenAndRead) {
  const OperationList list = make_list(7);
  const Result<OperationList> read = parse_list(list_text(list));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->operations, list.operations);
  EXPECT_EQ(read->machine, list.machine);
  EXPECT_EQ(read->profile, list.profile);
}

TEST(LabModel, ADurableWriteThatIsLostOnRadosIsFound) {
  bool is_found = false;
  for (std::uint64_t seed = 1; seed <= 40 && !is_found; ++seed) {
    is_found = !run_list(make_list(seed, true), Planted::kBufferedIsDurable).what.empty();
  }
  EXPECT_TRUE(is_found);
}

TEST(LabModel, AListOnRadosRunsTheSameWayTwiceAndAsItWasWritten) {
  const OperationList list = make_list(2, true);
  const Result<OperationList> read = parse_list(list_text(list));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_TRUE(read->on_rados);
  EXPECT_EQ(run_list(list).answers, run_list(*read).answers);
}

TEST(LabModel, AListThatIsNoneIsRefused) {
  EXPECT_FALSE(parse_list("fly\n").ok());
  EXPECT_FALSE(parse_list("insert wings=2\n").ok());
  EXPECT_FALSE(parse_list("insert table\n").ok());
  EXPECT_FALSE(parse_list("profile x\n").ok());
}

/// Runs lists that failed once, shortened, and lists of rare corner cases.
TEST(LabModel, RegressionsStayMended) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(VARVE_SOURCE_DIR "/tests/lab/model/regressions")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_FALSE(paths.empty());
  for (const std::filesystem::path& path : paths) {
    SCOPED_TRACE(path);
    std::ifstream file(path);
    const Result<OperationList> list = parse_list(std::string(std::istreambuf_iterator<char>(file), {}));
    ASSERT_TRUE(list.ok()) << list.status().to_string();
    const std::optional<Finding> finding = judge_list(*list, Planted::kNone, nullptr);
    EXPECT_FALSE(finding.has_value()) << finding->what << "\n" << finding->detail;
  }
}

}  // namespace
}  // namespace varve::lab::model_test
