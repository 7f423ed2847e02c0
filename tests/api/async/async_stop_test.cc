// Goal: an operation that is stopped, or exceeds its time limit, either ends without a change or is complete. It ends
// at once if it only waits, and the operations after it in a queue move up.
// Method: the log is blocked, so that a partition stays locked as long as the test needs. Another thread stops
// operations at random moments, and afterwards answers and contents must agree.
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/held_log.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::async_stop_test {
namespace {

using namespace test;
using BegunWrite = Begun<Result<ETag>>;

constexpr Said kCancelled = {Code::kCancelled, ""};
constexpr Said kBusy = {Code::kBusy, ""};

WriteOptions waiting_at_most(int milliseconds) {
  WriteOptions options;
  options.wait_max = std::chrono::milliseconds(milliseconds);
  return options;
}

class AsyncStop : public ::testing::Test {
 protected:
  AsyncStop() : table_(bench_.table()), async_(table_) {}
  Store& store() { return *bench_.store; }
  io::Scheduler& scheduler() { return bench_.machine.scheduler(); }

  std::unique_ptr<BegunWrite> begin_insert(std::string_view row, WriteOptions options = {}, std::stop_token stop = {}) {
    return std::make_unique<BegunWrite>(scheduler(), async_.insert(with_value("p", row, "x"), options, stop));
  }
  /// Begins a transaction that holds the whole partition.
  std::unique_ptr<BegunWrite> begin_pair(std::string_view row, std::string_view other, WriteOptions options = {}) {
    return std::make_unique<BegunWrite>(scheduler(),
                                        insert_pair(async_, std::string(row), std::string(other), std::move(options)));
  }
  /// Lets all begun operations run as far as they can.
  void settle() {
    (void)wait(AsyncStore(store()).run([](Store&) { return Status(); }));
  }
  std::vector<std::string> rows() {
    Scan scan;
    scan.range = ScanRange::partition("p");
    return keys_of(*table_.scan(scan));
  }

  StoreBench bench_;
  Table table_;
  AsyncTable async_;
};

TEST_F(AsyncStop, BeforeTheBeginningChangesNothingWhateverTheVerb) {
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x")).ok());
  std::stop_source source;
  source.request_stop();
  const std::stop_token stop = source.get_token();
  const DateTime before = (*store().snapshot()).version();
  EntityGroupTransaction transaction;
  transaction.insert(with_value("p", "s", "x"));
  EXPECT_EQ(said(wait(async_.insert(with_value("p", "new", "x"), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.replace(with_value("p", "r", "y"), ETag::any(), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.merge(with_value("p", "r", "y"), ETag::any(), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.insert_or_replace(with_value("p", "r", "y"), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.insert_or_merge(with_value("p", "r", "y"), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.remove("p", "r", ETag::any(), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.execute(std::move(transaction), {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.get("p", "r", {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.get_many({{"p", "r"}}, {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.scan(Scan{}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.scan_in_place(
                Scan{}, [](const EntityView&) { ADD_FAILURE(); }, stop))),
            kCancelled);
  EXPECT_EQ(said(wait(async_.count(Scan{}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.explain(Scan{}, stop))), kCancelled);
  EXPECT_EQ((*store().snapshot()).version(), before);
  EXPECT_EQ(value_in(table_, "p", "r"), "x");
}

TEST_F(AsyncStop, ThatComesTooLateChangesNothing) {
  std::stop_source source;
  EXPECT_EQ(said(wait(async_.insert(with_value("p", "r", "x"), {}, source.get_token()))), kFine);
  source.request_stop();
  EXPECT_EQ(value_in(table_, "p", "r"), "x");
}

TEST_F(AsyncStop, InThePartitionsLineEndsTheWaitAtOnceAndTheOthersMoveUp) {
  HeldLog log(bench_);
  log.fill(async_);
  const auto holder = begin_pair("1", "1b");
  std::stop_source second;
  std::stop_source third;
  const auto stopped = begin_insert("2", {}, second.get_token());
  const auto also_stopped = begin_insert("3", {}, third.get_token());
  const auto patient = begin_insert("4");
  settle();
  EXPECT_EQ((*store().statistics()).partition_waits, 3u);
  third.request_stop();
  EXPECT_EQ(said(also_stopped->take()), kCancelled);  // The log is still blocked.
  second.request_stop();
  EXPECT_EQ(said(stopped->take()), kCancelled);
  EXPECT_FALSE(holder->has_ended() || patient->has_ended());
  log.let_go();
  EXPECT_EQ(said(holder->take()), kFine);
  EXPECT_EQ(said(patient->take()), kFine);
  EXPECT_EQ(rows(), (std::vector<std::string>{"p/1", "p/1b", "p/4"}));
}

TEST_F(AsyncStop, OfACommitOnItsWayComesTooLate) {
  HeldLog log(bench_);
  log.fill(async_);
  std::stop_source source;
  const auto begun = begin_insert("1", {}, source.get_token());
  settle();
  source.request_stop();
  settle();
  EXPECT_FALSE(begun->has_ended());
  log.let_go();
  EXPECT_EQ(said(begun->take()), kFine);
}

TEST_F(AsyncStop, WhoMayNotWaitForAHeldPartitionIsToldBusyAtOnce) {
  HeldLog log(bench_);
  log.fill(async_);
  const auto holder = begin_pair("1", "1b", waiting_at_most(0));  // It is not locked: there is nothing to wait for.
  const auto behind = begin_insert("2", waiting_at_most(0));
  EXPECT_EQ(said(behind->take()), kBusy);
  const auto negative = begin_insert("3", waiting_at_most(-5));
  EXPECT_EQ(said(negative->take()), kBusy);
  // The blocking operation gives the same answer.
  EXPECT_EQ(said(table_.insert(with_value("p", "4", "x"), waiting_at_most(0))), kBusy);
  EXPECT_FALSE(holder->has_ended());
  log.let_go();
  EXPECT_EQ(said(holder->take()), kFine);
  EXPECT_EQ(rows(), (std::vector<std::string>{"p/1", "p/1b"}));
}

TEST_F(AsyncStop, WhoWaitsLongEnoughForAHeldPartitionIsToldBusyThen) {
  HeldLog log(bench_);
  log.fill(async_);
  const auto holder = begin_pair("1", "1b");
  const auto short_of_time = begin_insert("2", waiting_at_most(5));
  const auto with_time = begin_insert("3", waiting_at_most(1'000'000));
  settle();
  EXPECT_FALSE(short_of_time->has_ended());  // The machine's clock does not advance.
  bench_.machine.clock.advance(std::chrono::milliseconds(6));
  EXPECT_EQ(said(short_of_time->take()), kBusy);
  EXPECT_FALSE(with_time->has_ended());
  log.let_go();
  EXPECT_EQ(said(holder->take()), kFine);
  EXPECT_EQ(said(with_time->take()), kFine);
  EXPECT_EQ(rows(), (std::vector<std::string>{"p/1", "p/1b", "p/3"}));
}

TEST_F(AsyncStop, CloseWaitsForWhoWaits) {
  auto log = std::make_unique<HeldLog>(bench_);
  log->fill(async_);
  const auto holder = begin_pair("1", "1b");
  const auto behind = begin_insert("2");
  settle();
  io::Event closed(scheduler());
  Result<io::Thread> closer = scheduler().start("closer", [&] {
    EXPECT_EQ(said(store().close()), kFine);
    closed.set();
  });
  ASSERT_TRUE(closer.ok());
  EXPECT_FALSE(closed.is_set());
  log->let_go();
  EXPECT_EQ(said(holder->take()), kFine);
  EXPECT_EQ(said(behind->take()), kFine);
  closer->join();
  log.reset();
  bench_.open();
  table_ = *store().open_table(kAccount, "Orders");
  EXPECT_EQ(rows(), (std::vector<std::string>{"p/1", "p/1b", "p/2"}));
}

// -- At random ----------------------------------------------------------------------------------------------------

struct Attempt {
  std::stop_source source;
  std::unique_ptr<BegunWrite> write;
};

void stop_at_random(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr int kWrites = 300;
  StoreBench bench(seed);
  const Table table = bench.table();
  const AsyncTable async(table);
  io::SeededRandom random(seed);
  HeldLog log(bench);
  log.fill(async);
  std::vector<Attempt> attempts(kWrites);
  for (int i = 0; i < kWrites; ++i) {
    Attempt& attempt = attempts[static_cast<std::size_t>(i)];
    Entity entity("p" + std::to_string(i % 5), "r");
    entity.set("N" + std::to_string(i), i);
    const WriteOptions options = io::one_in(random, 3) ? waiting_at_most(1'000'000) : WriteOptions();
    attempt.write = std::make_unique<BegunWrite>(
        bench.machine.scheduler(), async.insert_or_merge(std::move(entity), options, attempt.source.get_token()));
  }
  Result<io::Thread> stopper = bench.machine.scheduler().start("stopper", [&] {
    for (int i = 0; i < kWrites; ++i) {
      if (i == kWrites / 3) log.let_go();  // Some are stopped in the queue, some while they move up, some too late.
      attempts[io::random_below(random, kWrites)].source.request_stop();
    }
  });
  ASSERT_TRUE(stopper.ok());
  int cancelled = 0;
  for (int i = 0; i < kWrites; ++i) {
    const Result<ETag> answer = attempts[static_cast<std::size_t>(i)].write->take();
    const std::optional<Entity> entity = read(table, "p" + std::to_string(i % 5), "r");
    const bool is_there = entity && entity->find("N" + std::to_string(i)) != nullptr;
    EXPECT_EQ(said(answer), answer.ok() ? kFine : kCancelled);
    EXPECT_EQ(is_there, answer.ok()) << i;
    if (!answer.ok()) ++cancelled;
  }
  stopper->join();
  EXPECT_GT(cancelled, 0);
  EXPECT_LT(cancelled, kWrites);
}

TEST(AsyncStops, AtRandomLeaveEachWriteDoneOrCancelled) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(15); ++seed) {
    stop_at_random(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::async_stop_test
