// The seeded scheduler: one seed always runs in the same way, different seeds do not, and errors that depend on a
// schedule are found.
#include "io/simulated/seeded_scheduler.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "tests/io/io_test_support.h"
#include "tests/support/effort.h"

namespace varve::io::seeded_scheduler_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

Thread start(Scheduler& scheduler, std::string_view name, std::function<void()> body) {
  Result<Thread> started = scheduler.start(name, std::move(body));
  EXPECT_TRUE(is_ok(started));
  return started.ok() ? *std::move(started) : Thread();
}

/// The effects of a program under one seed.
struct RunRecord {
  std::uint64_t trace_hash = 0;
  std::uint64_t decision_count = 0;
  SchedulePolicy policy{};
  nanoseconds time{};
  std::string log;  // what the program logged
};

using Program = std::function<void(Scheduler&, std::string& log)>;

RunRecord run(std::uint64_t seed, const Program& program) {
  ManualClock clock;
  const nanoseconds began = clock.monotonic();
  RunRecord result;
  SeededScheduler seeded(seed, clock);
  program(seeded.scheduler(), result.log);
  result.trace_hash = seeded.trace_hash();
  result.decision_count = seeded.decision_count();
  result.policy = seeded.policy();
  result.time = clock.monotonic() - began;
  return result;
}

// Uses every call of the interface: threads, mutex, condition with and without time, event, yield, join.
void busy_program(Scheduler& scheduler, std::string& log) {
  Mutex mutex(scheduler);
  Condition changed(scheduler);
  Event ready(scheduler);
  int stage = 0;
  const auto note = [&](char who) { log.push_back(who); };
  std::vector<Thread> threads;
  for (const char who : {'a', 'b', 'c'}) {
    threads.push_back(start(scheduler, std::string(1, who), [&, who] {
      ready.wait();
      for (int round = 0; round < 4; ++round) {
        note(who);
        round % 2 == 0 ? scheduler.yield() : scheduler.give_way();
        const MutexGuard guard(mutex);
        ++stage;
        changed.notify_one();
      }
      const MutexGuard guard(mutex);
      while (stage < 12) (void)changed.wait_for(mutex, milliseconds(5));
      changed.notify_all();
      note(static_cast<char>(who - 'a' + 'A'));
    }));
  }
  note('s');
  ready.set();
  {
    const MutexGuard guard(mutex);
    while (stage < 12) changed.wait(mutex);
    changed.notify_all();
  }
  threads.clear();
  note('e');
}

TEST(SeededScheduler, TheSameSeedRunsTheSameWay) {
  for (std::uint64_t seed = 0; seed < test::effort(300U); ++seed) {
    SCOPED_TRACE(seed);
    const RunRecord first = run(seed, busy_program);
    const RunRecord second = run(seed, busy_program);
    ASSERT_EQ(first.trace_hash, second.trace_hash);
    ASSERT_EQ(first.decision_count, second.decision_count);
    ASSERT_EQ(first.time, second.time);
    ASSERT_EQ(first.log, second.log);
  }
}

TEST(SeededScheduler, DifferentSeedsRunDifferently) {
  std::set<std::uint64_t> hashes;
  std::set<std::string> logs;
  std::set<SchedulePolicy> policies;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RunRecord result = run(seed, busy_program);
    hashes.insert(result.trace_hash);
    logs.insert(result.log);
    policies.insert(result.policy);
  }
  EXPECT_GE(hashes.size(), 290U);
  EXPECT_GE(logs.size(), 150U);
  EXPECT_EQ(policies.size(), 3U);
}

TEST(SeededScheduler, RunsOneThreadAtATime) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    run(seed, [](Scheduler& scheduler, std::string&) {
      int inside_count = 0;  // Plain int: only one thread at a time may be between two yields.
      std::vector<Thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.push_back(start(scheduler, "worker", [&] {
          for (int round = 0; round < 20; ++round) {
            EXPECT_EQ(++inside_count, 1);
            --inside_count;
            scheduler.yield();
          }
        }));
      }
    });
  }
}

// -- What schedules break ---------------------------------------------------------------------------------------------

/// Two threads add one each, and one addition can be lost. Returns the sum.
int add_twice(std::uint64_t seed, bool locked) {
  int sum = 0;
  run(seed, [&](Scheduler& scheduler, std::string&) {
    Mutex mutex(scheduler);
    const auto add = [&] {
      std::optional<MutexGuard> guard;
      if (locked) guard.emplace(mutex);
      const int read = sum;
      scheduler.yield();
      sum = read + 1;
    };
    const Thread other = start(scheduler, "adder", add);
    add();
  });
  return sum;
}

TEST(SeededScheduler, FindsAPlantedLostUpdateWithinTwentySeeds) {
  int lost_count = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) lost_count += add_twice(seed, false) == 1 ? 1 : 0;
  EXPECT_GT(lost_count, 0);
  EXPECT_LT(lost_count, 20) << "no seed ran the two one after the other";
}

TEST(SeededScheduler, FindsNoLostUpdateWhereThereIsAMutex) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) EXPECT_EQ(add_twice(seed, true), 2) << "seed " << seed;
}

// The flag is set without the mutex, between the waiter's check and its wait.
TEST(SeededScheduler, FindsAPlantedLostNotification) {
  int lost_count = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    run(seed, [&](Scheduler& scheduler, std::string&) {
      Mutex mutex(scheduler);
      Condition changed(scheduler);
      bool flag = false;
      const Thread setter = start(scheduler, "setter", [&] {
        flag = true;
        changed.notify_one();
      });
      const MutexGuard guard(mutex);
      if (!flag && !changed.wait_for(mutex, milliseconds(100))) ++lost_count;
    });
  }
  EXPECT_GT(lost_count, 0);
  EXPECT_LT(lost_count, 100);
}

TEST(SeededScheduler, WakesWithoutCauseUnderSomeSeeds) {
  int without_cause_count = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    run(seed, [&](Scheduler& scheduler, std::string&) {
      Mutex mutex(scheduler);
      Condition never(scheduler);
      const MutexGuard guard(mutex);
      for (int i = 0; i < 10; ++i) without_cause_count += never.wait_for(mutex, milliseconds(1)) ? 1 : 0;
    });
  }
  EXPECT_GT(without_cause_count, 0);
  EXPECT_LT(without_cause_count, 200);
}

/// Two threads take two mutexes in opposite order, under every seed until one deadlocks.
void lock_in_opposite_orders() {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    run(seed, [](Scheduler& scheduler, std::string&) {
      Mutex first(scheduler);
      Mutex second(scheduler);
      const Thread other = start(scheduler, "backwards", [&] {
        const MutexGuard outer(second);
        const MutexGuard inner(first);
      });
      const MutexGuard outer(first);
      const MutexGuard inner(second);
    });
  }
}

void wait_for_nobody() {
  run(7, [](Scheduler& scheduler, std::string&) {
    Event never(scheduler);
    const Thread waiter = start(scheduler, "waiter", [&] { never.wait(); });
  });
}

void lock_twice() {
  run(7, [](Scheduler& scheduler, std::string&) {
    Mutex mutex(scheduler);
    const auto lock = [&]() VARVE_NO_THREAD_SAFETY_ANALYSIS { mutex.lock(); };
    lock();
    lock();
  });
}

void yield_for_ever() {
  ManualClock clock;
  SeededScheduler seeded(7, clock);
  seeded.set_decisions_max(1000);
  for (;;) seeded.scheduler().yield();
}

void call_from_outside() {
  ManualClock clock;
  SeededScheduler seeded(7, clock);
  std::thread outsider([&] { seeded.scheduler().yield(); });
  outsider.join();
}

class SeededSchedulerDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(SeededSchedulerDeathTest, ADeadlockTellsSeedAndWhoWaitsForWhat) {
  EXPECT_DEATH(lock_in_opposite_orders(),
               "seed [0-9]+, decision [0-9]+: deadlock(.|\n)*'main' waits for mutex 0x[0-9a-f]+, held by thread 1 "
               "'backwards'(.|\n)*'backwards' waits for mutex 0x[0-9a-f]+, held by thread 0 'main'");
  EXPECT_DEATH(wait_for_nobody(), "seed 7, (.|\n)*'main' joins thread 1 'waiter'(.|\n)*'waiter' waits for event");
}

TEST_F(SeededSchedulerDeathTest, MisuseEndsTheProcess) {
  EXPECT_DEATH(lock_twice(), "seed 7, .*a thread locks a mutex that it holds");
  EXPECT_DEATH(yield_for_ever(), "seed 7, decision 1001: too many decisions");
  EXPECT_DEATH(call_from_outside(), "seed 7: yield\\(\\) by a thread that it does not run");
}

// -- Time -------------------------------------------------------------------------------------------------------------

TEST(SeededScheduler, TimeoutsPassInSimulatedTime) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const RunRecord result = run(seed, [](Scheduler& scheduler, std::string&) {
      Mutex mutex(scheduler);
      Condition never(scheduler);
      const MutexGuard guard(mutex);
      while (never.wait_for(mutex, std::chrono::hours(10))) {
      }
    });
    EXPECT_GE(result.time, std::chrono::hours(10));
    EXPECT_LT(result.time, std::chrono::hours(11));
  }
}

TEST(SeededScheduler, TheEarlierDeadlineComesFirst) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RunRecord result = run(seed, [](Scheduler& scheduler, std::string& log) {
      Mutex mutex(scheduler);
      Condition never(scheduler);
      const auto wait = [&](char who, nanoseconds timeout) {
        const MutexGuard guard(mutex);
        while (never.wait_for(mutex, timeout)) {
        }
        log.push_back(who);
      };
      const Thread late = start(scheduler, "late", [&] { wait('3', milliseconds(300)); });
      const Thread early = start(scheduler, "early", [&] { wait('1', milliseconds(5)); });
      wait('2', milliseconds(60));
    });
    EXPECT_EQ(result.log, "123");
  }
}

TEST(SeededScheduler, AClockMovedByTheProgramEndsWaits) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    ManualClock clock;
    SeededScheduler seeded(seed, clock);
    Mutex mutex(seeded.scheduler());
    Condition never(seeded.scheduler());
    bool timed_out = false;
    const Thread waiter = start(seeded.scheduler(), "waiter", [&] {
      const MutexGuard guard(mutex);
      while (never.wait_for(mutex, std::chrono::hours(1))) {
      }
      timed_out = true;
    });
    // No other thread can advance the time here, because this thread can always run.
    int yield_count = 0;
    while (!timed_out && yield_count < 100'000) {
      if (++yield_count % 1000 == 0) clock.advance(std::chrono::hours(2));
      seeded.scheduler().yield();
    }
    EXPECT_TRUE(timed_out);
    EXPECT_LT(yield_count, 100'000);
  }
}

TEST(SeededScheduler, ZeroTimeoutsDoNotWaitButLetOthersRun) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    run(seed, [](Scheduler& scheduler, std::string&) {
      Mutex mutex(scheduler);
      Condition polled(scheduler);
      bool done = false;
      const Thread other = start(scheduler, "other", [&] {
        const MutexGuard guard(mutex);
        done = true;
      });
      const MutexGuard guard(mutex);
      while (!done) EXPECT_FALSE(polled.wait_for(mutex, nanoseconds(0)));
    });
  }
}

// -- Primitives -------------------------------------------------------------------------------------------------------

TEST(SeededScheduler, OneSetWakesAllWaitersOfAnEvent) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RunRecord result = run(seed, [](Scheduler& scheduler, std::string& log) {
      Event event(scheduler);
      std::vector<Thread> threads;
      for (int i = 0; i < 5; ++i) {
        threads.push_back(start(scheduler, "waiter", [&] {
          event.wait();
          EXPECT_TRUE(event.is_set());
          log.push_back('w');
        }));
      }
      log.push_back('s');
      event.set();
      threads.clear();
    });
    EXPECT_EQ(result.log, "swwwww");
  }
}

TEST(SeededScheduler, AnEventMayBeFreedByItsWaiter) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    run(seed, [](Scheduler& scheduler, std::string&) {
      auto event = std::make_unique<Event>(scheduler);
      Event* const shared = event.get();
      const Thread setter = start(scheduler, "setter", [&] { shared->set(); });
      event->wait();
      event.reset();
    });
  }
}

TEST(SeededScheduler, NotifyOneWakesOneAndNotifyAllTheRest) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    run(seed, [](Scheduler& scheduler, std::string&) {
      Mutex mutex(scheduler);
      Condition changed(scheduler);
      int waiting_count = 0;
      int permits = 0;
      int passed_count = 0;
      std::vector<Thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.push_back(start(scheduler, "waiter", [&] {
          const MutexGuard guard(mutex);
          ++waiting_count;
          while (permits == 0) changed.wait(mutex);
          --permits;
          ++passed_count;
        }));
      }
      const auto pass = [&](int count, bool all) {
        const MutexGuard guard(mutex);
        permits += count;
        if (all) {
          changed.notify_all();
        } else {
          changed.notify_one();
        }
      };
      const auto wait_until = [&](const int& counter, int wanted) {
        for (int seen = -1; seen < wanted; scheduler.yield()) {
          const MutexGuard guard(mutex);
          seen = counter;
        }
      };
      wait_until(waiting_count, 4);
      pass(1, false);
      wait_until(passed_count, 1);
      pass(3, true);
      threads.clear();
      EXPECT_EQ(passed_count, 4);
    });
  }
}

TEST(SeededScheduler, WhatABodyHoldsIsLetGoInItsThread) {
  struct LocksWhenFreed {
    explicit LocksWhenFreed(Mutex& mutex_to_lock) : mutex(mutex_to_lock) {}
    ~LocksWhenFreed() { const MutexGuard guard(mutex); }
    Mutex& mutex;
  };
  run(1, [](Scheduler& scheduler, std::string&) {
    Mutex mutex(scheduler);
    auto held = std::make_shared<LocksWhenFreed>(mutex);
    const Thread thread = start(scheduler, "holder", [held] {});
    held.reset();
  });
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(1000);
  const nanoseconds began = clock.monotonic();
  EXPECT_EQ(clock.wall(), 1000U);
  clock.advance(milliseconds(2));
  EXPECT_EQ(clock.wall(), 1000 + 2 * kTicksPerMillisecond);
  EXPECT_EQ(clock.monotonic() - began, milliseconds(2));
  clock.set_wall(5);
  EXPECT_EQ(clock.wall(), 5U);
  EXPECT_EQ(clock.monotonic() - began, milliseconds(2));
  clock.advance(nanoseconds(-1));
  EXPECT_EQ(clock.monotonic() - began, milliseconds(2));
}

TEST(SeededRandom, FollowsFromItsSeed) {
  SeededRandom first(1);
  SeededRandom again(1);
  SeededRandom other(2);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t number = first.next();
    EXPECT_EQ(number, again.next());
    EXPECT_NE(number, other.next());
    seen.insert(number);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace varve::io::seeded_scheduler_test
