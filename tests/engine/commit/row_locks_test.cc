// Owns: the promises of the partition locks to requests that name a row (engine/commit/partition_locks.h).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/commit/partition_locks.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"

namespace varve::engine::row_locks_test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoWait{0};

io::Thread start(io::Scheduler& scheduler, std::function<void()> body) {
  Result<io::Thread> started = scheduler.start("locker", std::move(body));
  EXPECT_TRUE(started.ok());
  return std::move(*started);
}

bool is_free(PartitionLocks& locks, std::uint64_t hash) {
  return (*locks.try_lock(hash)).holds_any();
}

Result<PartitionGuard> lock(PartitionLocks& locks, std::vector<std::uint64_t> hashes) {
  return locks.lock(hashes);
}

class RowLocks : public testing::Test {
 protected:
  const io::Env& env_ = io::system_env();
  PartitionLocks locks_{env_.scheduler, env_.clock};
};

TEST_F(RowLocks, RowsOfOnePartitionAreHeldTogetherAndEachOnce) {
  const std::vector<std::uint64_t> hash{7};
  Result<PartitionGuard> one = locks_.lock(hash, kNoWait, 1);
  Result<PartitionGuard> two = locks_.lock(hash, kNoWait, 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(locks_.lock(hash, kNoWait, 1).code(), Code::kBusy);
  EXPECT_FALSE((*locks_.try_lock(7, 2)).holds_any());
  EXPECT_FALSE(is_free(locks_, 7));
  EXPECT_TRUE((*locks_.try_lock(7 + 64, 1)).holds_any());  // The row of another partition of the shard.
  one->release();
  EXPECT_TRUE((*locks_.try_lock(7, 1)).holds_any());
  EXPECT_FALSE(is_free(locks_, 7));
  two->release();
  EXPECT_TRUE(is_free(locks_, 7));
}

TEST_F(RowLocks, AWholePartitionExcludesItsRows) {
  const Result<PartitionGuard> whole = lock(locks_, {7});
  EXPECT_EQ(locks_.lock(std::vector<std::uint64_t>{7}, kNoWait, 1).code(), Code::kBusy);
}

TEST_F(RowLocks, ARowCountsOnlyWithOnePartition) {
  const Result<PartitionGuard> both = locks_.lock(std::vector<std::uint64_t>{7, 8}, kNoWait, 1);
  ASSERT_TRUE(both.ok());
  EXPECT_FALSE((*locks_.try_lock(7, 2)).holds_any());
  EXPECT_FALSE((*locks_.try_lock(8, 2)).holds_any());
}

TEST_F(RowLocks, ManyRowsAreHeldAndReleasedInAnyOrder) {
  constexpr std::uint64_t kRows = 100;
  std::vector<PartitionGuard> held;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    held.push_back(*locks_.try_lock(7, row));
    ASSERT_TRUE(held.back().holds_any()) << row;
  }
  for (std::uint64_t row = 0; row < kRows; row += 2) held[row].release();
  for (std::uint64_t row = 0; row < kRows; ++row)
    EXPECT_EQ((*locks_.try_lock(7, row)).holds_any(), row % 2 == 0) << row;
  held.clear();
  EXPECT_TRUE(is_free(locks_, 7));
}

/// Threads run one at a time in simulated time, in an order that the seed determines.
class RowLocksBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  io::Scheduler& scheduler() { return seeded_.scheduler(); }

  io::ManualClock clock_;
  io::SeededScheduler seeded_{GetParam(), clock_};
  PartitionLocks locks_{seeded_.scheduler(), clock_};
};

TEST_P(RowLocksBySeed, WhenAWholeRequestGivesUpTheRowsAfterItMoveUp) {
  const std::vector<std::uint64_t> hash{7};
  Result<PartitionGuard> held = locks_.lock(hash, kNoWait, 1);
  ASSERT_TRUE(held.ok());
  Code code = Code::kOk;
  io::Thread whole = start(scheduler(), [&] { code = locks_.lock(hash, milliseconds(5)).code(); });
  while (locks_.waits() == 0) scheduler().yield();
  EXPECT_FALSE((*locks_.try_lock(7, 2)).holds_any());  // It does not overtake the line.
  bool served = false;
  io::Thread row = start(scheduler(), [&] { served = locks_.lock(hash, std::nullopt, 2).ok(); });
  row.join();  // The first row is held all the time.
  whole.join();
  EXPECT_EQ(code, Code::kBusy);
  EXPECT_TRUE(served);
}

/// A model of the holders: a row has one holder, and a whole partition excludes all rows.
TEST_P(RowLocksBySeed, RandomRowsAndWholePartitionsExcludeEachOther) {
  constexpr std::uint64_t kRows = 3;
  std::array<int, kRows> holders{};
  int whole_holders = 0;
  int all_holders = 0;
  std::vector<io::Thread> threads;
  for (std::uint64_t client = 0; client < 6; ++client) {
    threads.push_back(start(scheduler(), [&, client] {
      io::SeededRandom random(GetParam() * 100 + client);
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t chosen = random.next() % (kRows + 1);
        const std::optional<std::uint64_t> row = chosen < kRows ? std::optional(chosen) : std::nullopt;
        const std::optional<milliseconds> wait_max =
            random.next() % 4 == 0 ? std::optional(milliseconds(1)) : std::nullopt;
        const Result<PartitionGuard> guard = locks_.lock(std::vector<std::uint64_t>{7}, wait_max, row);
        if (!guard.ok()) continue;
        ++all_holders;
        int& mine = row ? holders[*row] : whole_holders;
        EXPECT_EQ(++mine, 1);
        EXPECT_EQ(row ? whole_holders : all_holders - 1, 0);
        scheduler().yield();
        --mine;
        --all_holders;
      }
    }));
  }
  for (io::Thread& thread : threads) thread.join();
  EXPECT_TRUE(is_free(locks_, 7));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RowLocksBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(50)));

}  // namespace
}  // namespace varve::engine::row_locks_test
