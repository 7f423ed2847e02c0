// Goal: a wake-up is for the one who waits longest, a waiter that finds nothing keeps its place, and no wake-up is lost
// (QX-17, QX-18).
// Method: places note their wake-ups. No thread waits, so the test decides the order of all steps.
#include "api/commit/waiting_row.h"

#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace varve::test::waiting_row_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Notes its number when it is woken.
class NotedPlace final : public WaitingRow::Place {
 public:
  NotedPlace(WaitingRow& row, int number, std::vector<int>& woken) : Place(row), number_(number), woken_(woken) {
    join();
  }
  ~NotedPlace() override { leave(); }
  /// Returns false if a wake-up came since the look.
  bool begins_wait() { return arm() != Arming::kWoken; }
  /// Looks, finds nothing, and waits.
  bool looks_and_waits() {
    begin_look();
    return begins_wait();
  }

 private:
  void notify() noexcept override { woken_.push_back(number_); }

  const int number_;
  std::vector<int>& woken_;
};

class WaitingRows : public testing::Test {
 protected:
  std::unique_ptr<NotedPlace> place(int number) { return std::make_unique<NotedPlace>(row_, number, woken_); }

  io::Scheduler scheduler_;
  WaitingRow row_{scheduler_, WaitingRow::Wakes::kOne};
  std::vector<int> woken_;
};

TEST_F(WaitingRows, QX18_EachWakeUpIsForTheOneWhoWaitsLongest) {
  const auto first = place(1);
  const auto second = place(2);
  const auto third = place(3);
  for (NotedPlace* const waiter : {third.get(), first.get(), second.get()}) EXPECT_TRUE(waiter->looks_and_waits());
  row_.wake(1);
  EXPECT_THAT(woken_, ElementsAre(1)) << "in whatever order they began to wait";
  row_.wake(2);
  EXPECT_THAT(woken_, ElementsAre(1, 2, 3));
  row_.wake(1);
  EXPECT_THAT(woken_, ElementsAre(1, 2, 3)) << "all are woken";
}

TEST_F(WaitingRows, QX18_AWaiterThatFindsNothingKeepsItsPlace) {
  const auto first = place(1);
  const auto second = place(2);
  EXPECT_TRUE(first->looks_and_waits());
  EXPECT_TRUE(second->looks_and_waits());
  row_.wake(1);
  EXPECT_TRUE(first->looks_and_waits());
  row_.wake(1);
  EXPECT_THAT(woken_, ElementsAre(1, 1));
  row_.wake(1);
  EXPECT_THAT(woken_, ElementsAre(1, 1, 2));
}

TEST_F(WaitingRows, QX18_AWaiterThatLeavesHandsAWakeUpOn) {
  auto first = place(1);
  const auto second = place(2);
  EXPECT_TRUE(first->looks_and_waits());
  EXPECT_TRUE(second->looks_and_waits());
  row_.wake(1);
  first.reset();
  EXPECT_THAT(woken_, ElementsAre(1, 2));
}

TEST_F(WaitingRows, QX17_AWakeUpBetweenTheLookAndTheWaitIsNotLost) {
  const auto first = place(1);
  first->begin_look();
  row_.wake(1);
  EXPECT_FALSE(first->begins_wait());
  EXPECT_THAT(woken_, IsEmpty()) << "it does not wait, so nothing wakes it";
  row_.end_waits();
  EXPECT_FALSE(first->looks_and_waits());
}

}  // namespace
}  // namespace varve::test::waiting_row_test
