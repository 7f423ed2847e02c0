#include "engine/log/version_clock.h"

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"

namespace varve::engine::version_clock_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

/// Counts the questions to the monotonic clock.
class AskedClock final : public io::Clock {
 public:
  io::Ticks wall() noexcept override { return clock_.wall(); }
  std::chrono::nanoseconds monotonic() noexcept override {
    ++monotonic_asked;
    return clock_.monotonic();
  }
  io::ManualClock& manual() noexcept { return clock_; }

  int monotonic_asked = 0;

 private:
  io::ManualClock clock_;
};

TEST(VersionClock, FollowsTheWallClockInTicks) {
  io::ManualClock clock;
  VersionClock versions(clock, 0);
  EXPECT_EQ(versions.take(1), clock.wall());
  clock.advance(milliseconds(3));
  EXPECT_EQ(versions.take(1), clock.wall());
}

TEST(VersionClock, NeverGivesAValueTwiceWhileTheClockStands) {
  io::ManualClock clock;
  VersionClock versions(clock, 0);
  const CommitVersion first = versions.take(5);
  EXPECT_EQ(versions.take(1), first + 5);
  EXPECT_EQ(versions.take(3), first + 6);
  EXPECT_EQ(versions.last(), first + 8);
}

TEST(VersionClock, StartsAboveItsFloorEvenWhenTheWallClockIsBehindIt) {
  io::ManualClock clock;
  const CommitVersion floor = clock.wall() + 1'000'000;
  VersionClock versions(clock, floor);
  EXPECT_EQ(versions.take(1), floor + 1);
}

TEST(VersionClock, GoesOnRisingWhenTheWallClockIsSetBack) {
  io::ManualClock clock;
  VersionClock versions(clock, 0);
  const CommitVersion before = versions.take(1);
  clock.set_wall(clock.wall() - 24 * 3600 * io::kTicksPerSecond);
  EXPECT_EQ(versions.take(1), before + 1);
  EXPECT_FALSE(versions.jump_ignored());
}

TEST(VersionClock, FollowsAJumpOfAnHourAndNotOneOfMore) {
  io::ManualClock clock;
  VersionClock versions(clock, 0);
  clock.set_wall(clock.wall() + kJumpTicksMax);
  EXPECT_EQ(versions.take(1), clock.wall());
  EXPECT_FALSE(versions.jump_ignored());

  clock.set_wall(clock.wall() + 1);
  const CommitVersion last = versions.last();
  EXPECT_EQ(versions.take(1), last + 1);
  EXPECT_TRUE(versions.jump_ignored());
}

TEST(VersionClock, GoesOnWithTheMonotonicClockWhileAJumpIsIgnored) {
  io::ManualClock clock;
  const io::Ticks opened = clock.wall();
  VersionClock versions(clock, 0);
  clock.set_wall(opened + 1000 * kJumpTicksMax);
  clock.advance(hours(2));
  EXPECT_EQ(versions.take(1), opened + 2 * kJumpTicksMax);
  EXPECT_TRUE(versions.jump_ignored());
}

TEST(VersionClock, AsksTheMonotonicClockOnceAnHour) {
  AskedClock clock;
  VersionClock versions(clock, 0);
  const int at_open = clock.monotonic_asked;
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(versions.time(), clock.wall());
    clock.manual().advance(std::chrono::minutes(1));
  }
  EXPECT_EQ(clock.monotonic_asked, at_open);
  clock.manual().advance(std::chrono::minutes(1));
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(versions.take(1), clock.wall());
    clock.manual().advance(std::chrono::minutes(1));
  }
  EXPECT_EQ(clock.monotonic_asked, at_open + 1);
  EXPECT_FALSE(versions.jump_ignored());
}

TEST(VersionClock, DoesNotFollowAJumpAfterHoursInWhichItAskedOnlyOneClock) {
  io::ManualClock clock;
  VersionClock versions(clock, 0);
  clock.advance(hours(3));
  EXPECT_EQ(versions.take(1), clock.wall());
  const io::Ticks expected = clock.wall();
  clock.set_wall(expected + kJumpTicksMax + 1);
  EXPECT_EQ(versions.take(1), expected + 1);
  EXPECT_EQ(versions.take(1), expected + 2);  // An ignored time moves no limit.
  EXPECT_TRUE(versions.jump_ignored());
}

}  // namespace
}  // namespace varve::engine::version_clock_test
