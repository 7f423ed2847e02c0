#include "engine/log/write_tracker.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"

namespace varve::engine::write_tracker_test {
namespace {

TEST(WriteTracker, MovesTheMarkOnlyOverAnUnbrokenRowOfCompletedWrites) {
  io::Scheduler scheduler;
  WriteTracker tracker(scheduler, 100, 0);
  tracker.begin(200, 20);
  tracker.begin(300, 30);
  tracker.begin(400, 40);
  tracker.complete(300, true);
  EXPECT_EQ(tracker.durable(), 100u);
  EXPECT_EQ(tracker.durable_ceiling(), 0u);
  tracker.complete(200, true);
  EXPECT_EQ(tracker.durable(), 300u);
  EXPECT_EQ(tracker.durable_ceiling(), 30u);
  tracker.complete(400, true);
  EXPECT_EQ(tracker.durable(), 400u);
  EXPECT_EQ(tracker.in_flight(), 0u);
}

TEST(WriteTracker, CountsCompletedWritesBehindAnUnfinishedOneAsInFlight) {
  io::Scheduler scheduler;
  WriteTracker tracker(scheduler, 0, 0);
  tracker.begin(1, 0);
  tracker.begin(2, 0);
  tracker.complete(2, true);
  EXPECT_EQ(tracker.in_flight(), 2u);
}

TEST(WriteTracker, NeverPassesAFailedWrite) {
  io::Scheduler scheduler;
  WriteTracker tracker(scheduler, 0, 0);
  tracker.begin(10, 1);
  tracker.begin(20, 2);
  tracker.begin(30, 3);
  EXPECT_EQ(tracker.failed_above(), std::nullopt);
  tracker.complete(20, false);
  tracker.complete(30, true);
  EXPECT_EQ(tracker.failed_above(), std::optional<LogPosition>(10));
  EXPECT_EQ(tracker.durable(), 0u);
  tracker.complete(10, true);
  EXPECT_EQ(tracker.durable(), 10u);
  EXPECT_EQ(tracker.failed_above(), std::optional<LogPosition>(10));
  tracker.wait_until_idle();  // Returns: a failed write is no longer in flight.
}

TEST(WriteTracker, MovesToAnotherSegmentWhenIdle) {
  io::Scheduler scheduler;
  WriteTracker tracker(scheduler, 4096, 0);
  tracker.begin(8192, 7);
  tracker.complete(8192, true);
  tracker.move_to(12288);
  EXPECT_EQ(tracker.durable(), 12288u);
  EXPECT_EQ(tracker.durable_ceiling(), 7u);
}

TEST(WriteTracker, WaitsForNoEndIfNoWriteIsInFlight) {
  io::Scheduler scheduler;
  WriteTracker tracker(scheduler, 0, 0);
  EXPECT_FALSE(tracker.wait_for_end());
  tracker.begin(1, 0);
  tracker.begin(2, 0);
  tracker.complete(2, true);
  tracker.complete(1, false);
  EXPECT_FALSE(tracker.wait_for_end()) << "a failed write has ended";
}

// Compares with the definition: the mark is the end of the longest prefix of writes that have all succeeded.
TEST(WriteTracker, AgreesWithItsDefinitionInAnyOrderOfCompletion) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    io::SeededRandom random(seed);
    io::Scheduler scheduler;
    WriteTracker tracker(scheduler, 0, 0);
    struct Model {
      LogPosition end;
      bool completed = false;
      bool ok = false;
    };
    std::vector<Model> writes;
    LogPosition end = 0;
    for (int step = 0; step < 60; ++step) {
      std::vector<std::size_t> open;
      for (std::size_t i = 0; i < writes.size(); ++i) {
        if (!writes[i].completed) open.push_back(i);
      }
      if (tracker.in_flight() < kLogWritesInFlightMax && (open.empty() || io::one_in(random, 2))) {
        end += 1 + io::random_below(random, 5);
        writes.push_back({end});
        tracker.begin(end, end);
      } else if (!open.empty()) {
        Model& write = writes[open[io::random_below(random, open.size())]];
        write.completed = true;
        write.ok = !io::one_in(random, 40);
        tracker.complete(write.end, write.ok);
      }
      LogPosition expected = 0;
      for (const Model& write : writes) {
        if (!write.completed || !write.ok) break;
        expected = write.end;
      }
      ASSERT_EQ(tracker.durable(), expected);
      ASSERT_EQ(tracker.durable_ceiling(), expected);
    }
  }
}

}  // namespace
}  // namespace varve::engine::write_tracker_test
