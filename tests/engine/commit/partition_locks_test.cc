// Owns: the promises of the partition locks (engine/commit/partition_locks.h).

#include "engine/commit/partition_locks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"

namespace varve::engine::partition_locks_test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoWait{0};
constexpr std::uint64_t kSeeds = 60;

Result<PartitionGuard> lock(PartitionLocks& locks, std::vector<std::uint64_t> hashes,
                            std::optional<milliseconds> wait_max = std::nullopt) {
  return locks.lock(hashes, wait_max);
}

bool is_free(PartitionLocks& locks, std::uint64_t hash) {
  return lock(locks, {hash}, kNoWait).ok();
}

io::Thread start(io::Scheduler& scheduler, std::function<void()> body) {
  Result<io::Thread> started = scheduler.start("locker", std::move(body));
  EXPECT_TRUE(started.ok());
  return *std::move(started);
}

/// One thread and real time. Nothing here waits for time.
class PartitionLocksTest : public testing::Test {
 protected:
  const io::Env& env_ = io::system_env();
  PartitionLocks locks_{env_.scheduler, env_.clock};
};

TEST_F(PartitionLocksTest, AHeldLockIsRefusedUntilItIsReleased) {
  Result<PartitionGuard> guard = lock(locks_, {7});
  ASSERT_TRUE(guard.ok());
  EXPECT_TRUE(guard->holds_any());
  EXPECT_FALSE(is_free(locks_, 7));
  EXPECT_TRUE(is_free(locks_, 8));
  EXPECT_TRUE(is_free(locks_, 7 + 64));  // in the same shard
  guard->release();
  EXPECT_FALSE(guard->holds_any());
  EXPECT_TRUE(is_free(locks_, 7));
  guard->release();  // nothing to release
  EXPECT_EQ(locks_.waits(), 0u);
}

TEST_F(PartitionLocksTest, WhoOnlyTriesHasAFreeLockOrNone) {
  Result<PartitionGuard> held = locks_.try_lock(7);
  ASSERT_TRUE(held.ok() && held->holds_any());
  const Result<PartitionGuard> second = locks_.try_lock(7);
  EXPECT_TRUE(second.ok() && !second->holds_any());
  EXPECT_FALSE(is_free(locks_, 7));
  EXPECT_EQ(locks_.waits(), 0u);
  held->release();
  EXPECT_TRUE((*locks_.try_lock(7)).holds_any());
  EXPECT_TRUE(is_free(locks_, 7));  // The guard was released.
}

TEST_F(PartitionLocksTest, ARefusalTellsHowLongItWaited) {
  const Result<PartitionGuard> guard = lock(locks_, {7});
  const Result<PartitionGuard> refused = lock(locks_, {7}, kNoWait);
  EXPECT_EQ(refused.code(), Code::kBusy);
  EXPECT_EQ(refused.status().message(), "another commit held the partition for the whole wait of 0 ms; try again");
  EXPECT_EQ(lock(locks_, {7}, milliseconds(-5)).code(), Code::kBusy);
}

TEST_F(PartitionLocksTest, SeveralAreTakenInAnyOrderEachOnce) {
  Result<PartitionGuard> guard = lock(locks_, {900, 3, 900, 64, 3, 128});
  ASSERT_TRUE(guard.ok());
  for (const std::uint64_t hash : {3u, 64u, 128u, 900u}) EXPECT_FALSE(is_free(locks_, hash));
  guard->release();
  for (const std::uint64_t hash : {3u, 64u, 128u, 900u}) EXPECT_TRUE(is_free(locks_, hash));
}

TEST_F(PartitionLocksTest, OneNamedOftenIsOneLock) {
  Result<PartitionGuard> guard = lock(locks_, {5, 5, 5});
  ASSERT_TRUE(guard.ok());
  EXPECT_FALSE(is_free(locks_, 5));
  guard->release();
  EXPECT_TRUE(is_free(locks_, 5));
}

TEST_F(PartitionLocksTest, NoneNamedIsNoneHeld) {
  const Result<PartitionGuard> guard = lock(locks_, {});
  ASSERT_TRUE(guard.ok());
  EXPECT_FALSE(guard->holds_any());
}

TEST_F(PartitionLocksTest, WhatWasTakenIsReleasedWhenOneCannotBeHad) {
  const Result<PartitionGuard> held = lock(locks_, {50});
  EXPECT_EQ(lock(locks_, {10, 30, 50, 70}, kNoWait).code(), Code::kBusy);
  for (const std::uint64_t hash : {10u, 30u, 70u}) EXPECT_TRUE(is_free(locks_, hash));
}

// The commit of a list of 50,000 blocks holds so many locks. Here they fall into few shards and few places.
TEST_F(PartitionLocksTest, ManyLocksAreHeldAndReleasedInAnyOrder) {
  constexpr std::uint64_t kLocks = test::effort(20'000);
  std::mt19937_64 random(1);
  std::map<std::uint64_t, PartitionGuard> held;
  while (held.size() < kLocks) {
    const std::uint64_t hash = random() % (4 * kLocks) * 32;
    Result<PartitionGuard> guard = lock(locks_, {hash}, kNoWait);
    ASSERT_EQ(guard.ok(), !held.contains(hash)) << hash;
    if (guard.ok()) held.emplace(hash, *std::move(guard));
  }
  std::vector<std::uint64_t> order;
  for (const auto& [hash, guard] : held) order.push_back(hash);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < order.size(); ++i) {
    held.erase(order[i]);
    EXPECT_TRUE(is_free(locks_, order[i])) << order[i];
    const std::uint64_t other = order[(i + order.size() / 2) % order.size()];
    EXPECT_EQ(is_free(locks_, other), !held.contains(other)) << other;
  }
  Result<PartitionGuard> together = lock(locks_, order);
  ASSERT_TRUE(together.ok());
  EXPECT_FALSE(is_free(locks_, order.front()));
  together->release();
  EXPECT_TRUE(is_free(locks_, order.front()));
}

TEST_F(PartitionLocksTest, MovesKeepTheLocksHeldOnce) {
  for (const std::vector<std::uint64_t>& hashes : {std::vector<std::uint64_t>{1}, std::vector<std::uint64_t>{1, 2}}) {
    PartitionGuard first = *lock(locks_, hashes);
    PartitionGuard second = std::move(first);
    EXPECT_FALSE(is_free(locks_, 1));
    EXPECT_TRUE(second.holds_any());

    PartitionGuard third = *lock(locks_, {9, 10});
    third = std::move(second);  // releases 9 and 10
    EXPECT_TRUE(is_free(locks_, 9));
    EXPECT_TRUE(is_free(locks_, 10));
    EXPECT_FALSE(is_free(locks_, 1));
    PartitionGuard& same = third;
    third = std::move(same);
    EXPECT_FALSE(is_free(locks_, 1));
    third = PartitionGuard();
    EXPECT_TRUE(is_free(locks_, 1));
  }
}

TEST_F(PartitionLocksTest, AGuardMayBeReleasedByAnotherThread) {
  PartitionGuard guard = *lock(locks_, {1, 2, 3});
  start(env_.scheduler, [moved = std::make_shared<PartitionGuard>(std::move(guard))] { moved->release(); }).join();
  EXPECT_TRUE(is_free(locks_, 2));
}

TEST_F(PartitionLocksTest, OneLockTakesNoMemory) {
  const std::array<std::uint64_t, 1> hashes = {12'345};
  const std::uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(locks_.lock(hashes).ok());
  EXPECT_EQ(test::allocation_count(), before);
}

TEST_F(PartitionLocksTest, WithoutMemoryNoLockIsHeld) {
  // Many hashes of one shard, so that its list must grow, and some of other shards.
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 400; ++i) hashes.push_back(i % 10 == 0 ? i : i * 64);
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    PartitionLocks locks(env_.scheduler, env_.clock);
    std::optional<Result<PartitionGuard>> guard;
    bool happened = false;
    {
      const test::AllocationFailure failure(nth);
      guard.emplace(locks.lock(hashes));
      happened = failure.happened();
    }
    if (!happened) {
      EXPECT_TRUE(guard->ok());
      break;
    }
    ++failures;
    EXPECT_EQ(guard->code(), Code::kOutOfMemory);
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(is_free(locks, hash));
  }
  EXPECT_GE(failures, 2u);
}

TEST_F(PartitionLocksTest, ThreadsExcludeEachOtherAndNeverStand) {
  constexpr std::uint64_t kThreads = 8;
  constexpr int kRounds = 1'500;
  std::array<std::uint64_t, 8> counters{};  // each guarded by the lock of its index times 32: two shards
  std::atomic<std::uint64_t> expected{0};
  std::vector<io::Thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.push_back(start(env_.scheduler, [&, thread] {
      std::mt19937_64 random(thread);
      for (int round = 0; round < kRounds; ++round) {
        std::vector<std::uint64_t> hashes(1 + random() % 4);
        for (std::uint64_t& hash : hashes) hash = random() % counters.size() * 32;
        const auto wait_max =
            random() % 4 == 0 ? std::optional(milliseconds(static_cast<int>(random() % 3))) : std::nullopt;
        Result<PartitionGuard> guard = locks_.lock(hashes, wait_max);
        if (!guard.ok()) {
          ASSERT_EQ(guard.code(), Code::kBusy);
          continue;
        }
        std::sort(hashes.begin(), hashes.end());
        hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
        for (const std::uint64_t hash : hashes) ++counters[hash / 32];
        expected += hashes.size();
      }
    }));
  }
  threads.clear();
  std::uint64_t sum = 0;
  for (const std::uint64_t counter : counters) sum += counter;
  EXPECT_EQ(sum, expected);
  for (std::uint64_t i = 0; i < counters.size(); ++i) EXPECT_TRUE(is_free(locks_, i * 32));
}

/// Threads run one at a time in simulated time, in an order that the seed determines.
class Simulated {
 public:
  explicit Simulated(std::uint64_t seed) : seeded_(seed, clock_), locks_(seeded_.scheduler(), clock_) {}

  io::Scheduler& scheduler() { return seeded_.scheduler(); }
  io::ManualClock& clock() { return clock_; }
  PartitionLocks& locks() { return locks_; }

  /// Starts a thread that requests one lock, and returns when the thread is queued.
  io::Thread enqueue(std::uint64_t hash, std::optional<milliseconds> wait_max,
                     std::function<void(Result<PartitionGuard>)> then) {
    const std::uint64_t waits = locks_.waits();
    io::Thread thread =
        start(scheduler(), [this, hash, wait_max, then = std::move(then)] { then(lock(locks_, {hash}, wait_max)); });
    while (locks_.waits() == waits) scheduler().yield();
    return thread;
  }

  void let_time_pass(std::chrono::nanoseconds duration) {
    io::Mutex mutex(scheduler());
    io::Condition never(scheduler());
    const std::chrono::nanoseconds until = clock_.monotonic() + duration;
    const io::MutexGuard guard(mutex);
    while (clock_.monotonic() < until) (void)never.wait_for(mutex, until - clock_.monotonic());
  }

 private:
  io::ManualClock clock_;
  io::SeededScheduler seeded_;
  PartitionLocks locks_;
};

class PartitionLocksBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(GetParam())};
  Simulated simulated_{GetParam()};
};

TEST_P(PartitionLocksBySeed, WaitersAreServedInTheOrderOfTheirComing) {
  std::string served;
  std::vector<io::Thread> threads;
  {
    const Result<PartitionGuard> held = lock(simulated_.locks(), {7});
    for (char name = 'a'; name <= 'h'; ++name) {
      const auto wait_max = name % 2 == 0 ? std::optional(milliseconds(10'000)) : std::nullopt;
      threads.push_back(simulated_.enqueue(7, wait_max, [&served, name](const Result<PartitionGuard>& guard) {
        ASSERT_TRUE(guard.ok());
        served.push_back(name);
      }));
    }
    EXPECT_EQ(served, "");
    EXPECT_EQ(simulated_.locks().waits(), 8u);
  }
  threads.clear();
  EXPECT_EQ(served, "abcdefgh");
  EXPECT_TRUE(is_free(simulated_.locks(), 7));
}

TEST_P(PartitionLocksBySeed, ANewcomerDoesNotOvertakeTheLine) {
  // Whenever the main thread checks, the lock belongs to the waiter, or was never free.
  bool served = false;
  std::vector<io::Thread> threads;  // joined before the data that they write is destroyed
  Result<PartitionGuard> held = lock(simulated_.locks(), {7});
  threads.push_back(simulated_.enqueue(7, std::nullopt, [&served](const Result<PartitionGuard>& guard) {
    ASSERT_TRUE(guard.ok());
    served = true;
  }));
  held->release();
  const bool mine = is_free(simulated_.locks(), 7);
  EXPECT_TRUE(!mine || served);
}

TEST_P(PartitionLocksBySeed, TheLongestBoundThereIsWaits) {
  Code code = Code::kUnknown;
  Result<PartitionGuard> held = lock(simulated_.locks(), {7});
  io::Thread thread =
      simulated_.enqueue(7, milliseconds::max(), [&code](const Result<PartitionGuard>& guard) { code = guard.code(); });
  held->release();
  thread.join();
  EXPECT_EQ(code, Code::kOk);
}

TEST_P(PartitionLocksBySeed, WhoWaitsTooLongLeavesTheLineAndTheOthersStay) {
  std::string served;
  Code code = Code::kOk;
  std::vector<io::Thread> threads;
  const std::chrono::nanoseconds began = simulated_.clock().monotonic();
  const auto serve = [&served](char name) {
    return [&served, name](const Result<PartitionGuard>& guard) {
      ASSERT_TRUE(guard.ok());
      served.push_back(name);
    };
  };
  const auto refuse = [&](const Result<PartitionGuard>& guard) { code = guard.code(); };
  for (std::size_t place = 0; place < 3; ++place) {  // the first, a middle and the last place
    SCOPED_TRACE(place);
    served.clear();
    code = Code::kOk;
    Result<PartitionGuard> held = lock(simulated_.locks(), {7});
    for (std::size_t i = 0; i < 3; ++i) {
      threads.push_back(i == place ? simulated_.enqueue(7, milliseconds(50), refuse)
                                   : simulated_.enqueue(7, std::nullopt, serve(static_cast<char>('a' + i))));
    }
    while (code == Code::kOk) simulated_.let_time_pass(milliseconds(1));
    EXPECT_EQ(code, Code::kBusy);
    EXPECT_GE(simulated_.clock().monotonic() - began, milliseconds(50) * (place + 1));
    EXPECT_EQ(served, "");
    held->release();
    threads.clear();
    EXPECT_EQ(served, place == 0 ? "bc" : place == 1 ? "ac" : "ab");
    EXPECT_TRUE(is_free(simulated_.locks(), 7));
  }
}

TEST_P(PartitionLocksBySeed, TheBoundHoldsForAllLocksTogether) {
  // Each of two locks becomes free 30 ms after the other, so both cannot be acquired within 50 ms.
  Result<PartitionGuard> first = lock(simulated_.locks(), {1});
  Result<PartitionGuard> second = lock(simulated_.locks(), {2});
  Code code = Code::kOk;
  std::chrono::nanoseconds took{0};
  const io::Thread thread = start(simulated_.scheduler(), [&] {
    const std::chrono::nanoseconds began = simulated_.clock().monotonic();
    code = lock(simulated_.locks(), {1, 2}, milliseconds(50)).code();
    took = simulated_.clock().monotonic() - began;
  });
  while (simulated_.locks().waits() == 0) simulated_.scheduler().yield();
  simulated_.let_time_pass(milliseconds(30));
  first->release();
  while (code == Code::kOk) simulated_.let_time_pass(milliseconds(1));
  EXPECT_EQ(code, Code::kBusy);
  EXPECT_GE(took, milliseconds(50));
  EXPECT_LT(took, milliseconds(60));
  EXPECT_TRUE(is_free(simulated_.locks(), 1));
}

TEST_P(PartitionLocksBySeed, AHandOverAtTheLastMomentIsNeitherLostNorDoubled) {
  int served = 0;
  int refused = 0;
  for (int round = 0; round < 30; ++round) {
    std::vector<io::Thread> threads;
    Result<PartitionGuard> held = lock(simulated_.locks(), {7});
    for (int i = 0; i < 3; ++i) {
      threads.push_back(simulated_.enqueue(7, milliseconds(1), [&](const Result<PartitionGuard>& guard) {
        if (guard.ok()) {
          ++served;
        } else {
          EXPECT_EQ(guard.code(), Code::kBusy);
          ++refused;
        }
      }));
    }
    simulated_.let_time_pass(std::chrono::microseconds(900 + round * 5));
    held->release();
    threads.clear();
    ASSERT_TRUE(is_free(simulated_.locks(), 7));
  }
  EXPECT_EQ(served + refused, 90);
}

TEST_P(PartitionLocksBySeed, RandomSetsExcludeEachOtherAndEndWithoutADeadlock) {
  constexpr std::uint64_t kThreads = 6;
  constexpr int kRounds = 30;
  // the holders of each hash; threads of a simulation run one at a time
  std::map<std::uint64_t, std::uint64_t> holders;
  int served = 0;
  int refused = 0;
  std::vector<io::Thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.push_back(start(simulated_.scheduler(), [&, thread] {
      std::mt19937_64 random(GetParam() * kThreads + thread);
      for (int round = 0; round < kRounds; ++round) {
        std::vector<std::uint64_t> hashes(1 + random() % 4);
        for (std::uint64_t& hash : hashes) hash = random() % 6 * 32;
        const auto wait_max =
            random() % 3 == 0 ? std::optional(milliseconds(static_cast<int>(random() % 4))) : std::nullopt;
        Result<PartitionGuard> guard = simulated_.locks().lock(hashes, wait_max);
        if (!guard.ok()) {
          ASSERT_EQ(guard.code(), Code::kBusy);
          ++refused;
          continue;
        }
        ++served;
        for (const std::uint64_t hash : hashes) {
          const auto [holder, is_new] = holders.emplace(hash, thread);
          ASSERT_TRUE(is_new || holder->second == thread) << hash;
        }
        if (random() % 2 == 0) simulated_.let_time_pass(std::chrono::microseconds(random() % 2'000));
        for (const std::uint64_t hash : hashes) holders.erase(hash);
      }
    }));
  }
  threads.clear();
  EXPECT_EQ(served + refused, static_cast<int>(kThreads) * kRounds);
  EXPECT_GT(served, 0);
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_TRUE(is_free(simulated_.locks(), i * 32));
}

INSTANTIATE_TEST_SUITE_P(Seeds, PartitionLocksBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(kSeeds)));

TEST(PartitionLocksUnderSeeds, BothOutcomesOfALateHandOverHappen) {
  // The events that the random test allows must also occur. Otherwise it would show nothing.
  bool served = false;
  bool refused = false;
  for (std::uint64_t seed = 1; seed <= kSeeds && !(served && refused); ++seed) {
    Simulated simulated(seed);
    Result<PartitionGuard> held = lock(simulated.locks(), {7});
    io::Thread thread = simulated.enqueue(
        7, milliseconds(1), [&](const Result<PartitionGuard>& guard) { (guard.ok() ? served : refused) = true; });
    simulated.let_time_pass(milliseconds(1) - std::chrono::microseconds(5));
    held->release();
  }
  EXPECT_TRUE(served);
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace varve::engine::partition_locks_test
