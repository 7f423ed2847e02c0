// The primitives of io/scheduler.h under the operating system's scheduler.
#include "io/scheduler.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "tests/io/child_process.h"
#include "tests/io/io_test_support.h"
#include "tests/io/posix/refused_system_calls.h"

namespace varve::io::scheduler_test {
namespace {

using std::chrono::nanoseconds;

Thread start(Scheduler& scheduler, std::string_view name, std::function<void()> body) {
  Result<Thread> started = scheduler.start(name, std::move(body));
  EXPECT_TRUE(is_ok(started));
  return started.ok() ? *std::move(started) : Thread();
}

std::string name_of_this_thread() {
  char name[64] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return name;
}

// -- Thread -----------------------------------------------------------------------------------------------------------

TEST(Thread, JoinWaitsUntilTheBodyHasReturned) {
  Scheduler scheduler;
  Event go(scheduler);
  bool done = false;
  Thread thread = start(scheduler, "worker", [&] {
    go.wait();
    done = true;
  });
  go.set();
  thread.join();
  EXPECT_TRUE(done);
  thread.join();  // A second call does nothing.
}

TEST(Thread, DestructionAndAssignmentJoin) {
  Scheduler scheduler;
  int ended_count = 0;
  {
    Thread thread = start(scheduler, "first", [&] { ++ended_count; });
    thread = start(scheduler, "second", [] {});
    EXPECT_EQ(ended_count, 1);
    thread = Thread();
    const Thread last = start(scheduler, "third", [&] { ++ended_count; });
  }
  EXPECT_EQ(ended_count, 2);
}

TEST(Thread, AssignedToItselfGoesOn) {
  Scheduler scheduler;
  Event go(scheduler);
  bool done = false;
  Thread thread = start(scheduler, "worker", [&] {
    go.wait();
    done = true;
  });
  Thread& same = thread;
  thread = std::move(same);  // A join here would wait without end.
  go.set();
  thread.join();
  EXPECT_TRUE(done);
}

TEST(Thread, BearsItsNameCutToFifteenCharacters) {
  Scheduler scheduler;
  std::string short_name;
  std::string long_name;
  start(scheduler, "filler", [&] { short_name = name_of_this_thread(); }).join();
  start(scheduler, "a-name-of-more-than-fifteen", [&] { long_name = name_of_this_thread(); }).join();
  EXPECT_EQ(short_name, "filler");
  EXPECT_EQ(long_name, "a-name-of-more-");
}

TEST(Thread, ThatTheSystemRefusesIsAStatusThatNamesIt) {
  const std::string outcome = in_child([] {
    refuse_system_calls({{SYS_clone3, EAGAIN}, {SYS_clone, EAGAIN}});
    Scheduler scheduler;
    bool ran = false;
    const Result<Thread> started = scheduler.start("refused", [&] { ran = true; });
    return (ran ? "ran: " : "") + started.status().to_string();
  });
  EXPECT_EQ(outcome.rfind("IoError: cannot start thread 'refused': ", 0), 0U) << outcome;
}

// -- Mutex and Condition ----------------------------------------------------------------------------------------------

TEST(Thread, ThatGivesWayGoesOnWhenOthersHaveRun) {
  Scheduler scheduler;
  std::atomic<bool> has_run{false};
  const Thread other = start(scheduler, "other", [&] { has_run.store(true); });
  while (!has_run.load()) scheduler.give_way();
}

TEST(Mutex, KeepsThreadsApart) {
  constexpr int kThreadCount = 4;
  constexpr int kRoundCount = 5000;
  Scheduler scheduler;
  Mutex mutex(scheduler);
  int counter = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kThreadCount; ++i) {
      threads.push_back(start(scheduler, "counter", [&] {
        for (int round = 0; round < kRoundCount; ++round) {
          const MutexGuard guard(mutex);
          ++counter;
        }
      }));
    }
  }
  EXPECT_EQ(counter, kThreadCount * kRoundCount);
}

TEST(Condition, HandsOverBackAndForth) {
  constexpr int kRoundCount = 1000;
  Scheduler scheduler;
  Mutex mutex(scheduler);
  Condition turned(scheduler);
  int turn = 0;
  const auto play = [&](int player) {
    for (int round = 0; round < kRoundCount; ++round) {
      const MutexGuard guard(mutex);
      while (turn % 2 != player) turned.wait(mutex);
      ++turn;
      turned.notify_one();
    }
  };
  {
    const Thread other = start(scheduler, "player", [&] { play(1); });
    play(0);
  }
  EXPECT_EQ(turn, 2 * kRoundCount);
}

TEST(Condition, NotifyAllWakesEveryWaiter) {
  constexpr int kThreadCount = 8;
  Scheduler scheduler;
  Mutex mutex(scheduler);
  Condition changed(scheduler);
  bool open = false;
  int passed_count = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kThreadCount; ++i) {
      threads.push_back(start(scheduler, "waiter", [&] {
        const MutexGuard guard(mutex);
        while (!open) changed.wait(mutex);
        ++passed_count;
      }));
    }
    const MutexGuard guard(mutex);
    open = true;
    changed.notify_all();
  }
  EXPECT_EQ(passed_count, kThreadCount);
}

TEST(Condition, WaitThatNobodyEndsTimesOut) {
  Scheduler scheduler;
  Mutex mutex(scheduler);
  Condition never(scheduler);
  const MutexGuard guard(mutex);
  // It may wake without cause. What counts is that it returns false in the end.
  while (never.wait_for(mutex, std::chrono::milliseconds(1))) {
  }
  SUCCEED();
}

TEST(Condition, ZeroAndNegativeTimeoutsDoNotWait) {
  Scheduler scheduler;
  Mutex mutex(scheduler);
  Condition never(scheduler);
  const MutexGuard guard(mutex);
  EXPECT_FALSE(never.wait_for(mutex, nanoseconds(0)));
  EXPECT_FALSE(never.wait_for(mutex, nanoseconds(-1)));
  EXPECT_FALSE(never.wait_for(mutex, nanoseconds::min()));
}

TEST(Condition, TheLongestTimeoutIsEndedByANotification) {
  Scheduler scheduler;
  Mutex mutex(scheduler);
  Condition changed(scheduler);
  bool is_waiting = false;
  bool was_notified = false;
  {
    const Thread waiter = start(scheduler, "waiter", [&] {
      const MutexGuard guard(mutex);
      is_waiting = true;
      was_notified = changed.wait_for(mutex, nanoseconds::max());
    });
    // If this thread sees the flag under the mutex, the waiter is in its wait.
    for (bool seen = false; !seen;) {
      const MutexGuard guard(mutex);
      seen = is_waiting;
    }
    changed.notify_one();
  }
  EXPECT_TRUE(was_notified);
}

// -- Event ------------------------------------------------------------------------------------------------------------

TEST(Event, IsClearUntilSetAndThenStaysSet) {
  Scheduler scheduler;
  Event event(scheduler);
  EXPECT_FALSE(event.is_set());
  event.set();
  EXPECT_TRUE(event.is_set());
  event.wait();
  event.set();
  event.wait();
  EXPECT_TRUE(event.is_set());
}

TEST(Event, OneSetWakesAllWaitersAndShowsWhatWasWrittenBefore) {
  constexpr int kThreadCount = 16;
  constexpr int kRoundCount = 50;
  Scheduler scheduler;
  for (int round = 0; round < kRoundCount; ++round) {
    Event event(scheduler);
    int written = 0;  // A plain int: only the event orders the accesses.
    std::atomic<int> seen_count{0};
    std::vector<Thread> threads;
    for (int i = 0; i < kThreadCount; ++i) {
      threads.push_back(start(scheduler, "waiter", [&] {
        event.wait();
        if (written == 42) seen_count.fetch_add(1, std::memory_order_relaxed);
      }));
    }
    written = 42;
    event.set();
    threads.clear();
    EXPECT_EQ(seen_count.load(), kThreadCount);
  }
}

// If set() touches the event again, the address sanitizer reports a use after free. The thread sanitizer reports a race
// with the deletion.
TEST(Event, MayBeFreedByItsWaiterAsSoonAsTheWaitIsOver) {
  constexpr int kRoundCount = 20'000;
  Scheduler scheduler;
  std::atomic<Event*> handed_over{nullptr};
  std::atomic<bool> ended{false};
  const Thread setter = start(scheduler, "setter", [&] {
    while (!ended.load(std::memory_order_acquire)) {
      if (Event* const event = handed_over.exchange(nullptr, std::memory_order_acq_rel)) event->set();
    }
  });
  for (int round = 0; round < kRoundCount; ++round) {
    auto event = std::make_unique<Event>(scheduler);
    handed_over.store(event.get(), std::memory_order_release);
    event->wait();
    event.reset();
  }
  ended.store(true, std::memory_order_release);
}

}  // namespace
}  // namespace varve::io::scheduler_test
