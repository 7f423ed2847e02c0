// Goal: a task runs only when it is awaited, gives its result once to the awaiting coroutine, and reports how it
// failed, on whatever thread it ends.
// Method: coroutines without a store, which wait at gates. The test opens the gates from its own thread or from others.
#include "varve/task.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/scheduler.h"
#include "tests/support/effort.h"
#include "varve/result.h"

namespace varve::task_test {
namespace {

/// A coroutine waits here until the gate is opened. It continues on the opening thread.
class Gate {
 public:
  explicit Gate(io::Scheduler& scheduler) : arrived_(scheduler) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    arrived_.set();
  }
  void await_resume() const noexcept {}
  bool has_arrived() const noexcept { return arrived_.is_set(); }
  /// Waits for the coroutine, and resumes it.
  void open() {
    arrived_.wait();
    waiting_.resume();
  }

 private:
  std::coroutine_handle<> waiting_;
  io::Event arrived_;
};

Task<int> at_once(int value) {
  co_return value;
}

Task<int> behind(Gate* gate, int value) {
  co_await *gate;
  co_return value;
}

Task<int> noting(std::vector<std::string>* notes, std::string note, int value) {
  notes->push_back(note);
  co_return value;
}

io::Thread start_thread(io::Scheduler& scheduler, std::function<void()> body) {
  Result<io::Thread> thread = scheduler.start("test", std::move(body));
  EXPECT_TRUE(thread.ok()) << thread.status().to_string();
  return *std::move(thread);
}

TEST(Task, DoesNothingBeforeItIsAwaited) {
  std::vector<std::string> notes;
  Task<int> task = noting(&notes, "ran", 7);
  EXPECT_TRUE(notes.empty());
  int given = 0;
  start(std::move(task), [&](int value) { given = value; });
  EXPECT_EQ(notes, std::vector<std::string>{"ran"});
  EXPECT_EQ(given, 7);
}

TEST(Task, NeverAwaitedLetsGoOfWhatItWasGiven) {
  const auto kept = std::make_shared<int>(1);
  std::vector<std::string> notes;
  struct Holder {
    static Task<int> hold(std::shared_ptr<int> held, std::vector<std::string>* noted) {
      noted->push_back("ran");
      co_return *held;
    }
  };
  {
    const Task<int> task = Holder::hold(kept, &notes);
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_TRUE(notes.empty());
}

TEST(Task, ThatWasMovedAwayIsEmptyAndTheOtherOneRuns) {
  std::vector<std::string> notes;
  Task<int> first = noting(&notes, "first", 1);
  Task<int> second = noting(&notes, "second", 2);
  second = std::move(first);
  EXPECT_EQ(wait(std::move(second)), 1);
  EXPECT_EQ(notes, std::vector<std::string>{"first"});
}

Task<int> sum_of_three(std::vector<std::string>* notes) {
  notes->push_back("begin");
  const int first = co_await noting(notes, "one", 1);
  notes->push_back("between");
  const int second = co_await noting(notes, "two", 2);
  const int third = co_await noting(notes, "three", 3);
  notes->push_back("end");
  co_return first + second + third;
}

Task<int> twice(Task<int> inner) {
  const int once = co_await inner;
  co_return 2 * once;
}

TEST(Task, MadeOfTasksRunsThemInTurnAndGivesWhatTheyCameTo) {
  std::vector<std::string> notes;
  EXPECT_EQ(wait(twice(twice(sum_of_three(&notes)))), 24);
  EXPECT_EQ(notes, (std::vector<std::string>{"begin", "one", "between", "two", "three", "end"}));
}

TEST(Task, GoesOnWhereWhatItWaitsForEnds) {
  io::Scheduler scheduler;
  Gate gate(scheduler);
  std::optional<int> given;
  start(twice(twice(behind(&gate, 3))), [&](int value) { given = value; });
  EXPECT_FALSE(given);
  start_thread(scheduler, [&] { gate.open(); }).join();
  EXPECT_EQ(given, 12);
}

// -- Values -------------------------------------------------------------------------------------------------------

/// Counts its copies.
class Counted {
 public:
  explicit Counted(int* copies) : copies_(copies) {}
  Counted(const Counted& other) : copies_(other.copies_) { ++*copies_; }
  Counted(Counted&& other) noexcept = default;
  Counted& operator=(const Counted& other) = delete;
  Counted& operator=(Counted&& other) = delete;

 private:
  int* copies_;
};

Task<Counted> counted(int* copies) {
  Counted made(copies);
  co_return std::move(made);
}

Task<Counted> passed_on(int* copies) {
  Counted inner = co_await counted(copies);
  co_return std::move(inner);
}

TEST(Task, MovesItsValueAllTheWay) {
  int copies = 0;
  (void)wait(passed_on(&copies));
  std::vector<Task<Counted>> many;
  for (int i = 0; i < 3; ++i) many.push_back(passed_on(&copies));
  EXPECT_EQ(wait(all(std::move(many))).size(), 3u);
  EXPECT_EQ(copies, 0);
}

Task<std::unique_ptr<int>> boxed(std::unique_ptr<int> box) {
  ++*box;
  co_return std::move(box);
}

TEST(Task, TakesAndGivesWhatCannotBeCopied) {
  std::unique_ptr<int> box = wait(boxed(std::make_unique<int>(4)));
  ASSERT_TRUE(box);
  EXPECT_EQ(*box, 5);
}

TEST(Start, TakesACallbackThatCanOnlyBeMoved) {
  io::Scheduler scheduler;
  Gate gate(scheduler);
  int seen = 0;
  start(behind(&gate, 3), [&seen, factor = std::make_unique<int>(5)](int value) { seen = value * *factor; });
  EXPECT_EQ(seen, 0);
  gate.open();
  EXPECT_EQ(seen, 15);
}

TEST(Start, LetsGoOfTheCallbackAndTheTaskWhenAllHasEnded) {
  io::Scheduler scheduler;
  Gate gate(scheduler);
  const auto kept = std::make_shared<int>(0);
  start(behind(&gate, 3), [kept](int value) { *kept = value; });
  EXPECT_EQ(kept.use_count(), 2);
  gate.open();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(*kept, 3);
}

TEST(Wait, BlocksUntilAnotherThreadHasEndedTheTask) {
  io::Scheduler scheduler;
  for (int round = 0; round < test::effort(200); ++round) {
    Gate gate(scheduler);
    io::Thread opener = start_thread(scheduler, [&] { gate.open(); });
    ASSERT_EQ(wait(twice(behind(&gate, round))), 2 * round);
  }
}

// -- Many side by side --------------------------------------------------------------------------------------------

TEST(All, OfNoneGivesNone) {
  EXPECT_TRUE(wait(all(std::vector<Task<int>>())).empty());
}

TEST(All, ThatEndAtOnceGivesTheirValuesInOrder) {
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(at_once(i));
  const std::vector<int> values = wait(all(std::move(tasks)));
  ASSERT_EQ(values.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
}

TEST(All, BeginsEveryOneBeforeAnyHasToEnd) {
  io::Scheduler scheduler;
  std::array<Gate, 3> gates{Gate(scheduler), Gate(scheduler), Gate(scheduler)};
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(behind(&gates[static_cast<std::size_t>(i)], i));
    tasks.push_back(at_once(10 + i));
  }
  std::optional<std::vector<int>> given;
  start(all(std::move(tasks)), [&](std::vector<int> values) { given = std::move(values); });
  for (const Gate& gate : gates) EXPECT_TRUE(gate.has_arrived());
  for (const std::size_t next : {2u, 0u, 1u}) {
    EXPECT_FALSE(given);
    gates[next].open();
  }
  EXPECT_EQ(given, (std::vector<int>{0, 10, 1, 11, 2, 12}));
}

TEST(All, EndedByManyThreadsGoesOnOnceWithEveryValue) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kTasks = 40;
  io::Scheduler scheduler;
  for (int round = 0; round < test::effort(50); ++round) {
    std::vector<std::unique_ptr<Gate>> gates;
    for (std::size_t i = 0; i < kTasks; ++i) gates.push_back(std::make_unique<Gate>(scheduler));
    std::vector<io::Thread> openers;
    for (std::size_t t = 0; t < kThreads; ++t) {
      openers.push_back(start_thread(scheduler, [&gates, t] {
        for (std::size_t i = t; i < kTasks; i += kThreads) {
          if (i % 3 != 0) gates[i]->open();
        }
      }));
    }
    std::vector<Task<int>> tasks;
    for (std::size_t i = 0; i < kTasks; ++i) {
      const int value = static_cast<int>(i);
      tasks.push_back(i % 3 == 0 ? at_once(value) : behind(gates[i].get(), value));
    }
    const std::vector<int> values = wait(all(std::move(tasks)));
    for (io::Thread& opener : openers) opener.join();
    ASSERT_EQ(values.size(), kTasks);
    for (std::size_t i = 0; i < kTasks; ++i) ASSERT_EQ(values[i], static_cast<int>(i));
  }
}

// -- Failures -----------------------------------------------------------------------------------------------------

template <typename T, typename Exception>
Task<T> throwing(Exception exception, T never = Status(Code::kUnsupported)) {
  throw exception;
  co_return std::move(never);
}

/// Adds one more coroutine, through which an operation's exception reaches its user.
template <typename T>
Task<T> through(Task<T> inner) {
  T value = co_await inner;
  co_return std::move(value);
}

Task<std::string> what_is_thrown(Task<int> task) {
  std::string thrown = "nothing";
  try {
    (void)co_await task;
  } catch (const std::bad_alloc&) {
    thrown = "bad_alloc";
  } catch (const std::runtime_error& error) {
    thrown = error.what();
  }
  co_return thrown;
}

TEST(Task, ThrowsToWhoAwaitsIt) {
  EXPECT_EQ(wait(what_is_thrown(at_once(1))), "nothing");
  EXPECT_EQ(wait(what_is_thrown(throwing<int>(std::runtime_error("broken"), 0))), "broken");
  EXPECT_EQ(wait(what_is_thrown(through(through(throwing<int>(std::runtime_error("deep"), 0))))), "deep");
}

Task<std::string> what_result_throws(Task<Result<int>> task) {
  std::string thrown = "nothing";
  try {
    (void)co_await task;
  } catch (const std::runtime_error& error) {
    thrown = error.what();
  }
  co_return thrown;
}

TEST(Task, MakesAnAnswerOfALackOfMemoryWhereItCanBeSaidAndOfNothingElse) {
  EXPECT_EQ(wait(throwing<Status>(std::bad_alloc())).code(), Code::kOutOfMemory);
  const Result<std::string> result = wait(through(throwing<Result<std::string>>(std::bad_alloc())));
  EXPECT_EQ(result.code(), Code::kOutOfMemory);
  EXPECT_EQ(wait(what_is_thrown(throwing<int>(std::bad_alloc(), 0))), "bad_alloc");
  EXPECT_EQ(wait(what_result_throws(throwing<Result<int>>(std::runtime_error("kept")))), "kept");
}

Task<Result<int>> out_of_memory_behind(Gate* gate) {
  co_await *gate;
  throw std::bad_alloc();
}

TEST(Task, TellsALackOfMemoryThatCameOnAnotherThread) {
  io::Scheduler scheduler;
  Gate gate(scheduler);
  io::Thread opener = start_thread(scheduler, [&] { gate.open(); });
  EXPECT_EQ(wait(through(out_of_memory_behind(&gate))).code(), Code::kOutOfMemory);
}

// -- Depth --------------------------------------------------------------------------------------------------------

/// Each iteration switches between the frames of the coroutine and of its callee. If a switch used stack, the stack
/// would overflow.
Task<std::int64_t> sum_in_a_loop(int count) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await at_once(i);
  co_return sum;
}

TEST(Task, ThatAwaitsWithoutEndWhatEndsAtOnceDoesNotGrowTheStack) {
  EXPECT_EQ(wait(sum_in_a_loop(100'000)), std::int64_t{100'000} * 99'999 / 2);
}

Task<std::int64_t> sum_of_groups(int count) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    std::vector<Task<int>> tasks;
    tasks.push_back(at_once(i));
    tasks.push_back(twice(at_once(i)));
    const std::vector<int> values = co_await all(std::move(tasks));
    sum += values[0] + values[1];
  }
  co_return sum;
}

TEST(All, ThatEndsAtOnceInALoopDoesNotGrowTheStack) {
  EXPECT_EQ(wait(sum_of_groups(50'000)), std::int64_t{3} * 50'000 * 49'999 / 2);
}

/// As above, but in between it continues on another thread's stack.
Task<std::int64_t> sum_behind(Gate* gate, int count) {
  const int first = co_await behind(gate, 1);
  const std::int64_t rest = co_await sum_in_a_loop(count);
  co_return first + rest;
}

TEST(Task, OnAnotherThreadDoesNotGrowItsStackEither) {
  io::Scheduler scheduler;
  Gate gate(scheduler);
  io::Thread opener = start_thread(scheduler, [&] { gate.open(); });
  EXPECT_EQ(wait(sum_behind(&gate, 100'000)), 1 + std::int64_t{100'000} * 99'999 / 2);
}

}  // namespace
}  // namespace varve::task_test
