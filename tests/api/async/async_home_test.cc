// Goal: an operation runs as far as possible on the thread that begins it, which never waits. If it has a home, it ends
// there, whatever it waited for. If it is refused, stopped or without a lock, its result is the usual one.
// Method: homes that resume coroutines when the test says so; a log that is blocked; seeded schedules.
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/held_log.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::async_home_test {
namespace {

using namespace test;
using BegunWrite = Begun<Result<ETag>>;

constexpr Said kCancelled = {Code::kCancelled, ""};

class AsyncHome : public ::testing::Test {
 protected:
  AsyncHome() : table_(bench_.table()), home_(bench_.machine.scheduler()), async_(table_, &home_) {
    EXPECT_EQ(table_.remove("p", "none", ETag::any()).code(), Code::kNotFound);  // The table is known afterwards.
  }
  Store& store() { return *bench_.store; }
  io::Scheduler& scheduler() { return bench_.machine.scheduler(); }
  /// Waits until the asynchronous thread has done its present work.
  void settle() {
    (void)wait(AsyncStore(store()).run([](Store&) { return Status(); }));
  }

  StoreBench bench_;
  Table table_;
  HeldHome home_;
  AsyncTable async_;
};

TEST_F(AsyncHome, AReadOfWhatIsInMemoryEndsBeforeItsBeginningReturns) {
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x")).ok());
  bool has_ended = false;
  start(AsyncTable(table_).get("p", "r"), [&](const Result<std::optional<Entity>>& found) {
    EXPECT_TRUE(found.ok() && found->has_value());
    has_ended = true;
  });
  EXPECT_TRUE(has_ended);
  EXPECT_TRUE(home_.run(async_.get("p", "none")).ok());
  EXPECT_EQ(home_.posts(), 0u);
}

TEST_F(AsyncHome, WhatTheCacheHasIsReadThereAndWhatItHasNotElsewhere) {
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x")).ok());
  ASSERT_TRUE(store().compact().ok());
  EXPECT_TRUE((*home_.run(async_.get("p", "r"))).has_value());  // The table was read, and its blocks are in the cache.
  const std::size_t before = home_.posts();
  EXPECT_TRUE((*home_.run(async_.get("p", "r"))).has_value());
  EXPECT_EQ((*home_.run(async_.get_many({{"p", "r"}, {"p", "none"}}))).size(), 2u);
  EXPECT_EQ((*home_.run(async_.scan(Scan{}))).entities.size(), 1u);
  EXPECT_EQ(home_.posts(), before);
}

TEST_F(AsyncHome, AWriteLeavesItForTheLogAlone) {
  EXPECT_EQ(said(home_.run(async_.insert(with_value("p", "r", "x")))), kFine);
  EXPECT_EQ(home_.posts(), 2u);  // its turn after other ready operations, and its end
  EXPECT_EQ(said(home_.run(async_.insert(with_value("p", "r", "y")))), kEntityAlreadyExists);
  EXPECT_EQ(home_.posts(), 3u);
  EXPECT_EQ(said(home_.run(async_.remove("p", "r", ETag::any()))), kFine);
  EntityGroupTransaction transaction;
  transaction.insert(with_value("p", "s", "x")).insert_or_merge(with_value("p", "t", "x"));
  EXPECT_EQ(said(home_.run(async_.execute(std::move(transaction)))), kFine);
  EXPECT_EQ(home_.posts(), 7u);
  EXPECT_EQ(keys_of(*table_.scan(Scan{})), (std::vector<std::string>{"p/s", "p/t"}));
}

TEST_F(AsyncHome, WritesThatAreReadyTogetherShareAWriteOfTheLog) {
  constexpr int kWrites = 20;
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x")).ok());
  HeldLog log(bench_);
  log.fill(AsyncTable(table_));  // The next group waits, and accepts all commits.
  const std::uint64_t groups = (*store().statistics()).groups;
  std::vector<std::unique_ptr<BegunWrite>> writes;
  for (int i = 0; i < kWrites; ++i) {
    writes.push_back(
        std::make_unique<BegunWrite>(scheduler(), async_.insert(with_value("q" + std::to_string(i), "r", "x"))));
  }
  for (int i = 0; i < kWrites; ++i) home_.run_one();  // Their commits are begun.
  log.let_go();
  for (int i = 0; i < kWrites; ++i) home_.run_one();
  for (const auto& write : writes) EXPECT_EQ(said(write->take()), kFine);
  EXPECT_LT((*store().statistics()).groups, groups + 5);  // The log's timer may have had some groups of its own.
}

TEST_F(AsyncHome, WhoFindsThePartitionHeldWaitsInItsLineElsewhereAndEndsAtHome) {
  HeldLog log(bench_);
  log.fill(AsyncTable(table_));
  BegunWrite holder(scheduler(), insert_pair(AsyncTable(table_), "1", "1b"));
  BegunWrite behind(scheduler(), async_.insert(with_value("p", "2", "x")));
  std::stop_source source;
  BegunWrite stopped(scheduler(), async_.insert(with_value("p", "3", "x"), {}, source.get_token()));
  home_.run_one();  // Each has its turn, which ends in the queue.
  home_.run_one();
  settle();
  EXPECT_EQ((*store().statistics()).partition_waits, 2u);
  source.request_stop();
  home_.run_one();
  EXPECT_EQ(said(stopped.take()), kCancelled);  // The log is still blocked.
  EXPECT_FALSE(holder.has_ended() || behind.has_ended());
  log.let_go();
  EXPECT_EQ(said(holder.take()), kFine);
  home_.run_one();
  EXPECT_EQ(said(behind.take()), kFine);
  Scan scan;
  scan.range = ScanRange::partition("p");
  EXPECT_EQ(keys_of(*table_.scan(scan)), (std::vector<std::string>{"p/1", "p/1b", "p/2"}));
}

TEST_F(AsyncHome, AStopBeforeTheTurnIsOneBeforeTheCommit) {
  std::stop_source source;
  BegunWrite begun(scheduler(), async_.insert(with_value("p", "r", "x"), {}, source.get_token()));
  EXPECT_EQ(home_.posts(), 1u);
  source.request_stop();
  home_.run_one();
  EXPECT_TRUE(begun.has_ended());
  EXPECT_EQ(said(begun.take()), kCancelled);
  EXPECT_EQ(value_in(table_, "p", "r"), "-");
  EXPECT_EQ(said(home_.run(async_.insert(with_value("p", "r", "y")))), kFine);  // Its partition is not locked.
}

TEST_F(AsyncHome, CloseWaitsForWhatIsAtHomeAndLaterOnesAreRefusedThere) {
  BegunWrite begun(scheduler(), async_.insert(with_value("p", "r", "x")));
  Result<io::Thread> closer = scheduler().start("closer", [&] { EXPECT_EQ(said(store().close()), kFine); });
  ASSERT_TRUE(closer.ok());
  home_.run_one();
  home_.run_one();
  EXPECT_EQ(said(begun.take()), kFine);
  closer->join();
  EXPECT_EQ(home_.run(async_.insert(with_value("p", "s", "x"))).code(), Code::kClosed);
}

// -- Under every schedule -----------------------------------------------------------------------------------------

Task<Status> count_up(AsyncTable table, int times) {
  for (int done = 0; done < times;) {
    Result<std::optional<Entity>> found = co_await table.get("p", "counter");
    if (!found.ok()) co_return found.status();
    Entity counter = **std::move(found);
    const ETag etag = counter.etag();
    counter.set("N", *counter.get<std::int64_t>("N") + 1);
    const Result<ETag> replaced = co_await table.replace(std::move(counter), etag);
    if (replaced.ok()) ++done;
    if (!replaced.ok() && said(replaced) != kUpdateConditionNotSatisfied) co_return replaced.status();
  }
  co_return Status();
}

/// Counts with tasks of two homes, and with tasks without a home.
void count_up_everywhere(StoreBench& bench) {
  const Table table = bench.table();
  Entity counter("p", "counter");
  counter.set("N", std::int64_t{0});
  ASSERT_TRUE(Table(table).insert(counter).ok());
  std::vector<io::Thread> threads;
  for (int number = 0; number < 3; ++number) {
    Result<io::Thread> thread = bench.machine.scheduler().start("home", [&bench, &table, number] {
      HeldHome home(bench.machine.scheduler());
      const AsyncTable async(table, number < 2 ? &home : nullptr);
      std::vector<Task<Status>> tasks;
      for (int i = 0; i < 3; ++i) tasks.push_back(count_up(async, 2));
      const std::vector<Status> ended =
          number < 2 ? home.run(all(std::move(tasks))) : await(bench.machine.scheduler(), all(std::move(tasks)));
      for (const Status& status : ended) EXPECT_TRUE(status.ok()) << status.to_string();
    });
    ASSERT_TRUE(thread.ok()) << thread.status().to_string();
    threads.push_back(*std::move(thread));
  }
  for (io::Thread& thread : threads) thread.join();
  EXPECT_EQ(*read(table, "p", "counter")->get<std::int64_t>("N"), 18);
}

TEST(AsyncHomes, IncrementsFromEverywhereSumUpExactly) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StoreBench bench(seed, OneThreadAtATime{});
    count_up_everywhere(bench);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(AsyncHomes, IncrementsFromEverywhereSumUpExactlyUnderTheSystemsScheduler) {
  StoreBench bench(1);
  count_up_everywhere(bench);
}

}  // namespace
}  // namespace varve::async_home_test
