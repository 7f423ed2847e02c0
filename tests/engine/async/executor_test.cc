// Goal: a step posted to an executor runs once, in order, on its thread. Timers run in order and never early. stop()
// waits for begun operations. A post wakes the thread wherever it waits.
// Method: seeded schedules in simulated time, with reads blocked by a gate that only a later step opens. A post that
// does not wake the thread causes a deadlock, which the scheduler reports with the seed.
#include "engine/async/executor.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/async/async_read.h"
#include "tests/engine/async/async_bench.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::executor_test {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using test::Call;
using test::Change;
using test::Countdown;
using test::Machine;

constexpr std::uint64_t kSeeds = 24;

class ExecutorBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  ExecutorBySeed() { executor_ = *Executor::start(env_, blocks_); }

  nanoseconds now() { return machine_.clock.monotonic(); }
  /// Begins an operation, so that stop() waits for all later posts. The returned step must run last.
  Call last_step() {
    EXPECT_TRUE(executor_->begin_operation());
    return Call([this] { executor_->end_operation(); });
  }
  io::Thread start_thread(std::function<void()> body) {
    Result<io::Thread> started = machine_.scheduler().start("poster", std::move(body));
    EXPECT_TRUE(started.ok());
    return *std::move(started);
  }
  /// Runs `body` on the executor's thread, and returns after it.
  void run_there(const std::function<void()>& body) {
    Countdown done(machine_.scheduler(), 1);
    Call step([&] {
      body();
      done.tick();
    });
    executor_->post(step);
    done.wait();
  }

  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(GetParam())};
  Machine machine_{GetParam(), test::OneThreadAtATime()};
  test::GatedFiles files_{*machine_.files, machine_.scheduler()};
  io::Env env_{files_, machine_.clock, machine_.random, machine_.scheduler()};
  std::shared_ptr<BlockCache> cache_ = std::make_shared<BlockCache>(machine_.scheduler(), 64 << 10);
  BlockReader blocks_{machine_.scheduler(), *cache_};
  std::unique_ptr<Executor> executor_;
};

TEST_P(ExecutorBySeed, StepsRunOnceEachInTheOrderOfTheirThreadOnTheExecutors) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kSteps = 12;
  std::vector<std::vector<std::size_t>> ran(kThreads);  // used only by the executor's thread
  std::deque<Call> steps;
  for (std::size_t i = 0; i < kThreads * kSteps; ++i) {
    steps.emplace_back([this, i, &ran] {
      EXPECT_TRUE(executor_->is_this_thread());
      ran[i / kSteps].push_back(i % kSteps);
    });
  }
  std::vector<io::Thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.push_back(start_thread([&, thread] {
      EXPECT_FALSE(executor_->is_this_thread());
      for (std::size_t i = 0; i < kSteps; ++i) executor_->post(steps[thread * kSteps + i]);
    }));
  }
  threads.clear();
  Call last = last_step();
  executor_->post(last);
  executor_->stop();
  for (const std::vector<std::size_t>& numbers : ran) {
    ASSERT_EQ(numbers.size(), kSteps);
    for (std::size_t i = 0; i < kSteps; ++i) EXPECT_EQ(numbers[i], i);
  }
}

TEST_P(ExecutorBySeed, StopWaitsForOperationsThatEndOnOtherThreads) {
  constexpr int kThreads = 3;
  std::atomic<int> ended{0};
  std::vector<io::Thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(executor_->begin_operation());
    threads.push_back(start_thread([&] {
      machine_.scheduler().yield();
      ++ended;
      executor_->end_operation();
    }));
  }
  executor_->stop();
  EXPECT_EQ(ended.load(), kThreads);
  EXPECT_FALSE(executor_->begin_operation());
}

TEST_P(ExecutorBySeed, OneOperationIsNotSeveral) {
  EXPECT_FALSE(executor_->has_several_operations());
  ASSERT_TRUE(executor_->begin_operation());
  EXPECT_FALSE(executor_->has_several_operations());
  ASSERT_TRUE(executor_->begin_operation());
  EXPECT_TRUE(executor_->has_several_operations());
  executor_->end_operation();
  EXPECT_FALSE(executor_->has_several_operations());
  executor_->end_operation();
}

TEST_P(ExecutorBySeed, AStepPostedByAStepRunsAfterItAndNotWithinIt) {
  std::string order;
  Call second([&] { order += "2"; });
  Countdown done(machine_.scheduler(), 1);
  Call third([&] {
    order += "3";
    done.tick();
  });
  run_there([&] {
    order += "(";
    executor_->post(second);
    executor_->post(third);
    order += ")";
  });
  done.wait();
  EXPECT_EQ(order, "()23");
}

TEST_P(ExecutorBySeed, AStepMayBePostedAgainAndAgain) {
  int runs = 0;
  Countdown done(machine_.scheduler(), 1);
  std::unique_ptr<Call> again;
  again = std::make_unique<Call>([&] {
    if (++runs == 20) {
      done.tick();
    } else {
      executor_->post(*again);
    }
  });
  executor_->post(*again);
  done.wait();
  EXPECT_EQ(runs, 20);
}

TEST_P(ExecutorBySeed, AStepMayEndTheMemoryItLiesIn) {
  Countdown done(machine_.scheduler(), 10);
  struct Once final : Step {
    explicit Once(Countdown& ticked) : count(ticked) {}
    void run() noexcept override {
      Countdown& kept = count;
      delete this;
      kept.tick();
    }
    Countdown& count;
  };
  for (int i = 0; i < 10; ++i) executor_->post(*new Once(done));
  done.wait();
}

TEST_P(ExecutorBySeed, TimersRunInTheOrderOfTheirTimesAndNotBefore) {
  constexpr std::size_t kTimers = 12;
  std::mt19937_64 random(GetParam());
  Countdown done(machine_.scheduler(), kTimers);
  std::vector<nanoseconds> ran;
  std::deque<Call> steps;
  std::deque<Executor::Timer> timers;
  std::vector<nanoseconds> times;
  for (std::size_t i = 0; i < kTimers; ++i) {
    times.push_back(now() + microseconds(random() % 3'000));
    steps.emplace_back([&, i] {
      EXPECT_TRUE(executor_->is_this_thread());
      EXPECT_GE(now(), times[i]);
      ran.push_back(times[i]);
      done.tick();
    });
    timers.emplace_back(steps.back());
  }
  run_there([&] {
    for (std::size_t i = 0; i < kTimers; ++i) EXPECT_TRUE(executor_->set(timers[i], times[i]).ok());
  });
  for (int i = 0; i < 10; ++i) run_there([] {});  // Posts come in between.
  done.wait();
  // A timer whose time had passed before it was set runs late. But all timers were set in one step.
  std::sort(times.begin(), times.end());
  EXPECT_EQ(ran, times);
}

TEST_P(ExecutorBySeed, ATimerMaySetItselfAgainAndAPostedStepDoesNotWaitForIt) {
  int runs = 0;
  Countdown done(machine_.scheduler(), 1);
  std::unique_ptr<Executor::Timer> timer;
  Call tick([&] {
    if (++runs == 5) {
      done.tick();
    } else {
      EXPECT_TRUE(executor_->set(*timer, now() + std::chrono::hours(1)).ok());
    }
  });
  timer = std::make_unique<Executor::Timer>(tick);
  const nanoseconds began = now();
  run_there([&] { EXPECT_TRUE(executor_->set(*timer, now() + std::chrono::hours(1)).ok()); });
  run_there([] {});
  EXPECT_EQ(runs, 0);
  EXPECT_LT(now() - began, std::chrono::minutes(1));
  done.wait();
  EXPECT_GE(now() - began, std::chrono::hours(5));
}

TEST_P(ExecutorBySeed, ATimerThatIsCalledOffDoesNotRunAndOthersDo) {
  std::string order;
  Countdown done(machine_.scheduler(), 2);
  Call off([&] { order += "x"; });
  Call late([&] {
    order += "b";
    done.tick();
  });
  Executor::Timer neighbour(off);
  Call early([&] {
    order += "a";
    executor_->call_off(neighbour);  // due at the same time, and not run yet
    done.tick();
  });
  Executor::Timer first(early);
  Executor::Timer called_off(off);
  Executor::Timer last(late);
  Executor::Timer never_set(off);
  run_there([&] {
    const nanoseconds start = now() + microseconds(500);
    EXPECT_TRUE(executor_->set(last, start + microseconds(900)).ok());
    EXPECT_TRUE(executor_->set(called_off, start).ok());
    EXPECT_TRUE(executor_->set(first, start).ok());
    EXPECT_TRUE(executor_->set(neighbour, start + nanoseconds(1)).ok());
    executor_->call_off(called_off);
    executor_->call_off(called_off);
    executor_->call_off(never_set);
  });
  done.wait();
  run_there([&] {
    executor_->call_off(first);  // has run
    EXPECT_TRUE(executor_->set(first, now() + std::chrono::hours(1)).ok());
    executor_->call_off(first);
  });
  EXPECT_EQ(order, "ab");
}

TEST_P(ExecutorBySeed, WithoutMemoryATimerIsNotSetAndCanBeLater) {
  Countdown done(machine_.scheduler(), 1);
  Call tick([&] { done.tick(); });
  Executor::Timer timer(tick);
  run_there([&] {
    {
      const test::AllocationFailure failure(1);
      EXPECT_EQ(executor_->set(timer, now()).code(), Code::kOutOfMemory);
    }
    executor_->call_off(timer);
    EXPECT_TRUE(executor_->set(timer, now()).ok());
  });
  done.wait();
}

TEST_P(ExecutorBySeed, StopWaitsForOperationsThatHaveBegunAndLetsNoneBegin) {
  bool has_ended = false;
  bool has_stopped = false;
  ASSERT_TRUE(executor_->begin_operation());
  ASSERT_TRUE(executor_->begin_operation());
  io::Thread stopper = start_thread([&] {
    executor_->stop();
    EXPECT_TRUE(has_ended);
    has_stopped = true;
  });
  while (executor_->begin_operation()) run_there([this] { executor_->end_operation(); });
  run_there([this] { executor_->end_operation(); });
  for (int i = 0; i < 20; ++i) machine_.scheduler().yield();
  EXPECT_FALSE(has_stopped);
  EXPECT_FALSE(executor_->begin_operation());
  Call end([&] {
    has_ended = true;
    executor_->end_operation();
  });
  executor_->post(end);
  stopper.join();
  EXPECT_TRUE(has_stopped);
  EXPECT_FALSE(executor_->begin_operation());
  executor_->stop();  // a second call
}

TEST_P(ExecutorBySeed, StopWaitsForTheTimerThatEndsAnOperation) {
  bool has_ended = false;
  Call end([&] {
    has_ended = true;
    executor_->end_operation();
  });
  Executor::Timer timer(end);
  ASSERT_TRUE(executor_->begin_operation());
  Call begin([&] { EXPECT_TRUE(executor_->set(timer, now() + std::chrono::seconds(1)).ok()); });
  executor_->post(begin);
  executor_->stop();
  EXPECT_TRUE(has_ended);
}

TEST_P(ExecutorBySeed, WithoutAQueueItDoesNotStart) {
  files_.refuse_queues(Status::io_error("no more"));
  EXPECT_EQ(Executor::start(env_, blocks_).code(), Code::kIoError);
}

/// With a store of one table, whose blocks are not in the cache.
class ExecutorAndReadsBySeed : public ExecutorBySeed {
 protected:
  void SetUp() override {
    EngineOptions options = Machine::writable();
    options.block_cache = cache_;
    engine_ = *machine_.open(options);
    ASSERT_TRUE(Change().put("p", "a", "1").commit(*engine_).ok());
    ASSERT_TRUE(engine_->flush().ok());
    const std::uint64_t bytes_max = cache_->bytes_max();
    cache_->set_bytes_max(0);  // The flushed blocks are in it.
    cache_->set_bytes_max(bytes_max);
    files_.gate().set_open(false);
  }
  void TearDown() override { executor_.reset(); }  // before the store

  /// An operation that looks up one key.
  class Search final : public Step {
   public:
    explicit Search(ExecutorAndReadsBySeed& test) : test_(test), view_(test.engine_->view()) {}
    void run() noexcept override {
      const std::vector<std::string_view> keys = {key_};
      const Result<bool> found = read_.look(keys, view_.version(), EntryPart::kAll);
      ASSERT_TRUE(found.ok());
      if (*found) return end();
      read_.begin(end_);
    }
    std::string value;

   private:
    void end() {
      const auto found = read_.take();
      value = !found.ok() ? found.status().to_string() : (*found)[0] ? std::string((*found)[0]->value) : "-";
      test_.executor_->end_operation();
    }
    ExecutorAndReadsBySeed& test_;
    const std::string key_ = test::key_of("p", "a");
    const ReadView view_;
    AsyncRead read_{*test_.executor_, view_};
    Call end_{[this] { end(); }};
  };

  std::unique_ptr<Engine> engine_;
};

TEST_P(ExecutorAndReadsBySeed, APostWakesItWhereItWaitsForARead) {
  Search search(*this);
  ASSERT_TRUE(executor_->begin_operation());
  executor_->post(search);
  files_.gate().wait_for_standing();
  for (int i = 0; i < 5; ++i) run_there([] {});
  run_there([&] { EXPECT_EQ(search.value, ""); });
  run_there([this] { files_.gate().set_open(true); });
  executor_->stop();
  EXPECT_EQ(search.value, "1");
}

TEST_P(ExecutorAndReadsBySeed, APostWakesItThereAlsoWhileItIsBeingStopped) {
  Search search(*this);
  ASSERT_TRUE(executor_->begin_operation());
  executor_->post(search);
  files_.gate().wait_for_standing();
  io::Thread stopper = start_thread([this] { executor_->stop(); });
  while (executor_->begin_operation()) run_there([this] { executor_->end_operation(); });
  for (int i = 0; i < 5; ++i) run_there([] {});
  run_there([this] { files_.gate().set_open(true); });
  stopper.join();
  EXPECT_EQ(search.value, "1");
}

TEST_P(ExecutorAndReadsBySeed, SeveralThreadsPostWhileReadsComeAndGo) {
  constexpr std::size_t kSearches = 6;
  files_.gate().set_open(true);
  std::size_t ran = 0;
  std::deque<Search> searches;
  std::deque<Call> steps;
  std::vector<io::Thread> threads;
  for (std::size_t i = 0; i < kSearches; ++i) {
    searches.emplace_back(*this);
    steps.emplace_back([&ran] { ++ran; });
    ASSERT_TRUE(executor_->begin_operation());
    threads.push_back(start_thread([&, i] {
      executor_->post(steps[i]);
      executor_->post(searches[i]);
    }));
  }
  threads.clear();
  executor_->stop();
  EXPECT_EQ(ran, kSearches);
  for (const Search& search : searches) EXPECT_EQ(search.value, "1");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExecutorBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(kSeeds)));
INSTANTIATE_TEST_SUITE_P(Seeds, ExecutorAndReadsBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(kSeeds / 2)));

}  // namespace
}  // namespace varve::engine::executor_test
