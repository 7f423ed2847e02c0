// Goal: the threads of a pool do the work of all seats: flushes first, each piece once, no wake-up lost.
// Method: sources that count their calls, under seeded schedules.
#include "engine/base/background_pool.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/effort.h"

namespace varve::engine::background_pool_test {
namespace {

using Kind = BackgroundPool::Kind;
using Pause = BackgroundPool::Pause;

/// A source that calls a function.
class Calls final : public BackgroundPool::Source {
 public:
  explicit Calls(std::function<Pause(bool)> call) : call_(std::move(call)) {}

  Pause work(bool is_due) noexcept override {
    most_inside_ = std::max(most_inside_.load(), ++inside_);
    const Pause pause = call_(is_due);
    --inside_;
    return pause;
  }
  int most_inside() const { return most_inside_; }

 private:
  const std::function<Pause(bool)> call_;
  std::atomic<int> inside_{0};
  std::atomic<int> most_inside_{0};
};

class BackgroundPoolTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// Lets other threads run until `done` returns true.
  template <typename Done>
  void await(const Done& done) {
    while (!done()) simulation_.scheduler().yield();
  }
  void start(std::size_t merges_max) { threads_ = *PoolThreads::start(env_, merges_max); }
  BackgroundPool& pool() { return *threads_->pool(); }

  io::ManualClock clock_;
  io::SeededRandom random_{GetParam()};
  io::SeededScheduler simulation_{GetParam(), clock_};
  io::MemoryFileSystem files_{simulation_.scheduler(), io::MemoryDisk()};
  io::Env env_{files_, clock_, random_, simulation_.scheduler()};
  std::shared_ptr<PoolThreads> threads_;
};

TEST_P(BackgroundPoolTest, CallsASourceOnceForEachWakeUpThatItHasNotSeen) {
  start(2);
  std::atomic<int> asked{0};
  std::atomic<int> seen{0};
  Calls calls([&](bool) -> Pause {
    seen = asked.load();
    return std::nullopt;
  });
  BackgroundPool::Seat seat(pool(), calls, Kind::kFlush);
  for (int i = 1; i <= 20; ++i) {
    asked = i;
    seat.wake();
    if (i % 3 == 0) await([&] { return seen == i; });
  }
  await([&] { return seen == 20; });
  seat.leave();
}

TEST_P(BackgroundPoolTest, RunsAFlushOnOneThreadAtATimeAndMergesOnSeveral) {
  start(3);
  std::atomic<int> left{40};
  const auto step = [&](bool) -> Pause {
    simulation_.scheduler().yield();
    return --left > 0 ? Pause(std::chrono::nanoseconds(0)) : std::nullopt;
  };
  Calls flush(step);
  Calls merge(step);
  BackgroundPool::Seat flushes(pool(), flush, Kind::kFlush);
  BackgroundPool::Seat merges(pool(), merge, Kind::kMerge);
  while (left > 0) {
    flushes.wake();
    merges.wake();
  }
  flushes.leave();
  merges.leave();
  EXPECT_EQ(flush.most_inside(), 1);
  EXPECT_LE(merge.most_inside(), 3);
}

TEST_P(BackgroundPoolTest, KeepsAThreadForFlushesWhileMergesWait) {
  start(2);
  std::atomic<bool> flushed{false};
  Calls merge([&](bool) -> Pause {
    await([&] { return flushed.load(); });  // As a merge whose edit waits for a flush.
    return std::nullopt;
  });
  Calls flush([&](bool) -> Pause {
    flushed = true;
    return std::nullopt;
  });
  BackgroundPool::Seat one(pool(), merge, Kind::kMerge);
  BackgroundPool::Seat other(pool(), merge, Kind::kMerge);
  BackgroundPool::Seat third(pool(), merge, Kind::kMerge);
  BackgroundPool::Seat flushes(pool(), flush, Kind::kFlush);
  for (BackgroundPool::Seat* seat : {&one, &other, &third}) seat->wake();
  for (int i = 0; i < 50; ++i) simulation_.scheduler().yield();
  flushes.wake();
  await([&] { return flushed.load(); });
  for (BackgroundPool::Seat* seat : {&one, &other, &third, &flushes}) seat->leave();
}

TEST_P(BackgroundPoolTest, CallsASourceWhenItsPauseIsOver) {
  start(1);
  std::atomic<int> calls_due{0};
  std::atomic<int> calls_woken{0};
  Calls calls([&](bool is_due) -> Pause {
    ++(is_due ? calls_due : calls_woken);
    return is_due && calls_due == 3 ? Pause() : std::chrono::milliseconds(500);
  });
  BackgroundPool::Seat seat(pool(), calls, Kind::kMerge);
  seat.wake();
  await([&] { return calls_due == 3; });
  seat.leave();
  EXPECT_EQ(calls_woken, 1);
}

TEST_P(BackgroundPoolTest, AWakeUpDoesNotEndAPauseForGood) {
  start(1);
  std::atomic<int> calls_due{0};
  std::atomic<int> calls_woken{0};
  Calls calls([&](bool is_due) -> Pause {
    if (is_due) {
      ++calls_due;
      return std::nullopt;
    }
    return ++calls_woken == 1 ? Pause(std::chrono::milliseconds(500)) : std::nullopt;
  });
  BackgroundPool::Seat seat(pool(), calls, Kind::kFlush);
  seat.wake();
  await([&] { return calls_woken == 1; });
  seat.wake();
  await([&] { return calls_due == 1; });
  seat.leave();
}

TEST_P(BackgroundPoolTest, AWakeUpDuringAFlushDoesNotEndThePauseThatFollows) {
  start(1);
  std::atomic<int> calls_due{0};
  BackgroundPool::Seat* own = nullptr;
  int calls = 0;
  Calls flush([&](bool is_due) -> Pause {
    calls_due += is_due ? 1 : 0;
    if (++calls > 1) return std::nullopt;
    own->wake();
    return std::chrono::milliseconds(500);
  });
  BackgroundPool::Seat seat(pool(), flush, Kind::kFlush);
  own = &seat;
  seat.wake();
  await([&] { return calls_due == 1; });
  seat.leave();
}

TEST_P(BackgroundPoolTest, LeavesOnlyWhenNoThreadIsInside) {
  start(2);
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  Calls calls([&](bool) -> Pause {
    begun = true;
    for (int i = 0; i < 20; ++i) simulation_.scheduler().yield();
    ended = true;
    return std::chrono::nanoseconds(0);
  });
  BackgroundPool::Seat seat(pool(), calls, Kind::kMerge);
  seat.wake();
  await([&] { return begun.load(); });
  seat.leave();
  EXPECT_TRUE(ended);
  seat.wake();  // does nothing now
}

TEST_P(BackgroundPoolTest, SharesEachPartOnceAlsoFromWithinAMerge) {
  start(2);
  constexpr std::size_t kParts = 17;
  std::vector<std::atomic<int>> done(kParts);
  std::atomic<bool> all{false};
  Calls merge([&](bool) -> Pause {
    pool().share(kParts, [&](std::size_t part) {
      simulation_.scheduler().yield();
      ++done[part];
    });
    all = std::all_of(done.begin(), done.end(), [](const std::atomic<int>& count) { return count == 1; });
    return std::nullopt;
  });
  BackgroundPool::Seat seat(pool(), merge, Kind::kMerge);
  seat.wake();
  await([&] { return all.load(); });
  seat.leave();
}

TEST_P(BackgroundPoolTest, StoresShareThreadsFromTheFirstOpenToTheLastClose) {
  SharedPool shared(simulation_.scheduler());
  auto first = *shared.threads_for(env_);
  auto second = *shared.threads_for(env_);
  EXPECT_EQ(first.get(), second.get());
  const std::weak_ptr<PoolThreads> watched = first;
  first.reset();
  EXPECT_FALSE(watched.expired());
  second.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_NE((*shared.threads_for(env_)).get(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Schedules, BackgroundPoolTest,
                         testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(39)));

}  // namespace
}  // namespace varve::engine::background_pool_test
