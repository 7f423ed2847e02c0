#include <set>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/uring/ring.h"

namespace varve::io::system_env_test {
namespace {

TEST(SystemEnv, IsTheSameEveryTime) {
  EXPECT_EQ(&system_env(), &system_env());
  EXPECT_EQ(&system_env().files, &system_env().files);
  EXPECT_EQ(system_env().files.name(), probe_io_uring().ok() ? "io_uring" : "posix");
  EXPECT_EQ(system_env().scheduler.simulation(), nullptr);
}

TEST(SystemEnv, WallClockCountsFromTheYearOne) {
  constexpr Ticks kYear2025 = 638'712'864'000'000'000;
  constexpr Ticks kYear9999 = 3'155'063'616'000'000'000;
  const Ticks now = system_env().clock.wall();
  EXPECT_GT(now, kYear2025);
  EXPECT_LT(now, kYear9999);
}

TEST(SystemEnv, MonotonicClockNeverGoesBack) {
  Clock& clock = system_env().clock;
  std::chrono::nanoseconds last = clock.monotonic();
  for (int reading = 0; reading < 10'000; ++reading) {
    const std::chrono::nanoseconds now = clock.monotonic();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemEnv, RandomNumbersDiffer) {
  std::set<std::uint64_t> seen;
  for (int number = 0; number < 1000; ++number) seen.insert(system_env().random.next());
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace varve::io::system_env_test
