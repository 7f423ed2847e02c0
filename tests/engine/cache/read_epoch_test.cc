// Owns: the promises of the epochs (engine/cache/read_epoch.h): a guard prevents the second step, and no other.

#include "engine/cache/read_epoch.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "io/scheduler.h"

namespace varve::engine::read_epoch_test {
namespace {

TEST(ReadEpoch, MovesOnFreelyWhileNobodyReads) {
  ReadEpoch epoch;
  const std::uint64_t first = epoch.now();
  for (std::uint64_t step = 1; step <= 10; ++step) {
    EXPECT_TRUE(epoch.try_advance());
    EXPECT_EQ(epoch.now(), first + step);
  }
}

TEST(ReadEpoch, AGuardLetsOneStepPassAndHoldsTheSecond) {
  ReadEpoch epoch;
  const std::uint64_t first = epoch.now();
  {
    const ReadEpoch::Guard guard(epoch);
    EXPECT_TRUE(epoch.try_advance());
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(epoch.try_advance());
    EXPECT_EQ(epoch.now(), first + 1);
  }
  EXPECT_TRUE(epoch.try_advance());
  EXPECT_EQ(epoch.now(), first + 2);
}

TEST(ReadEpoch, EachOfNestedGuardsHoldsItsOwnEpoch) {
  ReadEpoch epoch;
  const std::uint64_t first = epoch.now();
  std::optional<ReadEpoch::Guard> outer;
  std::optional<ReadEpoch::Guard> inner;
  outer.emplace(epoch);
  EXPECT_TRUE(epoch.try_advance());
  inner.emplace(epoch);
  EXPECT_FALSE(epoch.try_advance());
  outer.reset();
  EXPECT_TRUE(epoch.try_advance());
  EXPECT_EQ(epoch.now(), first + 2);
  EXPECT_FALSE(epoch.try_advance());
  inner.reset();
  EXPECT_TRUE(epoch.try_advance());
}

TEST(ReadEpoch, KnowsWhetherThisThreadHoldsAGuard) {
  ReadEpoch epoch;
  ReadEpoch other;
  EXPECT_FALSE(ReadEpoch::held_by_this_thread());
  {
    const ReadEpoch::Guard guard(epoch);
    const ReadEpoch::Guard guard_of_other(other);
    EXPECT_TRUE(ReadEpoch::held_by_this_thread());
    io::Scheduler scheduler;
    bool held_elsewhere = true;
    (*scheduler.start("other", [&] { held_elsewhere = ReadEpoch::held_by_this_thread(); })).join();
    EXPECT_FALSE(held_elsewhere);
  }
  EXPECT_FALSE(ReadEpoch::held_by_this_thread());
}

TEST(ReadEpoch, TellsHitsAndMissesWhenTheGuardEnds) {
  ReadEpoch epoch;
  for (int round = 0; round < 3; ++round) {
    ReadEpoch::Guard guard(epoch);
    for (int i = 0; i < 5'000; ++i) guard.count_hit();  // more than the counter of readers can represent
    guard.count_miss();
    EXPECT_TRUE(epoch.try_advance());  // so that both parities count
  }
  EXPECT_EQ(epoch.hits(), 15'000U);
  EXPECT_EQ(epoch.misses(), 3U);
}

TEST(ReadEpoch, MoreThreadsThanSlotsShareThem) {
  constexpr std::uint64_t kThreads = 2 * ReadEpoch::kSlots + 1;
  ReadEpoch epoch;
  io::Scheduler scheduler;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    (*scheduler.start("reader", [&] {
      ReadEpoch::Guard guard(epoch);
      guard.count_hit();
      EXPECT_TRUE(epoch.try_advance());
      EXPECT_FALSE(epoch.try_advance());
    })).join();
    EXPECT_TRUE(epoch.try_advance());
  }
  EXPECT_EQ(epoch.hits(), kThreads);
}

TEST(ReadEpoch, NobodyEntersAnEpochThatHasPassed) {
  class Opened : public ReadEpoch {
   public:
    using ReadEpoch::slot;
    using ReadEpoch::try_enter;
  };
  Opened epoch;
  const std::uint64_t looked_at = epoch.now();
  EXPECT_TRUE(epoch.try_advance());  // between a reader's load of the epoch and its count
  EXPECT_EQ(epoch.try_enter(epoch.slot(), looked_at), nullptr);
  EXPECT_TRUE(epoch.try_advance());
  EXPECT_EQ(epoch.try_enter(epoch.slot(), looked_at), nullptr);  // nor an epoch of the same parity
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(epoch.try_advance());  // no reader was left over
}

// Goal: E1, also for a guard that is entered while the epoch advances.
// Method: one thread advances without a pause, so it often does so between a reader's load of the epoch and its count.
// Readers stay long enough for two steps.
TEST(ReadEpoch, MovesOnOnceAtMostWhileAGuardIsOpen) {
  constexpr int kReaders = 2;
  constexpr std::uint64_t kSteps = 300;
  constexpr int kLooks = 50;
  ReadEpoch epoch;
  io::Scheduler scheduler;
  io::Event started(scheduler);
  std::atomic<int> starting{kReaders};
  std::vector<io::Thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(*scheduler.start("reader", [&] {
      if (starting.fetch_sub(1) == 1) started.set();
      while (epoch.now() < kSteps) {
        const ReadEpoch::Guard guard(epoch);
        const std::uint64_t entered = epoch.now();
        std::uint64_t last = entered;
        for (int look = 0; look < kLooks; ++look) last = epoch.now();
        EXPECT_LE(last, entered + 1);
      }
    }));
  }
  started.wait();
  while (epoch.now() < kSteps) (void)epoch.try_advance();
}

// Goal: no reader sees data that was unlinked two steps ago.
// Method: a writer replaces a value repeatedly. After two steps of the epoch it makes the value before the last one
// unreadable. Readers must see only readable values.
TEST(ReadEpoch, NobodySeesWhatWasUnlinkedTwoStepsAgo) {
  constexpr int kReaders = 3;
  constexpr int kRounds = 1'000;
  struct Value {
    std::uint64_t number = 0;
    std::uint64_t twice = 0;
  };
  ReadEpoch epoch;
  io::Scheduler scheduler;
  std::atomic<Value*> shown{new Value{1, 2}};
  std::atomic<bool> ends{false};
  io::Event started(scheduler);
  std::atomic<int> starting{kReaders};
  std::vector<io::Thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(*scheduler.start("reader", [&] {
      if (starting.fetch_sub(1) == 1) started.set();
      while (!ends.load(std::memory_order_relaxed)) {
        const ReadEpoch::Guard guard(epoch);
        const Value* const value = shown.load(std::memory_order_seq_cst);
        const std::uint64_t number = value->number;
        ASSERT_NE(number, 0U);
        ASSERT_EQ(value->twice, 2 * number);
      }
    }));
  }
  started.wait();
  for (std::uint64_t round = 2; round < kRounds; ++round) {
    Value* const old = shown.exchange(new Value{round, 2 * round}, std::memory_order_seq_cst);
    const std::uint64_t unlinked_at = epoch.now();
    while (epoch.now() < unlinked_at + 2) (void)epoch.try_advance();
    *old = Value{};
    delete old;
  }
  ends.store(true, std::memory_order_relaxed);
  readers.clear();
  delete shown.load();
}

}  // namespace
}  // namespace varve::engine::read_epoch_test
