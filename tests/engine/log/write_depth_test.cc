// Goal: the number of log writes in flight follows the device, and stays as it is unless the device shows a gain.
// Method: a model of a device completes one write after another. Its speed depends on the number of writes in flight, on
// the time, or on chance. Commits of equal size wait for it.
#include "engine/log/write_depth.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"

namespace varve::engine::write_depth_test {
namespace {

constexpr std::int64_t kWriteNs = 1'000'000;  // of a write alone
constexpr std::uint64_t kGroupBytes = 4'096;
constexpr std::size_t kManyWriters = 64;

/// Returns the time in nanoseconds until the next of `in_flight` writes is complete.
using Device = std::function<std::int64_t(std::int64_t in_flight, std::int64_t now)>;

Device serves_at_once(std::int64_t writes) {
  return [writes](std::int64_t in_flight, std::int64_t /*now*/) { return kWriteNs / std::min(in_flight, writes); };
}

/// With more than two writes in flight, the device completes fewer a second.
std::int64_t crowd(std::int64_t in_flight, std::int64_t /*now*/) {
  return in_flight <= 2 ? kWriteNs / in_flight : kWriteNs * in_flight / 4;
}

class DepthBench {
 public:
  /// Completes `count` writes for so many writers, each of which waits for its own.
  void run(const Device& device, std::size_t writers, int count) {
    for (int i = 0; i < count; ++i) {
      in_flight_ = std::max(in_flight_, std::min(depth.limit(), writers));
      if (writers > depth.limit()) depth.note_held();
      now_ += device(static_cast<std::int64_t>(in_flight_), now_);
      --in_flight_;
      depth.note_end(kGroupBytes, writers > 1, WriteDepth::Time(now_));
      lowest = std::min(lowest, depth.limit());
      highest = std::max(highest, depth.limit());
    }
  }
  /// Returns the limit outside of trials.
  std::size_t settled(const Device& device) {
    while (depth.is_trying()) run(device, kManyWriters, 1);
    return depth.limit();
  }

  WriteDepth depth;
  std::size_t lowest = kLogWritesInFlightFirst;
  std::size_t highest = kLogWritesInFlightFirst;

 private:
  std::size_t in_flight_ = 0;
  std::int64_t now_ = 0;
};

constexpr int kLong = 20'000;

TEST(WriteDepth, StaysOnADeviceThatIsFullAtTheFirstDepthOrBelow) {
  for (const std::int64_t full_at : {1, 4, 8}) {
    SCOPED_TRACE(full_at);
    DepthBench bench;
    bench.run(serves_at_once(full_at), kManyWriters, kLong);
    EXPECT_EQ(bench.settled(serves_at_once(full_at)), kLogWritesInFlightFirst);
    EXPECT_EQ(bench.lowest, kLogWritesInFlightFirst / 2) << "both sides were tried";
    EXPECT_EQ(bench.highest, kLogWritesInFlightFirst * 2);
  }
}

TEST(WriteDepth, RisesToWhereTheDeviceIsFull) {
  DepthBench bench;
  bench.run(serves_at_once(16), kManyWriters, kLong);
  EXPECT_EQ(bench.settled(serves_at_once(16)), 16u);
  EXPECT_EQ(bench.highest, 32u) << "more was tried";
}

TEST(WriteDepth, RisesToTheLimitOnADeepDevice) {
  DepthBench bench;
  bench.run(serves_at_once(1'000), kManyWriters, kLong);
  EXPECT_EQ(bench.settled(serves_at_once(1'000)), kLogWritesInFlightMax);
  EXPECT_EQ(bench.highest, kLogWritesInFlightMax);
}

TEST(WriteDepth, FallsOnADeviceThatManyWritesMakeSlower) {
  DepthBench bench;
  bench.run(crowd, kManyWriters, kLong);
  EXPECT_EQ(bench.settled(crowd), 2u);
  EXPECT_EQ(bench.lowest, kLogWritesInFlightMin) << "less was tried";
}

TEST(WriteDepth, FallsWhenADeepDeviceBecomesAnother) {
  DepthBench bench;
  bench.run(serves_at_once(1'000), kManyWriters, kLong);
  ASSERT_EQ(bench.settled(serves_at_once(1'000)), kLogWritesInFlightMax);
  bench.run(crowd, kManyWriters, 2 * kLong);
  EXPECT_EQ(bench.settled(crowd), 2u);
}

TEST(WriteDepth, StaysWhileADeviceOnlyBecomesSlowerOrFasterWithTime) {
  const Device slower = [](std::int64_t in_flight, std::int64_t now) {
    return (kWriteNs + now / 1'000) / std::min<std::int64_t>(in_flight, 8);
  };
  const Device faster = [](std::int64_t in_flight, std::int64_t now) {
    return std::max(kWriteNs - now / 300, kWriteNs / 10) / std::min<std::int64_t>(in_flight, 8);
  };
  for (const Device& device : {slower, faster}) {
    DepthBench bench;
    bench.run(device, kManyWriters, kLong);
    EXPECT_EQ(bench.settled(device), kLogWritesInFlightFirst);
    EXPECT_GT(bench.highest, kLogWritesInFlightFirst);
  }
}

TEST(WriteDepth, StaysOnADeviceThatIsFullAndWhoseWritesTakeAnyTime) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    io::SeededRandom random(seed);
    const Device uneven = [&random](std::int64_t in_flight, std::int64_t /*now*/) {
      const std::int64_t usual = kWriteNs / std::min<std::int64_t>(in_flight, 8);
      return usual / 2 + static_cast<std::int64_t>(io::random_below(random, static_cast<std::uint64_t>(usual)));
    };
    DepthBench bench;
    bench.run(uneven, kManyWriters, kLong);
    EXPECT_EQ(bench.settled(uneven), kLogWritesInFlightFirst);
  }
}

TEST(WriteDepth, MeasuresNothingWhileNoGroupWaits) {
  DepthBench bench;
  for (const std::size_t writers : {std::size_t{1}, std::size_t{4}, kLogWritesInFlightFirst}) {
    bench.run(serves_at_once(1'000), writers, kLong / 10);
    EXPECT_FALSE(bench.depth.is_trying());
  }
  EXPECT_EQ(bench.highest, kLogWritesInFlightFirst);
  EXPECT_EQ(bench.lowest, kLogWritesInFlightFirst);
}

TEST(WriteDepth, GoesBackIfTheWritersLeaveDuringATrial) {
  DepthBench bench;
  while (bench.depth.limit() == kLogWritesInFlightFirst) bench.run(serves_at_once(1'000), kManyWriters, 1);
  ASSERT_TRUE(bench.depth.is_trying());
  bench.run(serves_at_once(1'000), 2, kLong / 10);
  EXPECT_FALSE(bench.depth.is_trying());
  EXPECT_EQ(bench.depth.limit(), kLogWritesInFlightFirst);
}

TEST(WriteDepth, DoesNotCountTheTimeInWhichTheDeviceIsIdle) {
  // Bursts of writes, with pauses of any length up to a second between them.
  io::SeededRandom random(1);
  const Device device = serves_at_once(16);
  std::int64_t left = 0;
  std::int64_t now = 0;
  WriteDepth depth;
  for (int i = 0; i < 2 * kLong || depth.is_trying(); ++i) {
    if (left == 0) {
      left = 500;
      now += static_cast<std::int64_t>(io::random_below(random, 1'000'000'000));
    }
    const auto in_flight = static_cast<std::int64_t>(depth.limit());
    if (left > in_flight) depth.note_held();
    now += device(std::min(in_flight, left), now);
    --left;
    depth.note_end(kGroupBytes, left > 0, WriteDepth::Time(now));
  }
  EXPECT_EQ(depth.limit(), 16u);
}

TEST(WriteDepth, TriesLessAndLessWhereTrialsGainNothing) {
  DepthBench bench;
  int tried = 0;
  for (int i = 0; i < 3 * kLong; ++i) {
    bench.run(serves_at_once(8), kManyWriters, 1);
    if (bench.depth.limit() < kLogWritesInFlightFirst) ++tried;
  }
  EXPECT_GT(tried, 0);
  EXPECT_LT(tried, 3 * kLong / 50);
}

}  // namespace
}  // namespace varve::engine::write_depth_test
