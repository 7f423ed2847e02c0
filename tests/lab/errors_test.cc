// Goal: if any call of the machine fails, or any allocation is refused, the store reports or repairs it, and the law
// holds afterwards.
// Method: tests/lab/errors and tests/lab/memory, one round of each scenario. The soak tries other calls, other errors
// and other allocations.
#include "tests/lab/errors/errors.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/lab/memory/memory.h"

namespace varve::lab::errors_test {
namespace {

constexpr std::uint64_t kSeed = 1;

class ErrorPoints : public testing::TestWithParam<std::size_t> {};
class AllocationPoints : public testing::TestWithParam<std::size_t> {};

void expect_no_findings(const Report& report) {
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.what << "\n" << finding.detail << "seed " << finding.seed;
  }
}

std::uint64_t count(const Report& report, const std::string& name) {
  const auto found = report.counts.find(name);
  return found == report.counts.end() ? 0 : found->second;
}

Share share_of(std::size_t scenario) {
  Share share;
  share.seed = kSeed;
  share.only = std::string(scenarios()[scenario].name);
  return share;
}

TEST_P(ErrorPoints, AreToldOrMadeGoodAndTheLawHolds) {
  const Report report = error_points(share_of(GetParam()));
  expect_no_findings(report);
  EXPECT_GE(count(report, "operations failed"), 1u);
  EXPECT_GE(count(report, "runs"), 4u);
}

TEST_P(AllocationPoints, AreToldOrDoneWithoutAndTheLawHolds) {
  const Report report = allocation_points(share_of(GetParam()));
  expect_no_findings(report);
  EXPECT_GE(count(report, "allocations refused"), 6u);
}

std::vector<std::size_t> those(bool (*is_meant)(const Scenario&)) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < scenarios().size(); ++i) {
    if (is_meant(scenarios()[i])) numbers.push_back(i);
  }
  return numbers;
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  std::string name(scenarios()[info.param].name);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ErrorPoints,
                         testing::ValuesIn(those([](const Scenario& scenario) { return !scenario.has_faults; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Scenarios, AllocationPoints, testing::ValuesIn(those([](const Scenario& scenario) {
                           return !scenario.has_faults && !scenario.has_threads;
                         })),
                         name_of);

TEST(ErrorPointsOnRados, AreToldOrMadeGoodAndTheLawHolds) {
  for (const char* const name : {"insert-buffered", "flush", "recover-killed"}) {
    Share share;
    share.seed = kSeed;
    share.only = name;
    share.machine = std::string(kRados);
    const Report report = error_points(share);
    expect_no_findings(report);
    EXPECT_GE(count(report, "operations on RADOS failed"), 1u) << name;
  }
}

TEST(ErrorAftermath, FindsWhatWasAcknowledgedAndIsGone) {
  test::Machine machine(kSeed, test::OneThreadAtATime{});
  Ledger ledger;
  Stage stage(machine, {}, ledger);
  ASSERT_TRUE(stage.open().ok());
  stage.account();
  ASSERT_EQ(check_aftermath(stage, {}, kSeed), "");
  ASSERT_TRUE(stage.open().ok());
  stage.table("Orders");
  ledger.acknowledged("an account that nobody made", {stage.visible_version(), stage.visible_version()}, true,
                      [](Content& content, std::uint64_t) { content[account_name("nobody1")] = {}; });
  EXPECT_NE(check_aftermath(stage, {}, kSeed), "");
}

}  // namespace
}  // namespace varve::lab::errors_test
