// Goal: a server on a cluster that does not answer says so in its health, metrics and log, and its end is bounded.
// Method: figures that a test makes up, and real threads without sleeps.
#include "tools/serve/cluster_watch.h"

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/watch_bench.h"
#include "tools/serve/watch/store_health.h"

namespace varve::serve::cluster_watch_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RadosFigures sound() {
  RadosFigures figures;
  figures.process = "0123";
  figures.client = "127.0.0.1:0/7";
  figures.owned = {{"shop", 17}};
  figures.ownerships = 1;
  figures.takeovers = 1;
  figures.lease_age = milliseconds(400);
  figures.lease_time = seconds(2);
  figures.reads.answered = 5;
  figures.changes.answered = 7;
  figures.changes.time = milliseconds(2500);
  figures.latencies = {{"log", "change", 6, milliseconds(1250), 1}, {"root", "read", 2, milliseconds(3), 0}};
  figures.pool = RadosPool{false, false, 3, 2};
  return figures;
}

RadosFigures waiting(seconds time) {
  RadosFigures figures = sound();
  figures.changes.waiting = 1;
  figures.changes.longest_wait = time;
  figures.changes.longest_object = "abc/1.2.0";
  return figures;
}

TEST(ClusterHealth, IsWaitingWhileTheLeaseIsLateOrAWriteWaitsTooLong) {
  EXPECT_EQ(health_of(sound()).state, "healthy");
  EXPECT_EQ(health_of(RadosFigures()).state, "healthy") << "before the first store";
  RadosFigures late = sound();
  late.lease_age = milliseconds(1999);
  EXPECT_TRUE(health_of(late).accepts_writes);
  late.lease_age = milliseconds(2000);
  EXPECT_FALSE(health_of(late).accepts_writes);
  EXPECT_EQ(health_of(late).state, "waiting");
  EXPECT_THAT(health_of(late).reason, HasSubstr("not confirmed the ownership for 2 s; an OSD may hang"));
  EXPECT_EQ(health_of(waiting(seconds(4))).state, "healthy");
  EXPECT_EQ(health_of(waiting(seconds(5))).state, "waiting");
  EXPECT_THAT(health_of(waiting(seconds(5))).reason,
              AllOf(StartsWith("a write to the object abc/1.2.0 has waited for 5 s"), HasSubstr("nothing is lost")));
  RadosFigures fenced = late;
  fenced.is_fenced = true;
  EXPECT_EQ(health_of(fenced).state, "fenced");
}

TEST(ClusterHealth, NamesTheCauseThatTheMonitorsKnow) {
  RadosFigures figures = waiting(seconds(9));
  figures.pool->copies = 1;
  EXPECT_THAT(health_of(figures).reason, HasSubstr("the object has 1 of the 2 copies that min_size asks for"));
  figures.pool = RadosPool{true, true, 3, 2};
  EXPECT_THAT(health_of(figures).reason, HasSubstr("the pool is full"));
  figures.pool.reset();
  EXPECT_THAT(health_of(figures).reason, HasSubstr("the monitors do not answer"));
}

TEST(ClusterHealth, APoisonedStoreStaysPoisonedAndAFullDiskComesLast) {
  Statistics statistics;
  statistics.health = Health::kPoisoned;
  EXPECT_EQ(health_of(statistics, waiting(seconds(9))).state, "poisoned");
  statistics.health = Health::kWritePaused;
  EXPECT_EQ(health_of(statistics, waiting(seconds(9))).state, "waiting");
  EXPECT_EQ(health_of(statistics, sound()).state, "write paused");
  EXPECT_EQ(health_of(statistics, std::nullopt).state, "write paused");
}

TEST(ClusterHealth, IsInHealthMetricsAndStatus) {
  test::WatchBench bench;
  EXPECT_THAT(bench.watch("/metrics").body, Not(HasSubstr("varve_cluster_"))) << "a store of this machine";
  RadosFigures figures = sound();
  bench.observed.cluster = [&figures] { return figures; };
  EXPECT_EQ(bench.watch("/health").status, 200);
  EXPECT_THAT(bench.watch("/metrics").body,
              AllOf(HasSubstr("varve_cluster_epoch 17\n"), HasSubstr("varve_cluster_takeovers_total 1\n"),
                    HasSubstr("varve_cluster_lease_age_seconds 0.4\n"),
                    HasSubstr("varve_cluster_operations_total{kind=\"change\"} 7\n"),
                    HasSubstr("varve_cluster_operation_seconds_total{kind=\"change\"} 2.5\n"),
                    HasSubstr("varve_cluster_object_operations_total{objects=\"log\",kind=\"change\"} 6\n"),
                    HasSubstr("varve_cluster_object_operation_seconds_total{objects=\"log\",kind=\"change\"} 1.25\n"),
                    HasSubstr("varve_cluster_object_slow_operations_total{objects=\"log\",kind=\"change\"} 1\n"),
                    HasSubstr("varve_cluster_object_operations_total{objects=\"root\",kind=\"read\"} 2\n"),
                    HasSubstr("varve_cluster_pool_full 0\n"), HasSubstr("varve_cluster_copies 3\n")));
  EXPECT_THAT(bench.look("api/status").body,
              AllOf(HasSubstr(R"("client":"127.0.0.1:0/7","epochs":{"shop":17})"), HasSubstr(R"("copies":3)"),
                    HasSubstr(R"({"objects":"log","kind":"change","answered":6,"nanoseconds":1250000000,"slow":1})")));
  figures = waiting(seconds(61));
  EXPECT_EQ(bench.watch("/health").status, 503);
  EXPECT_THAT(bench.watch("/health").body, StartsWith("waiting: a write to the object abc/1.2.0 has waited for 61 s"));
  EXPECT_THAT(bench.watch("/metrics").body,
              AllOf(HasSubstr("varve_health{state=\"waiting\"} 1\n"), HasSubstr("varve_accepts_writes 0\n"),
                    HasSubstr("varve_cluster_longest_wait_seconds{kind=\"change\"} 61\n")));
  EXPECT_THAT(bench.look("api/status").body, HasSubstr(R"("state":"waiting")"));
}

TEST(EndPatience, EndsAfterAMinuteOrSoonerWhenHurriedAndOnlyIfTheClusterDoesNotAnswer) {
  const EndPatience::Time begin{};
  EndPatience calm;
  EXPECT_FALSE(calm.is_over(begin, seconds(0), false));
  EXPECT_FALSE(calm.is_over(begin + std::chrono::hours(1), seconds(59), false)) << "a long last flush";
  EXPECT_TRUE(calm.is_over(begin + std::chrono::hours(1), seconds(60), false));
  EndPatience hurried;
  EXPECT_FALSE(hurried.is_over(begin, seconds(30), true));
  EXPECT_FALSE(hurried.is_over(begin + milliseconds(4999), seconds(34), true));
  EXPECT_TRUE(hurried.is_over(begin + seconds(5), seconds(35), true));
  EXPECT_FALSE(hurried.is_over(begin + seconds(50), seconds(4), true)) << "the cluster answers";
}

/// What the hooks of a watch saw.
struct Seen {
  RadosFigures figures = sound();
  std::mutex mutex;
  std::vector<std::string> lines;
  std::promise<void> logged;
  std::promise<void> gave_up;
  int looks = 0;

  ClusterWatch::Hooks hooks() {
    return {[this] {
              const std::lock_guard lock(mutex);
              ++looks;
              return figures;
            },
            [this](const std::string& line) {
              const std::lock_guard lock(mutex);
              if (lines.empty()) logged.set_value();
              lines.push_back(line);
            },
            [this] { gave_up.set_value(); }};
  }
};

TEST(ClusterWatch, LogsTheTroubleOnceAndDoesNotEndAServerThatServes) {
  Seen seen;
  seen.figures = waiting(seconds(3600));
  const auto watch = ClusterWatch::start(seen.hooks());
  ASSERT_TRUE(watch.ok());
  seen.logged.get_future().wait();
  (*watch)->expect_exit();
  const std::lock_guard lock(seen.mutex);
  ASSERT_EQ(seen.lines.size(), 1U);
  EXPECT_THAT(seen.lines[0], StartsWith("the store on the cluster is waiting: a write to the object abc/1.2.0"));
}

TEST(ClusterWatch, EndsAProcessWhoseEndWaitsForTheCluster) {
  Seen seen;
  seen.figures = waiting(seconds(60));
  const auto watch = ClusterWatch::start(seen.hooks());
  ASSERT_TRUE(watch.ok());
  (*watch)->expect_end([] { return false; });
  seen.gave_up.get_future().wait();
  const std::lock_guard lock(seen.mutex);
  EXPECT_THAT(seen.lines.back(), StartsWith("the cluster has not answered for 60 s, so the server ends without it"));
}

TEST(ClusterWatch, AsksForNoFiguresOnceTheConnectionEnds) {
  Seen seen;
  const auto watch = ClusterWatch::start(seen.hooks());
  ASSERT_TRUE(watch.ok());
  (*watch)->expect_end([] { return false; });
  (*watch)->expect_exit();
  const int looks = seen.looks;  // no thread looks any more
  (*watch)->expect_exit();
  EXPECT_EQ(seen.looks, looks);
}

}  // namespace
}  // namespace varve::serve::cluster_watch_test
