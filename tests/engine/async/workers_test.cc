// Goal: every step posted to workers runs once, on at most the allowed number of threads, and stop() waits for all.
// Method: seeded schedules count concurrent steps. Steps that wait for each other show that all allowed threads exist.
// A real scheduler is used once, for the sanitizers.
#include "engine/async/workers.h"

#include <atomic>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/engine/async/async_bench.h"
#include "tests/support/effort.h"

namespace varve::engine::workers_test {
namespace {

using test::Call;
using test::Countdown;

constexpr std::uint64_t kSeeds = 24;

class WorkersBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  io::Scheduler& scheduler() { return seeded_.scheduler(); }
  io::Thread start_thread(std::function<void()> body) {
    Result<io::Thread> started = scheduler().start("poster", std::move(body));
    EXPECT_TRUE(started.ok());
    return *std::move(started);
  }

  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(GetParam())};
  io::ManualClock clock_;
  io::SeededScheduler seeded_{GetParam(), clock_};
};

TEST_P(WorkersBySeed, EveryStepRunsOnceByNoMoreThreadsThanAllowed) {
  constexpr std::size_t kThreadsMax = 3;
  constexpr std::size_t kSteps = 40;
  std::vector<int> runs(kSteps);
  std::set<std::thread::id> ran_by;
  std::size_t at_once = 0;
  std::size_t at_once_max = 0;
  std::deque<Call> steps;
  {
    Workers workers(scheduler(), "worker", kThreadsMax);
    ASSERT_TRUE(workers.start().ok());
    for (std::size_t i = 0; i < kSteps; ++i) {
      steps.emplace_back([&, i] {
        at_once_max = std::max(at_once_max, ++at_once);
        ran_by.insert(std::this_thread::get_id());
        for (std::size_t turn = i % 4; turn > 0; --turn) scheduler().yield();
        ++runs[i];
        --at_once;
      });
    }
    std::vector<io::Thread> posters;
    for (std::size_t first : {0U, 1U}) {
      posters.push_back(start_thread([&, first] {
        for (std::size_t i = first; i < kSteps; i += 2) workers.post(steps[i]);
      }));
    }
    posters.clear();
    workers.stop();
    EXPECT_EQ(runs, std::vector<int>(kSteps, 1));
  }
  EXPECT_LE(at_once_max, kThreadsMax);
  EXPECT_LE(ran_by.size(), kThreadsMax);
}

TEST_P(WorkersBySeed, AStepThatWaitsDoesNotHoldUpAsManyOthersAsThereAreThreads) {
  constexpr std::size_t kThreadsMax = 4;
  Workers workers(scheduler(), "worker", kThreadsMax);
  ASSERT_TRUE(workers.start().ok());
  for (int round = 0; round < 3; ++round) {
    // Each step waits for all others: with one thread fewer this would be a deadlock.
    Countdown all(scheduler(), kThreadsMax);
    Countdown ended(scheduler(), kThreadsMax);
    std::deque<Call> steps;
    for (std::size_t i = 0; i < kThreadsMax; ++i) {
      steps.emplace_back([&] {
        all.tick();
        all.wait();
        ended.tick();
      });
      workers.post(steps.back());
    }
    ended.wait();
  }
}

TEST_P(WorkersBySeed, OneThreadRunsStepsInTheOrderOfTheirComing) {
  std::string order;
  std::deque<Call> steps;
  Workers workers(scheduler(), "worker", 1);
  ASSERT_TRUE(workers.start().ok());
  for (char name = 'a'; name <= 'j'; ++name) {
    steps.emplace_back([&order, name] { order.push_back(name); });
    workers.post(steps.back());
  }
  workers.stop();
  EXPECT_EQ(order, "abcdefghij");
}

TEST_P(WorkersBySeed, AStepMayPostAnotherAndEndTheMemoryItLiesIn) {
  Countdown done(scheduler(), 1);
  Workers workers(scheduler(), "worker", 2);
  ASSERT_TRUE(workers.start().ok());
  struct Chain final : Step {
    Chain(Workers& runs_it, Countdown& at_the_end, int steps_left)
        : workers(runs_it), end(at_the_end), left(steps_left) {}
    void run() noexcept override {
      if (left == 0) {
        end.tick();
      } else {
        workers.post(*new Chain(workers, end, left - 1));
      }
      delete this;
    }
    Workers& workers;
    Countdown& end;
    const int left;
  };
  workers.post(*new Chain(workers, done, 15));
  done.wait();
}

TEST_P(WorkersBySeed, WorkersWithNothingToDoEnd) {
  Workers never_started(scheduler(), "worker", 2);
  Workers idle(scheduler(), "worker", 2);
  ASSERT_TRUE(idle.start().ok());
  idle.stop();
  idle.stop();  // the destructor calls it again
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkersBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(kSeeds)));

TEST(Workers, RealThreadsRunEveryStepOnce) {
  constexpr std::size_t kSteps = 2'000;
  io::Scheduler scheduler;
  std::vector<std::atomic<int>> runs(kSteps);
  std::deque<Call> steps;
  for (std::size_t i = 0; i < kSteps; ++i) steps.emplace_back([&runs, i] { runs[i].fetch_add(1); });
  Workers workers(scheduler, "worker", 4);
  ASSERT_TRUE(workers.start().ok());
  std::vector<std::thread> posters;
  for (std::size_t first = 0; first < 4; ++first) {
    posters.emplace_back([&, first] {
      for (std::size_t i = first; i < kSteps; i += 4) workers.post(steps[i]);
    });
  }
  for (std::thread& poster : posters) poster.join();
  workers.stop();
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace varve::engine::workers_test
