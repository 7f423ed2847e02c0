// Goal: threads wait for partition locks with lock(), and requests are notified by a step (LockRequest). Both share one
// queue, exclude each other and all finish, even if some leave the queue.
// Method: random sets of few hashes, under seeded schedules and with real threads. The data of each lock is guarded
// only by that lock.
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/async/workers.h"
#include "engine/commit/partition_locks.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/engine/async/async_bench.h"
#include "tests/support/effort.h"

namespace varve::engine::lock_request_threads_test {
namespace {

using std::chrono::milliseconds;
using test::Call;
using test::Countdown;

constexpr std::uint64_t kSeeds = 40;

bool is_free(PartitionLocks& locks, std::uint64_t hash) {
  return locks.lock(std::array{hash}, milliseconds(0)).ok();
}

PartitionGuard lock(PartitionLocks& locks, std::uint64_t hash) {
  Result<PartitionGuard> guard = locks.lock(std::array{hash});
  EXPECT_TRUE(guard.ok());
  return *std::move(guard);
}

/// Threads run one at a time, in an order that the seed determines. The steps of all requests run on one thread.
class LockRequestBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  LockRequestBySeed() { EXPECT_TRUE(steps_.start().ok()); }

  io::Scheduler& scheduler() { return seeded_.scheduler(); }
  io::Thread start_thread(std::function<void()> body) {
    Result<io::Thread> started = scheduler().start("locker", std::move(body));
    EXPECT_TRUE(started.ok());
    return *std::move(started);
  }
  /// Lets other threads run until one more waiter is queued.
  void wait_for_waiter(std::uint64_t waits_before) {
    while (locks_.waits() == waits_before) scheduler().yield();
  }

  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(GetParam())};
  io::ManualClock clock_;
  io::SeededScheduler seeded_{GetParam(), clock_};
  PartitionLocks locks_{scheduler(), clock_};
  Workers steps_{scheduler(), "steps", 1};
};

TEST_P(LockRequestBySeed, ALineOfBothKindsIsServedInTheOrderOfTheirComing) {
  std::string served;
  std::vector<io::Thread> threads;
  std::deque<LockRequest> requests;
  std::deque<Call> calls;
  Countdown all_told(scheduler(), 6);
  PartitionGuard held = lock(locks_, 7);
  for (char name = 'a'; name <= 'h'; ++name) {
    const std::uint64_t waits = locks_.waits();
    if (name % 3 != 0) {
      const std::size_t place = requests.size();
      Call& turn = calls.emplace_back([&, place, name] {
        ASSERT_TRUE(*requests[place].advance());
        served.push_back(name);
        requests[place].take().release();
        all_told.tick();
      });
      LockRequest& request = requests.emplace_back(locks_, steps_, turn);
      ASSERT_TRUE(request.ask(std::array<std::uint64_t, 1>{7}).ok());
      ASSERT_FALSE(*request.advance());
    } else {
      threads.push_back(start_thread([&, name] {
        const PartitionGuard guard = lock(locks_, 7);
        served.push_back(name);
      }));
    }
    wait_for_waiter(waits);
  }
  EXPECT_EQ(served, "");
  held.release();
  threads.clear();
  all_told.wait();
  steps_.stop();
  EXPECT_EQ(served, "abcdefgh");
  EXPECT_TRUE(is_free(locks_, 7));
}

constexpr std::uint64_t kHashes = 6;
constexpr std::uint64_t kHashStep = 32;  // two shards

/// The holder of each hash. Each place is guarded only by the lock of its hash.
class Holders {
 public:
  void take(const std::vector<std::uint64_t>& hashes, const void* holder) {
    for (const std::uint64_t hash : hashes) {
      const void*& held = holders_[hash / kHashStep];
      EXPECT_TRUE(held == nullptr || held == holder) << "two hold " << hash;
      held = holder;
    }
  }
  void let_go(const std::vector<std::uint64_t>& hashes) {
    for (const std::uint64_t hash : hashes) holders_[hash / kHashStep] = nullptr;
  }

 private:
  std::array<const void*, kHashes> holders_{};
};

std::vector<std::uint64_t> random_hashes(std::mt19937_64& random) {
  std::vector<std::uint64_t> hashes(1 + random() % 4);
  for (std::uint64_t& hash : hashes) hash = random() % kHashes * kHashStep;
  return hashes;
}

constexpr int kRounds = 20;

/// Requests random locks repeatedly, and sometimes cancels a request. Used only on the thread of `steps`.
class RestlessAsker {
 public:
  RestlessAsker(PartitionLocks& locks, StepTaker& steps, Holders& holders, std::uint64_t seed, Countdown& done)
      : locks_(locks), steps_(steps), holders_(holders), random_(seed), done_(done) {}

  Step& first_step() noexcept { return begin_; }
  int served() const noexcept { return served_; }
  int called_off() const noexcept { return called_off_; }

 private:
  void begin() {
    hashes_ = random_hashes(random_);
    request_.emplace(locks_, steps_, turn_);
    ASSERT_TRUE(request_->ask(hashes_).ok());
    if (random_() % 2 == 0) {
      doubts_ = true;
      steps_.post(doubt_);
    }
    advance();
  }
  void advance() {
    const Result<bool> held = request_->advance();
    ASSERT_TRUE(held.ok());
    waits_ = !*held;
    if (waits_) return;
    ++served_;
    holders_.take(hashes_, this);
    steps_.post(let_go_);
  }
  void doubt() {
    doubts_ = false;
    if (!waits_) {
      if (has_ended_) next_round();
      return;
    }
    if (!request_->call_off()) return;  // The turn is on its way.
    waits_ = false;
    ++called_off_;
    end_round();
  }
  void let_go() {
    holders_.let_go(hashes_);
    if (random_() % 2 == 0) request_->take().release();  // otherwise the request itself releases
    request_.reset();
    end_round();
  }
  /// Ends a round. A step is not posted twice, so a round with a pending turn continues only after that turn.
  void end_round() {
    has_ended_ = true;
    if (!doubts_) next_round();
  }
  void next_round() {
    has_ended_ = false;
    if (++rounds_ == kRounds) {
      done_.tick();
    } else {
      steps_.post(begin_);
    }
  }

  PartitionLocks& locks_;
  StepTaker& steps_;
  Holders& holders_;
  std::mt19937_64 random_;
  Countdown& done_;
  Call begin_{[this] { begin(); }};
  Call turn_{[this] { advance(); }};
  Call doubt_{[this] { doubt(); }};
  Call let_go_{[this] { let_go(); }};
  std::vector<std::uint64_t> hashes_;
  std::optional<LockRequest> request_;
  bool waits_ = false;
  bool doubts_ = false;
  bool has_ended_ = false;
  int rounds_ = 0;
  int served_ = 0;
  int called_off_ = 0;
};

/// Requests locks with lock(), with and without a time limit. Returns the number of finished rounds.
int lock_at_random(PartitionLocks& locks, io::Scheduler& scheduler, Holders& holders, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  int ended = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::uint64_t> hashes = random_hashes(random);
    const auto wait_max = random() % 3 == 0 ? std::optional(milliseconds(random() % 2)) : std::nullopt;
    const Result<PartitionGuard> guard = locks.lock(hashes, wait_max);
    ++ended;
    if (!guard.ok()) {
      EXPECT_EQ(guard.code(), Code::kBusy);
      continue;
    }
    holders.take(hashes, &random);
    for (std::uint64_t turn = random() % 4; turn > 0; --turn) scheduler.yield();
    holders.let_go(hashes);
  }
  return ended;
}

void ask_both_ways_at_random(io::Scheduler& scheduler, io::Clock& clock, std::uint64_t seed) {
  constexpr std::size_t kOfEachKind = 3;
  PartitionLocks locks(scheduler, clock);
  Workers steps(scheduler, "steps", 1);
  ASSERT_TRUE(steps.start().ok());
  Holders holders;
  Countdown done(scheduler, kOfEachKind);
  std::deque<RestlessAsker> askers;
  std::array<int, kOfEachKind> ended{};
  std::vector<io::Thread> threads;
  for (std::size_t i = 0; i < kOfEachKind; ++i) {
    steps.post(askers.emplace_back(locks, steps, holders, seed * 10 + i, done).first_step());
    threads.push_back(*scheduler.start(
        "locker", [&, i] { ended[i] = lock_at_random(locks, scheduler, holders, seed * 10 + kOfEachKind + i); }));
  }
  threads.clear();
  done.wait();
  steps.stop();
  for (const int rounds : ended) EXPECT_EQ(rounds, kRounds);
  for (const RestlessAsker& asker : askers) EXPECT_EQ(asker.served() + asker.called_off(), kRounds);
  for (std::uint64_t i = 0; i < kHashes; ++i) EXPECT_TRUE(is_free(locks, i * kHashStep));
}

TEST_P(LockRequestBySeed, RandomSetsOfBothKindsExcludeEachOtherAndAllEnd) {
  ask_both_ways_at_random(scheduler(), clock_, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, LockRequestBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(kSeeds)));

TEST(LockRequestAndThreads, RealThreadsExcludeEachOtherAndAllEnd) {
  const io::Env& env = io::system_env();
  for (std::uint64_t seed = 1; seed <= test::effort(40U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ask_both_ways_at_random(env.scheduler, env.clock, seed);
  }
}

}  // namespace
}  // namespace varve::engine::lock_request_threads_test
