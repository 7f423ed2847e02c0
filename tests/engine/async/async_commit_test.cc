// Goal: asynchronous commits and blocking commits form one order. Versions ascend, an acknowledged commit is visible,
// and each holder of a lock sees the writes of the previous holder. No commit hangs. A failure of the log and a full
// write buffer are reported to both kinds.
// Method: operations add one to counters under their partitions' locks, beside threads that do the same with
// Engine::commit(). Runs use seeded schedules and real threads, and faults in the log.
#include "engine/async/async_commit.h"

#include <array>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/async/async_engine.h"
#include "engine/read/cursor.h"
#include "io/env.h"
#include "tests/engine/async/async_bench.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::async_commit_test {
namespace {

using format::CommitVersion;
using test::Call;
using test::Change;
using test::Countdown;
using test::Machine;
using test::value_of;

constexpr std::uint64_t kSeeds = 30;
constexpr int kPartitions = 3;

std::string partition_of(int number) {
  return "p" + std::to_string(number);
}

/// The changes of one commit.
struct Plan {
  std::vector<int> partitions;  // whose counters the commit increments
  Durability durability = Durability::kSync;

  static Plan random(std::mt19937_64& random) {
    Plan plan;
    for (int number = 0; number < kPartitions; ++number) {
      if (random() % 2 == 0) plan.partitions.push_back(number);
    }
    if (plan.partitions.empty()) plan.partitions.push_back(0);
    if (random() % 3 == 0) plan.durability = Durability::kBuffered;
    return plan;
  }
  std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> hashes;
    for (const int number : partitions) {
      hashes.push_back(format::partition_hash(*format::encode_partition(test::kTable, partition_of(number))));
    }
    return hashes;
  }
  /// Builds the request under the locks.
  CommitRequest request(const Engine& engine, PartitionGuard locks) const {
    format::BatchBuilder batch;
    const ReadView view = engine.view();
    for (const int number : partitions) {
      const std::string counter = test::key_of(partition_of(number), "counter");
      const Result<Newest> newest = view.newest(counter);
      EXPECT_TRUE(newest.ok());
      const int count = newest.ok() && newest->value ? std::stoi(std::string(*newest->value)) : 0;
      batch.put(counter, std::to_string(count + 1));
    }
    CommitRequest request;
    request.batch = batch.finish();
    request.tables = {test::kTable};
    request.durability = durability;
    request.locks = std::move(locks);
    return request;
  }
};

/// One operation: locks, then a commit. It is its own first step, and an operation was begun for it.
class Committing final : public Step {
 public:
  Committing(Engine& engine, AsyncEngine& async, Plan plan, Countdown& done)
      : engine_(engine), async_(async), plan_(std::move(plan)), done_(done) {}

  void run() noexcept override {
    ASSERT_TRUE(request_.ask(plan_.hashes()).ok());
    advance();
  }
  const Result<CommitVersion>& outcome() const noexcept { return outcome_; }
  bool may_be_repeated() const noexcept { return may_be_repeated_; }
  const Plan& plan() const noexcept { return plan_; }

 private:
  void advance() {
    const Result<bool> held = request_.advance();
    ASSERT_TRUE(held.ok());
    if (!*held) return;
    commit_.reset(new AsyncCommit(async_.commit(plan_.request(engine_, request_.take()), told_, async_.executor())));
    if (Status begun = commit_->begin(); !begun.ok()) end(begun);
  }
  void end_commit() {
    EXPECT_TRUE(async_.is_on_its_thread());
    const Result<CommitVersion> version = commit_->end();
    may_be_repeated_ = commit_->room_need().in_active > 0;
    EXPECT_TRUE(!version.ok() || engine_.is_published(*version));
    end(version);
  }
  void end(Result<CommitVersion> outcome) {
    outcome_ = std::move(outcome);
    commit_.reset();
    async_.executor().end_operation();
    done_.tick();
  }

  Engine& engine_;
  AsyncEngine& async_;
  const Plan plan_;
  Countdown& done_;
  Call turn_{[this] { advance(); }};
  Call told_{[this] { end_commit(); }};
  LockRequest request_ = async_.lock_request(turn_);
  std::unique_ptr<AsyncCommit> commit_;
  Result<CommitVersion> outcome_ = Status(Code::kUnknown, "it has not ended");
  bool may_be_repeated_ = false;
};

Result<CommitVersion> commit_waiting(Engine& engine, const Plan& plan) {
  Result<PartitionGuard> locks = engine.lock_partitions(plan.hashes());
  EXPECT_TRUE(locks.ok());
  return engine.commit(plan.request(engine, *std::move(locks)));
}

/// Counts how commits of both kinds ended.
class Tally {
 public:
  void add(const Plan& plan, const Result<CommitVersion>& outcome) {
    if (!outcome.ok()) {
      EXPECT_TRUE(outcome.code() == Code::kUnknown || outcome.code() == Code::kPoisoned)
          << outcome.status().to_string();
      ++(outcome.code() == Code::kUnknown ? unknown_ : poisoned_);
      return;
    }
    EXPECT_TRUE(versions_.insert(*outcome).second) << "two commits have version " << *outcome;
    for (const int number : plan.partitions) ++added_[static_cast<std::size_t>(number)];
  }
  int added(int partition) const { return added_[static_cast<std::size_t>(partition)]; }
  int unknown() const noexcept { return unknown_; }
  int failed() const noexcept { return unknown_ + poisoned_; }
  std::size_t succeeded() const noexcept { return versions_.size(); }

 private:
  std::set<CommitVersion> versions_;
  std::array<int, kPartitions> added_{};
  int unknown_ = 0;
  int poisoned_ = 0;
};

struct Amount {
  std::size_t sessions;  // of each kind
  std::size_t commits;   // in each
};

/// Commits from blocking threads. Each result is added to `outcomes`, which only its thread uses.
using Outcomes = std::vector<std::pair<Plan, Result<CommitVersion>>>;
void commit_in_turn(Engine& engine, std::uint64_t seed, std::size_t count, Outcomes& outcomes) {
  std::mt19937_64 random(seed);
  CommitVersion last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Plan plan = Plan::random(random);
    Result<CommitVersion> version = commit_waiting(engine, plan);
    if (version.ok()) {
      EXPECT_GT(*version, last);
      last = *version;
    }
    outcomes.emplace_back(std::move(plan), std::move(version));
  }
}

/// Commits without threads: all commits of a session are started at once.
void commit_side_by_side(Engine& engine, AsyncEngine& async, Countdown& done, std::uint64_t seed, std::size_t count,
                         std::deque<Committing>& session) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    Committing& one = session.emplace_back(engine, async, Plan::random(random), done);
    ASSERT_TRUE(async.executor().begin_operation());
    async.executor().post(one);
  }
}

Tally commit_both_ways(Machine& machine, Engine& engine, AsyncEngine& async, std::uint64_t seed, Amount amount) {
  Countdown done(machine.scheduler(), amount.sessions * amount.commits);
  std::vector<Outcomes> outcomes(amount.sessions);
  std::vector<std::deque<Committing>> sessions(amount.sessions);
  std::vector<io::Thread> threads;
  for (std::size_t i = 0; i < amount.sessions; ++i) {
    threads.push_back(*machine.scheduler().start(
        "waits", [&, i] { commit_in_turn(engine, seed * 100 + i, amount.commits, outcomes[i]); }));
    threads.push_back(*machine.scheduler().start("posts", [&, i] {
      commit_side_by_side(engine, async, done, seed * 100 + 50 + i, amount.commits, sessions[i]);
    }));
  }
  threads.clear();
  done.wait();
  Tally tally;
  for (const Outcomes& waited : outcomes) {
    for (const auto& [plan, version] : waited) tally.add(plan, version);
  }
  for (const std::deque<Committing>& session : sessions) {
    for (const Committing& one : session) tally.add(one.plan(), one.outcome());
  }
  return tally;
}

int counter(const Engine& engine, int partition) {
  const std::string value = value_of(engine, partition_of(partition), "counter");
  return value == "-" ? 0 : std::stoi(value);
}

void expect_all_in_order(Machine& machine, std::uint64_t seed, Amount amount) {
  std::unique_ptr<Engine> engine = *machine.open();
  std::unique_ptr<AsyncEngine> async = *AsyncEngine::start(*engine);
  const Tally tally = commit_both_ways(machine, *engine, *async, seed, amount);
  EXPECT_EQ(tally.failed(), 0);
  EXPECT_EQ(tally.succeeded(), 2 * amount.sessions * amount.commits);
  for (int number = 0; number < kPartitions; ++number) EXPECT_EQ(counter(*engine, number), tally.added(number));
  async.reset();
  ASSERT_TRUE(engine->close().ok());
  engine = *machine.open();
  for (int number = 0; number < kPartitions; ++number) EXPECT_EQ(counter(*engine, number), tally.added(number));
}

class AsyncCommitBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(GetParam())};
  Machine machine_{GetParam(), test::OneThreadAtATime()};
};

TEST_P(AsyncCommitBySeed, CommitsOfBothKindsAreInOneOrderAndNoneIsLost) {
  expect_all_in_order(machine_, GetParam(), {.sessions = 3, .commits = 8});
}

TEST_P(AsyncCommitBySeed, AFailingLogIsToldToAllAndNobodyStands) {
  std::unique_ptr<Engine> engine = *machine_.open();
  std::unique_ptr<AsyncEngine> async = *AsyncEngine::start(*engine);
  io::FaultRule rule;
  rule.kind = io::OperationKind::kLogWrite;
  rule.sync_point = "log group commit";  // excludes the header of a segment that is prepared meanwhile
  rule.skip_count = GetParam() % 7;
  machine_.files->faults().add(rule);
  const Tally tally = commit_both_ways(machine_, *engine, *async, GetParam(), {.sessions = 3, .commits = 8});
  machine_.files->faults().clear();
  EXPECT_GT(tally.failed(), 0);
  EXPECT_EQ(engine->statistics().health, Health::kPoisoned);
  async.reset();
  EXPECT_EQ(engine->close().code(), Code::kPoisoned);
  engine = *machine_.open();
  for (int number = 0; number < kPartitions; ++number) {
    EXPECT_GE(counter(*engine, number), tally.added(number)) << "what was told as durable or buffered is there";
    EXPECT_LE(counter(*engine, number), tally.added(number) + tally.unknown());
  }
}

TEST_P(AsyncCommitBySeed, StopWaitsForCommitsUnderWay) {
  std::unique_ptr<Engine> engine = *machine_.open();
  std::unique_ptr<AsyncEngine> async = *AsyncEngine::start(*engine);
  Countdown done(machine_.scheduler(), 12);
  std::deque<Committing> session;
  commit_side_by_side(*engine, *async, done, GetParam(), 12, session);
  async->stop();
  std::set<CommitVersion> versions;
  for (const Committing& one : session) {
    ASSERT_TRUE(one.outcome().ok()) << one.outcome().status().to_string();
    EXPECT_TRUE(versions.insert(*one.outcome()).second);
  }
  EXPECT_FALSE(async->executor().begin_operation());
  async.reset();
  EXPECT_TRUE(engine->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Seeds, AsyncCommitBySeed, testing::Range<std::uint64_t>(1, 1 + test::effort(kSeeds)));

TEST(AsyncCommit, RealThreadsCommitBothWays) {
  Machine machine;
  expect_all_in_order(machine, 1, {.sessions = 4, .commits = 60});
}

/// A store with real threads, and single asynchronous commits.
class AsyncCommitTest : public testing::Test {
 protected:
  void open(const EngineOptions& options = Machine::writable()) {
    engine_ = *machine_.open(options);
    async_ = *AsyncEngine::start(*engine_);
  }
  void TearDown() override { async_.reset(); }

  struct Ended {
    Result<CommitVersion> outcome;
    RoomNeed room_need{};
    bool may_be_repeated() const { return room_need.in_active > 0; }
  };
  /// Starts `count` commits in one step, each with a request of its own.
  std::vector<Ended> commit(std::size_t count, const std::function<CommitRequest(std::size_t)>& request) {
    struct One {
      std::unique_ptr<Call> told;
      std::unique_ptr<AsyncCommit> commit;
    };
    Countdown done(machine_.scheduler(), count + 1);  // including the step that begins them
    std::vector<One> all(count);
    std::vector<Ended> ended(count, Ended{Status(Code::kUnknown, "it has not ended")});
    const auto end = [&](std::size_t i, Result<CommitVersion> outcome, const RoomNeed& need) {
      ended[i] = {std::move(outcome), need};
      all[i].commit.reset();
      async_->executor().end_operation();
      done.tick();
    };
    Call begin([&] {
      for (std::size_t i = 0; i < count; ++i) {
        all[i].told = std::make_unique<Call>([&, i] {
          Result<CommitVersion> outcome = all[i].commit->end();
          end(i, std::move(outcome), all[i].commit->room_need());
        });
        all[i].commit.reset(new AsyncCommit(async_->commit(request(i), *all[i].told, async_->executor())));
        if (Status begun = all[i].commit->begin(); !begun.ok()) end(i, begun, RoomNeed());
      }
      done.tick();
    });
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(async_->executor().begin_operation());
    async_->executor().post(begin);
    done.wait();
    return ended;
  }
  Ended commit_one(CommitRequest request) {
    return commit(1, [&request](std::size_t) { return std::move(request); }).front();
  }
  static CommitRequest put(std::string_view row, std::string_view value) {
    format::BatchBuilder batch;
    batch.put(test::key_of("p", row), value);
    CommitRequest request;
    request.batch = batch.finish();
    request.tables = {test::kTable};
    return request;
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<AsyncEngine> async_;
};

TEST_F(AsyncCommitTest, ManyBegunInOneStepRiseInTheirOrder) {
  open();
  const std::vector<Ended> ended = commit(200, [](std::size_t i) { return put("r", std::to_string(i)); });
  CommitVersion last = 0;
  for (const Ended& one : ended) {
    ASSERT_TRUE(one.outcome.ok());
    EXPECT_GT(*one.outcome, last);
    last = *one.outcome;
  }
  EXPECT_EQ(value_of(*engine_, "p", "r"), "199");
}

TEST_F(AsyncCommitTest, WhatItDeletesCostsALaterWalkLittle) {
  constexpr std::size_t kRows = 2'000;
  constexpr std::uint64_t kExaminedMax = 200;
  const auto row_of = [](std::size_t row) { return std::to_string(10'000 + row); };
  open();
  for (std::size_t row = 0; row <= kRows; ++row) {
    ASSERT_TRUE(engine_->commit(put(row_of(row), "v")).ok());
  }
  const std::vector<Ended> ended = commit(kRows, [&](std::size_t row) {
    format::BatchBuilder batch;
    batch.remove(test::key_of("p", row_of(row)));
    CommitRequest request;
    request.batch = batch.finish();
    request.tables = {test::kTable};
    return request;
  });
  for (const Ended& one : ended) ASSERT_TRUE(one.outcome.ok());
  const ReadView view = engine_->view();
  const std::string lower = test::key_of("p", row_of(0));
  Cursor cursor = view.cursor(lower, test::key_of("p", row_of(kRows + 1)));
  cursor.seek_to_first();
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.key(), test::key_of("p", row_of(kRows)));
  EXPECT_LE(cursor.entries_examined(), kExaminedMax);
}

TEST_F(AsyncCommitTest, AFullWriteBufferIsToldAndTheCommitSucceedsBehindAFlush) {
  EngineOptions options = Machine::writable();
  options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  open(options);
  io::FaultRule rule;
  rule.kind = io::OperationKind::kCreate;
  rule.name_suffix = ".sst";
  rule.fail_count = io::FaultRule::kFromThenOn;
  machine_.files->faults().add(rule);
  const std::string value(100'000, 'v');
  int refused = 0;
  RoomNeed need;
  for (const Ended& one : commit(20, [&value](std::size_t i) { return put(std::to_string(i), value); })) {
    EXPECT_EQ(one.may_be_repeated(), !one.outcome.ok());
    if (one.outcome.ok()) continue;
    ++refused;
    need = one.room_need;
    EXPECT_EQ(one.outcome.code(), Code::kNoSpace);
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 20);
  EXPECT_TRUE(engine_->flush().code() != Code::kOk);
  RoomGrant room;
  EXPECT_EQ(async_->wait_for_room(need, room).code(), Code::kIoError) << "no flush succeeds, and so it is told";
  EXPECT_EQ(engine_->statistics().health, Health::kWritePaused);
  machine_.files->faults().clear();
  ASSERT_TRUE(engine_->flush().ok());
  // The memory of a flushed memtable is released with its last reader, which may be later.
  ASSERT_TRUE(async_->wait_for_room(need, room).ok());
  CommitRequest with_room = put("again", value);
  with_room.room = &room;
  const Ended again = commit_one(std::move(with_room));
  EXPECT_TRUE(again.outcome.ok()) << again.outcome.status().to_string();
  EXPECT_EQ(value_of(*engine_, "p", "again"), value);
}

TEST_F(AsyncCommitTest, WhatTheWriteBufferRefusedSucceedsWhenItIsRepeated) {
  EngineOptions options = Machine::writable();
  options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  open(options);
  const std::string value(100'000, 'v');
  std::vector<std::string> rows;
  for (int i = 0; i < 30; ++i) rows.push_back(std::to_string(i));
  while (!rows.empty() && !HasFailure()) {
    const std::vector<Ended> ended = commit(rows.size(), [&](std::size_t i) { return put(rows[i], value); });
    std::vector<std::string> refused;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(ended[i].outcome.ok(), !ended[i].may_be_repeated()) << ended[i].outcome.status().to_string();
      if (!ended[i].may_be_repeated()) continue;
      refused.push_back(rows[i]);
      RoomGrant room;
      ASSERT_TRUE(async_->wait_for_room(ended[i].room_need, room).ok());
    }
    rows = std::move(refused);
  }
  for (int i = 0; i < 30; ++i) EXPECT_EQ(value_of(*engine_, "p", std::to_string(i)), value);
}

TEST_F(AsyncCommitTest, WithoutMemoryItDoesNotBeginAndNobodyIsTold) {
  open();
  for (std::uint64_t nth = 1; nth < 100; ++nth) {
    SCOPED_TRACE(nth);
    Countdown done(machine_.scheduler(), 1);
    Status begun;
    bool happened = false;
    std::unique_ptr<AsyncCommit> commit;
    Call told([&] {
      EXPECT_TRUE(commit->end().ok());
      async_->executor().end_operation();
      done.tick();
    });
    Call begin([&] {
      commit.reset(new AsyncCommit(async_->commit(put("r", std::to_string(nth)), told, async_->executor())));
      {
        const test::AllocationFailure failure(nth);
        begun = commit->begin();
        happened = failure.happened();
      }
      if (begun.ok()) return;
      async_->executor().end_operation();
      done.tick();
    });
    ASSERT_TRUE(async_->executor().begin_operation());
    async_->executor().post(begin);
    done.wait();
    if (!happened) return;
    if (begun.ok()) continue;  // Only the memory of one more leader thread was lacking; the other threads did the work.
    EXPECT_EQ(begun.code(), Code::kOutOfMemory);
  }
  FAIL() << "there is no end of allocations";
}

TEST_F(AsyncCommitTest, RefusalsAreThoseOfACommitThatWaits) {
  open();
  const Ended too_large = commit_one(put("r", std::string(kBatchBytesMax, 'v')));
  EXPECT_EQ(too_large.outcome.code(), Code::kTooLarge);
  EXPECT_FALSE(too_large.may_be_repeated());
  ASSERT_TRUE(Change().retire(test::kTable).commit(*engine_).ok());
  const Ended retired = commit_one(put("r", "v"));
  EXPECT_EQ(retired.outcome.code(), Code::kNotFound);
  EXPECT_FALSE(retired.may_be_repeated());
  ASSERT_TRUE(engine_->close().ok());
  EXPECT_EQ(commit_one(put("r", "v")).outcome.code(), Code::kClosed);
}

TEST_F(AsyncCommitTest, OfAReadOnlyStoreItIsRefused) {
  ASSERT_TRUE((*machine_.open())->close().ok());
  open(Machine::reading());
  EXPECT_EQ(commit_one(put("r", "v")).outcome.code(), Code::kReadOnly);
}

}  // namespace
}  // namespace varve::engine::async_commit_test
