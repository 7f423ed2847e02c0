// Goal: a store that cannot confirm its ownership does not edit the manifest meanwhile. It is not stopped, loses no
// data, and continues by itself when the check succeeds again.
// Method: in each step that edits the manifest, reads of CURRENT fail for a while.
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::unconfirmed_owner_test {
namespace {

using test::Change;

enum class Step { kFlush, kDrop, kRollOfTheLog, kClose };

constexpr std::string_view kSteps[] = {"Flush", "Drop", "RollOfTheLog", "Close"};

class UnconfirmedOwner : public testing::TestWithParam<Step> {
 protected:
  void put(int first, int count, std::size_t bytes = 1'000) {
    for (int row = first; row < first + count; ++row) {
      const auto committed = Change().put("p", std::to_string(100'000 + row), std::string(bytes, 'v')).commit(*engine_);
      if (committed.ok()) ++acknowledged_[row];
      if (!committed.ok()) refused_ = committed.status();
    }
  }
  void fail_looks() {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = "CURRENT";
    rule.fail_count = io::FaultRule::kFromThenOn;
    machine_.files->faults().add(rule);
  }
  void act() {
    switch (GetParam()) {
      case Step::kFlush: EXPECT_EQ(engine_->compact().code(), Code::kIoError); return;
      case Step::kDrop:
        EXPECT_TRUE(Change().retire(test::kTable + 1).commit(*engine_).ok());
        EXPECT_EQ(engine_->compact().code(), Code::kIoError);
        return;
      case Step::kRollOfTheLog: put(1'000, 100, 100'000); return;
      case Step::kClose: EXPECT_EQ(engine_->close().code(), Code::kIoError); return;
    }
  }
  void expect_all_there() {
    for (const auto& [row, times] : acknowledged_) {
      EXPECT_NE(test::value_of(*engine_, "p", std::to_string(100'000 + row)), "-") << row;
    }
  }

  test::Machine machine_{11};
  std::unique_ptr<Engine> engine_ = *machine_.open();
  std::map<int, int> acknowledged_;
  Status refused_;
};

TEST_P(UnconfirmedOwner, EditsNothingAndGoesOn) {
  put(0, 200);
  ASSERT_TRUE(refused_.ok()) << refused_.to_string();
  fail_looks();
  act();
  EXPECT_GT(machine_.files->faults().hit_count(), 0U);
  machine_.files->faults().clear();
  EXPECT_NE(engine_->statistics().health, Health::kPoisoned);
  if (GetParam() != Step::kClose) {
    machine_.clock.advance(std::chrono::seconds(60));
    refused_ = Status();
    EXPECT_EQ(engine_->compact().to_string(), "Ok");
    put(5'000, 200);
    EXPECT_TRUE(refused_.ok()) << refused_.to_string();
    EXPECT_EQ(engine_->close().to_string(), "Ok");
  }
  engine_.reset();
  auto opened = machine_.open();
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  engine_ = *std::move(opened);
  expect_all_there();
}

INSTANTIATE_TEST_SUITE_P(Each, UnconfirmedOwner,
                         testing::Values(Step::kFlush, Step::kDrop, Step::kRollOfTheLog, Step::kClose),
                         [](const auto& each) { return std::string(kSteps[static_cast<int>(each.param)]); });

}  // namespace
}  // namespace varve::engine::unconfirmed_owner_test
