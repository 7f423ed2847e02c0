// Goal: buffered commits of several threads share a turn of the queue. Members that are awake insert their own batches,
// and no member is lost, inserted twice or published early.
// Method: threads run one at a time, by many seeds. A request in the line of each member's lock records the thread that
// released the lock, which is the thread that inserted the batch.
#include <array>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/commit/partition_locks.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::shared_turn_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint64_t kSeeds = 200;
constexpr std::size_t kClients = 4;

std::string name_of(std::size_t client) {
  return "p" + std::to_string(client);
}

/// Waits in the line of one lock without a thread, and records the thread that hands the lock over.
class Watcher final : private Step, private StepTaker {
 public:
  Watcher(PartitionLocks& locks, std::uint64_t hash) : request_(locks, *this, *this) {
    EXPECT_TRUE(request_.ask(std::array{hash}).ok());
    const Result<bool> taken = request_.advance();
    EXPECT_TRUE(taken.ok() && !*taken) << "the member holds the lock";
  }
  void end() {
    const Result<bool> taken = request_.advance();
    EXPECT_TRUE(taken.ok() && *taken);
  }
  std::thread::id thread() const noexcept { return thread_; }

 private:
  void run() noexcept override {}
  void post(Step& /*step*/) noexcept override { thread_ = std::this_thread::get_id(); }

  LockRequest request_;
  std::thread::id thread_;
};

struct Observed {
  std::uint64_t groups = 0;
  std::size_t inserting_threads = 0;
};

/// Commits one entity a client, each with a lock of its own, on a thread of its own.
Observed commit_side_by_side(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Machine machine(seed, test::OneThreadAtATime{});
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(Change().put("p", "brings its ceiling", "v").commit(**engine).ok());

  PartitionLocks locks(machine.scheduler(), machine.clock);
  std::vector<CommitRequest> requests(kClients);
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (std::size_t client = 0; client < kClients; ++client) {
    format::BatchBuilder batch;
    batch.put(test::key_of(name_of(client), "r"), "v" + std::to_string(seed));
    requests[client].batch = batch.finish();
    requests[client].tables = {test::kTable};
    requests[client].durability = Durability::kBuffered;
    Result<PartitionGuard> guard = locks.lock(std::array{std::uint64_t{client}});
    EXPECT_TRUE(guard.ok());
    requests[client].locks = *std::move(guard);
    watchers.push_back(std::make_unique<Watcher>(locks, client));
  }

  Observed observed;
  const std::uint64_t groups_before = (*engine)->statistics().groups;
  std::set<CommitVersion> versions;
  {
    std::vector<io::Thread> clients;
    for (std::size_t client = 0; client < kClients; ++client) {
      Result<io::Thread> started = machine.scheduler().start("client", [&, client] {
        const Result<CommitVersion> version = (*engine)->commit(std::move(requests[client]));
        EXPECT_TRUE(version.ok()) << version.status().to_string();
        EXPECT_EQ(test::value_of(**engine, name_of(client), "r"), "v" + std::to_string(seed));
        EXPECT_TRUE(versions.insert(*version).second);  // One thread runs at a time.
      });
      EXPECT_TRUE(started.ok());
      clients.push_back(*std::move(started));
    }
  }
  observed.groups = (*engine)->statistics().groups - groups_before;
  EXPECT_EQ(versions.size(), kClients);
  for (const CommitVersion version : versions) EXPECT_TRUE((*engine)->is_published(version));
  std::set<std::thread::id> threads;
  for (const std::unique_ptr<Watcher>& watcher : watchers) {
    watcher->end();
    threads.insert(watcher->thread());
  }
  observed.inserting_threads = threads.size();
  EXPECT_TRUE((*engine)->close().ok());

  Machine after(seed + 1, machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  auto reopened = after.open();
  EXPECT_TRUE(reopened.ok()) << reopened.status().to_string();
  for (std::size_t client = 0; reopened.ok() && client < kClients; ++client) {
    EXPECT_EQ(test::value_of(**reopened, name_of(client), "r"), "v" + std::to_string(seed));
  }
  return observed;
}

TEST(SharedTurn, MembersThatAreAwakeInsertTheirOwnBatches) {
  int shared = 0;
  int inserted_by_members = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Observed observed = commit_side_by_side(seed);
    if (observed.groups < kClients) ++shared;
    // Each group has one leader, so more threads than groups means that other members inserted.
    if (observed.inserting_threads > observed.groups) ++inserted_by_members;
  }
  EXPECT_GE(shared, 20) << "hardly ever did commits share a group";
  EXPECT_GE(inserted_by_members, 3) << "hardly ever did a member insert its own batch";
}

/// Returns the calls of the scheduler that one buffered commit makes while no other thread does anything.
std::uint64_t calls_of_a_buffered_commit(std::uint64_t seed) {
  Machine machine(seed, test::OneThreadAtATime{});
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(Change().put("p", "brings its ceiling", "v").commit(**engine).ok());
  EXPECT_TRUE(Change().put("p", "opens the slot", "v").buffered().commit(**engine).ok());
  for (int i = 0; i < 100; ++i) machine.scheduler().yield();  // The timer's thread goes to sleep.
  CommitRequest request;
  format::BatchBuilder batch;
  batch.put(test::key_of("q", "r"), "v");
  request.batch = batch.finish();
  request.tables = {test::kTable};
  request.durability = Durability::kBuffered;
  const std::uint64_t before = machine.simulation().decision_count();
  EXPECT_TRUE((*engine)->commit(std::move(request)).ok());
  return machine.simulation().decision_count() - before;
}

TEST(SharedTurn, ACommitThatLeadsItselfTakesTheQueuesMutexThreeTimes) {
  // Each take and each release is a call. The others set and await the events of the group, which no thread awaits.
  constexpr std::uint64_t kMutexCalls = 2 * 3;
  constexpr std::uint64_t kEventCalls = 4;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_LE(calls_of_a_buffered_commit(seed), kMutexCalls + kEventCalls);
  }
}

}  // namespace
}  // namespace varve::engine::shared_turn_test
