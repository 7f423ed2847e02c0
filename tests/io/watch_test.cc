// A watch of an event: it ends by itself, sees earlier and concurrent sets, and hands turns over between threads.
#include "io/watch.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/io/io_test_support.h"

namespace varve::io::watch_test {
namespace {

TEST(Watch, EndsByItselfAndSeesWhatWasSetBefore) {
  Scheduler scheduler;
  Event event(scheduler);
  EXPECT_FALSE(watch(event, scheduler));
  EXPECT_FALSE(event.is_set());
  event.set();
  EXPECT_TRUE(watch(event, scheduler));
  event.wait();
}

TEST(Watch, LetsOtherThreadsRunUnderASimulatedScheduler) {
  int seen = 0;
  constexpr int kSeeds = 50;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ManualClock clock;
    SeededScheduler seeded(static_cast<std::uint64_t>(seed), clock);
    Event event(seeded.scheduler());
    Result<Thread> setter = seeded.scheduler().start("setter", [&event] { event.set(); });
    ASSERT_TRUE(is_ok(setter));
    if (watch(event, seeded.scheduler())) ++seen;
    event.wait();
    setter->join();
  }
  EXPECT_GT(seen, 0);
  EXPECT_LT(seen, kSeeds) << "the other thread runs before this one by every seed";
}

TEST(Watch, HandsTurnsOverBetweenThreads) {
  constexpr int kTurns = 2'000;
  Scheduler scheduler;
  struct Turn {
    explicit Turn(Scheduler& of) : mine(of), yours(of) {}
    Event mine;
    Event yours;
  };
  std::vector<std::unique_ptr<Turn>> turns;
  for (int i = 0; i < kTurns; ++i) turns.push_back(std::make_unique<Turn>(scheduler));
  int count = 0;  // A plain int: only the events order the accesses.
  Result<Thread> other = scheduler.start("other", [&] {
    for (const std::unique_ptr<Turn>& turn : turns) {
      if (!watch(turn->yours, scheduler)) turn->yours.wait();
      ++count;
      turn->mine.set();
    }
  });
  ASSERT_TRUE(is_ok(other));
  for (const std::unique_ptr<Turn>& turn : turns) {
    ++count;
    turn->yours.set();
    if (!watch(turn->mine, scheduler)) turn->mine.wait();
  }
  EXPECT_EQ(count, 2 * kTurns);
}

}  // namespace
}  // namespace varve::io::watch_test
