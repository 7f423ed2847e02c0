// Goal: after each failure a thing rests longer, up to the maximum, and delays nothing else.
// Method: failures of several things at times that the test chooses.
#include "engine/compaction/back_off.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace varve::engine::back_off_test {
namespace {

using std::chrono::nanoseconds;

constexpr BackOff::Key kOne{FileKind::kTable, 7};
constexpr BackOff::Key kSameNumber{FileKind::kLogSegment, 7};

TEST(BackOff, EachFailureDoublesTheRestUpToTheLongest) {
  BackOff back_off;
  nanoseconds now{1};
  nanoseconds expected = BackOff::kFirst;
  for (int i = 0; i < 20; ++i) {
    const nanoseconds rest = back_off.failed(kOne, now, Code::kIoError);
    EXPECT_EQ(rest, expected) << i;
    EXPECT_TRUE(back_off.rests(kOne, now));
    EXPECT_TRUE(back_off.rests(kOne, now + rest - nanoseconds(1)));
    EXPECT_FALSE(back_off.rests(kOne, now + rest));
    now += rest;
    expected = std::min(2 * expected, BackOff::kLongest);
  }
}

TEST(BackOff, OnlyASuccessEndsTheRow) {
  BackOff back_off;
  (void)back_off.failed(kOne, nanoseconds(0), Code::kIoError);
  (void)back_off.failed(kOne, nanoseconds(0), Code::kIoError);
  back_off.wake_all();
  EXPECT_FALSE(back_off.rests(kOne, nanoseconds(0)));
  EXPECT_EQ(back_off.failed(kOne, nanoseconds(0), Code::kIoError), 4 * BackOff::kFirst);
  EXPECT_TRUE(back_off.rests(kOne, nanoseconds(0)));
  back_off.succeeded(kOne);
  EXPECT_FALSE(back_off.rests(kOne, nanoseconds(0)));
  EXPECT_EQ(back_off.failed(kOne, nanoseconds(0), Code::kIoError), BackOff::kFirst);
}

TEST(BackOff, WantOfSpaceRestsTheFirstRestAlone) {
  BackOff back_off;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(back_off.failed(kOne, nanoseconds(0), Code::kNoSpace), BackOff::kFirst);
  (void)back_off.failed(kOne, nanoseconds(0), Code::kIoError);
  EXPECT_EQ(back_off.failed(kOne, nanoseconds(0), Code::kNoSpace), BackOff::kFirst);
}

TEST(BackOff, KindsAndNumbersRestByThemselves) {
  BackOff back_off;
  (void)back_off.failed(kOne, nanoseconds(0), Code::kIoError);
  EXPECT_FALSE(back_off.rests(kSameNumber, nanoseconds(0)));
  EXPECT_EQ(back_off.resting(FileKind::kTable, nanoseconds(0)), (std::set<std::uint64_t>{7}));
  EXPECT_TRUE(back_off.resting(FileKind::kLogSegment, nanoseconds(0)).empty());
  (void)back_off.failed(kSameNumber, nanoseconds(0), Code::kIoError);
  back_off.forget_gone(FileKind::kTable, [](std::uint64_t) { return false; });
  EXPECT_FALSE(back_off.rests(kOne, nanoseconds(0)));
  EXPECT_TRUE(back_off.rests(kSameNumber, nanoseconds(0)));
}

}  // namespace
}  // namespace varve::engine::back_off_test
