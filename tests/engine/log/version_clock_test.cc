#include "engine/log/version_clock.h"

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"

namespace varve::engine::version_clock_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

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

}  // namespace
}  // namespace varve::engine::version_clock_test
