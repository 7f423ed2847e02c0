// Goal: a LockRequest takes partition locks like lock(): in ascending order, each once, first come first served. After
// a failure or a cancellation it holds no lock.
// Method: no threads. Turns are counted when they are posted. lock_request_threads_test.cc tests requests beside
// waiting threads.
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "engine/commit/partition_locks.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/allocation_counter.h"

namespace varve::engine::lock_request_test {
namespace {

bool is_free(PartitionLocks& locks, std::uint64_t hash) {
  return locks.lock(std::array{hash}, std::chrono::milliseconds(0)).ok();
}

PartitionGuard lock(PartitionLocks& locks, std::vector<std::uint64_t> hashes) {
  Result<PartitionGuard> guard = locks.lock(hashes);
  EXPECT_TRUE(guard.ok());
  return *std::move(guard);
}

/// Stores the posted steps.
class Posted final : public StepTaker {
 public:
  void post(Step& step) noexcept override {
    steps_.push(step);
    ++count_;
  }
  int count() const noexcept { return count_; }
  /// Runs the oldest step.
  void run_one() {
    ASSERT_FALSE(steps_.empty());
    steps_.pop().run();
  }

 private:
  StepList steps_;
  int count_ = 0;
};

/// A request whose turns are counted.
class Asking final : private Step {
 public:
  Asking(PartitionLocks& locks, StepTaker& taker) : request_(locks, taker, *this) {}

  /// Returns true if all locks are granted at once.
  bool ask(std::vector<std::uint64_t> hashes) {
    EXPECT_TRUE(request_.ask(hashes).ok());
    return advance();
  }
  bool advance() {
    const Result<bool> has_all = request_.advance();
    EXPECT_TRUE(has_all.ok());
    return has_all.ok() && *has_all;
  }
  LockRequest& request() noexcept { return request_; }
  int turns() const noexcept { return turns_; }

 private:
  void run() noexcept override { ++turns_; }
  LockRequest request_;
  int turns_ = 0;
};

class LockRequestTest : public testing::Test {
 protected:
  const io::Env& env_ = io::system_env();
  PartitionLocks locks_{env_.scheduler, env_.clock};
  Posted posted_;
};

TEST_F(LockRequestTest, WhatIsFreeIsHeldAtOnceAndNoTurnComes) {
  for (const std::vector<std::uint64_t>& hashes :
       {std::vector<std::uint64_t>{7}, {5, 5, 5}, {900, 3, 900, 64, 3, 128}, {}}) {
    Asking asking(locks_, posted_);
    ASSERT_TRUE(asking.ask(hashes));
    for (const std::uint64_t hash : hashes) EXPECT_FALSE(is_free(locks_, hash));
    PartitionGuard guard = asking.request().take();
    EXPECT_EQ(guard.holds_any(), !hashes.empty());
    for (const std::uint64_t hash : hashes) EXPECT_FALSE(is_free(locks_, hash));
    guard.release();
    for (const std::uint64_t hash : hashes) EXPECT_TRUE(is_free(locks_, hash));
  }
  EXPECT_EQ(posted_.count(), 0);
  EXPECT_EQ(locks_.waits(), 0u);
}

TEST_F(LockRequestTest, AHeldLockIsWaitedForAndHandedOverWithATurn) {
  PartitionGuard held = lock(locks_, {7});
  Asking asking(locks_, posted_);
  EXPECT_FALSE(asking.ask({7}));
  EXPECT_EQ(locks_.waits(), 1u);
  EXPECT_EQ(posted_.count(), 0);
  held.release();
  EXPECT_EQ(posted_.count(), 1);
  EXPECT_FALSE(is_free(locks_, 7)) << "it is the request's, before its turn has run";
  posted_.run_one();
  EXPECT_EQ(asking.turns(), 1);
  ASSERT_TRUE(asking.advance());
  asking.request().take().release();
  EXPECT_TRUE(is_free(locks_, 7));
}

TEST_F(LockRequestTest, AGuardIsAwaitedWhileSomebodyStandsInALineOfIt) {
  EXPECT_FALSE(PartitionGuard().is_awaited());
  PartitionGuard single = lock(locks_, {7});
  PartitionGuard several = lock(locks_, {20, 30});
  Asking asking(locks_, posted_);
  EXPECT_FALSE(single.is_awaited() || several.is_awaited());
  EXPECT_FALSE(asking.ask({7, 30}));
  EXPECT_TRUE(single.is_awaited());
  EXPECT_FALSE(several.is_awaited()) << "its turn in that line comes later";
  single.release();
  EXPECT_FALSE(single.is_awaited());
  EXPECT_FALSE(asking.advance());
  EXPECT_TRUE(several.is_awaited());
  EXPECT_TRUE(asking.request().call_off());
  EXPECT_FALSE(several.is_awaited());
}

TEST_F(LockRequestTest, SeveralAreTakenInAscendingOrderAndWaitedForOneAfterTheOther) {
  PartitionGuard low = lock(locks_, {20});
  PartitionGuard high = lock(locks_, {40});
  Asking asking(locks_, posted_);
  EXPECT_FALSE(asking.ask({50, 40, 30, 20, 10, 40}));
  EXPECT_FALSE(is_free(locks_, 10));
  for (const std::uint64_t above : {30u, 50u}) EXPECT_TRUE(is_free(locks_, above));
  high.release();
  EXPECT_EQ(posted_.count(), 0) << "it is not in the line of 40 yet";
  high = lock(locks_, {40});
  low.release();
  ASSERT_EQ(posted_.count(), 1);
  EXPECT_FALSE(asking.advance());
  EXPECT_FALSE(is_free(locks_, 30));
  EXPECT_TRUE(is_free(locks_, 50));
  high.release();
  ASSERT_EQ(posted_.count(), 2);
  EXPECT_TRUE(asking.advance());
  PartitionGuard guard = asking.request().take();
  for (const std::uint64_t hash : {10u, 20u, 30u, 40u, 50u}) EXPECT_FALSE(is_free(locks_, hash));
  guard.release();
  for (const std::uint64_t hash : {10u, 20u, 30u, 40u, 50u}) EXPECT_TRUE(is_free(locks_, hash));
}

TEST_F(LockRequestTest, RequestsAreServedInTheOrderOfTheirComing) {
  PartitionGuard held = lock(locks_, {7});
  std::deque<Asking> askings;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(askings.emplace_back(locks_, posted_).ask({7}));
  for (Asking& asking : askings) {
    held.release();
    posted_.run_one();
    EXPECT_EQ(asking.turns(), 1);
    ASSERT_TRUE(asking.advance());
    held = asking.request().take();
  }
  EXPECT_EQ(posted_.count(), 5);
}

TEST_F(LockRequestTest, OneThatIsCalledOffLeavesTheLineAndTheOthersStay) {
  for (std::size_t place = 0; place < 3; ++place) {  // the first, a middle and the last place
    SCOPED_TRACE(place);
    PartitionGuard held = lock(locks_, {7});
    std::deque<Asking> askings;
    for (std::uint64_t own = 0; own < 3; ++own) EXPECT_FALSE(askings.emplace_back(locks_, posted_).ask({own, 7}));
    EXPECT_FALSE(is_free(locks_, place));
    EXPECT_TRUE(askings[place].request().call_off());
    EXPECT_TRUE(is_free(locks_, place)) << "it lets go of what it had";
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == place) continue;
      held.release();
      posted_.run_one();
      EXPECT_EQ(askings[i].turns(), 1);
      ASSERT_TRUE(askings[i].advance());
      held = askings[i].request().take();
    }
    held.release();
    EXPECT_EQ(askings[place].turns(), 0);
    EXPECT_TRUE(is_free(locks_, 7));
  }
  EXPECT_EQ(posted_.count(), 6);
}

TEST_F(LockRequestTest, ACallOffBehindTheHandOverComesTooLate) {
  for (const bool turn_has_run : {false, true}) {
    PartitionGuard held = lock(locks_, {7});
    Asking asking(locks_, posted_);
    EXPECT_FALSE(asking.ask({3, 7}));
    held.release();
    if (turn_has_run) posted_.run_one();
    EXPECT_FALSE(asking.request().call_off());
    EXPECT_FALSE(is_free(locks_, 7));
    if (!turn_has_run) posted_.run_one();
    EXPECT_EQ(asking.turns(), 1);
    ASSERT_TRUE(asking.advance());
    asking.request().take().release();
    EXPECT_TRUE(is_free(locks_, 3));
    EXPECT_TRUE(is_free(locks_, 7));
  }
}

TEST_F(LockRequestTest, OneThatGoesLetsGoOfWhatItHasAndTheNextIsTold) {
  std::optional<Asking> first(std::in_place, locks_, posted_);
  ASSERT_TRUE(first->ask({1, 2, 3}));
  Asking second(locks_, posted_);
  EXPECT_FALSE(second.ask({2}));
  first.reset();
  EXPECT_TRUE(is_free(locks_, 1));
  EXPECT_TRUE(is_free(locks_, 3));
  posted_.run_one();
  ASSERT_TRUE(second.advance());
}

TEST_F(LockRequestTest, WithoutMemoryNoLockIsHeld) {
  // Many hashes of one shard, so that its list must grow, and some of other shards.
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 400; ++i) hashes.push_back(i % 10 == 0 ? i : i * 64);
  int failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    PartitionLocks locks(env_.scheduler, env_.clock);
    Asking asking(locks, posted_);
    Result<bool> held = false;
    bool happened = false;
    {
      const test::AllocationFailure failure(nth);
      const Status asked = asking.request().ask(hashes);
      held = asked.ok() ? asking.request().advance() : Result<bool>(asked);
      happened = failure.happened();
    }
    if (!happened) {
      EXPECT_TRUE(held.ok() && *held);
      break;
    }
    ++failures;
    EXPECT_EQ(held.code(), Code::kOutOfMemory);
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(is_free(locks, hash));
  }
  EXPECT_GE(failures, 2);
}

TEST_F(LockRequestTest, WithoutMemoryAfterATurnNoLockIsHeldEither) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 40; ++i) hashes.push_back(i * 64);
  PartitionGuard held = lock(locks_, {64});
  Asking asking(locks_, posted_);
  EXPECT_FALSE(asking.ask(hashes));
  held.release();
  posted_.run_one();
  {
    const test::AllocationFailure failure(1);
    EXPECT_EQ(asking.request().advance().code(), Code::kOutOfMemory);
    EXPECT_TRUE(failure.happened());
  }
  for (const std::uint64_t hash : hashes) EXPECT_TRUE(is_free(locks_, hash));
}

TEST_F(LockRequestTest, ToWaitTakesNoMemory) {
  PartitionGuard held = lock(locks_, {7});
  Asking asking(locks_, posted_);
  ASSERT_TRUE(asking.request().ask(std::array<std::uint64_t, 1>{7}).ok());
  const std::uint64_t before = test::allocation_count();
  EXPECT_FALSE(*asking.request().advance());
  held.release();
  EXPECT_TRUE(*asking.request().advance());
  asking.request().take().release();
  EXPECT_EQ(test::allocation_count(), before);
}

TEST(LockRequestUnderSeeds, BothOutcomesOfALateChangeOfMindHappen) {
  // The events that the random test allows must also occur. Otherwise it would show nothing.
  bool called_off = false;
  bool too_late = false;
  for (std::uint64_t seed = 1; seed <= 60 && !(called_off && too_late); ++seed) {
    io::ManualClock clock;
    io::SeededScheduler seeded(seed, clock);
    PartitionLocks locks(seeded.scheduler(), clock);
    Posted posted;
    PartitionGuard held = lock(locks, {7});
    Asking asking(locks, posted);
    EXPECT_FALSE(asking.ask({7}));
    Result<io::Thread> releasing = seeded.scheduler().start("holder", [&held] { held.release(); });
    const bool left = asking.request().call_off();
    (left ? called_off : too_late) = true;
    releasing->join();
    EXPECT_EQ(posted.count(), left ? 0 : 1);
    EXPECT_TRUE(left || asking.advance());
  }
  EXPECT_TRUE(called_off);
  EXPECT_TRUE(too_late);
}

}  // namespace
}  // namespace varve::engine::lock_request_test
