// Goal: a transaction that read a range by scan_checked() is committed only if the range is as it was.
// Method: each kind of change and of range on one thread; a commit that is not published; writers beside one another
// under seeded schedules.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"

namespace varve::checked_scan_test {
namespace {

using namespace test;

constexpr Said kConflict = {Code::kConflict, ""};
constexpr Said kTooMany = {Code::kTooLarge, "InvalidInput"};

Scan scan_of(const ScanRange& range, std::string_view filter = "") {
  Scan scan;
  scan.range = range;
  scan.filter = filter;
  return scan;
}

class CheckedScan : public ::testing::Test {
 protected:
  void SetUp() override {
    people_.emplace(bench_.table("People"));
    other_.emplace(bench_.table("Other"));
    for (const char* row : {"b1", "b2", "b3", "c"}) put("p", row, "old");
  }
  Store& store() { return *bench_.store; }
  Table& people() { return *people_; }
  void put(std::string_view partition, std::string_view row, std::string_view value) {
    ASSERT_EQ(said(people().insert_or_replace(with_value(partition, row, value))), kFine);
  }
  void remove(std::string_view partition, std::string_view row) {
    ASSERT_EQ(said(people().remove(partition, row, ETag::any())), kFine);
  }
  /// Returns what the commit says of a transaction that read a page, and wrote to another table.
  Said said_after(const Scan& scan, const std::function<void()>& since) {
    Result<StoreTransaction> transaction = store().begin_transaction();
    EXPECT_EQ(said(transaction), kFine);
    const Result<Page> page = transaction->scan_checked(people(), scan);
    EXPECT_EQ(said(page), kFine) << page.status().to_string();
    since();
    transaction->insert_or_replace(*other_, with_value("q", std::to_string(++written_), "x"));
    const Said answer = said(transaction->commit());
    EXPECT_EQ(value_in(*other_, "q", std::to_string(written_)), answer == kFine ? "x" : "-");
    return answer;
  }

  StoreBench bench_;
  std::optional<Table> people_;
  std::optional<Table> other_;
  int written_ = 0;
};

TEST_F(CheckedScan, IsRefusedForEachChangeInItsRangeAndForNoneBesideIt) {
  const Scan rows = scan_of(ScanRange::rows("p", "b", "c"));
  const std::vector<std::function<void()>> inside = {
      [&] { put("p", "b", "at the lower bound"); },
      [&] { put("p", "b\U0010FFFF", "the last below the upper bound"); },
      [&] { put("p", "b2", "new"); },
      [&] { put("p", "b2", "new"); },  // the same value, written again
      [&] { ASSERT_EQ(said(people().merge(Entity("p", "b1").set("W", 1), ETag::any())), kFine); },
      [&] { remove("p", "b3"); },
      [&] {
        remove("p", "b2");
        put("p", "b2", "new");
      },
  };
  for (std::size_t i = 0; i < inside.size(); ++i) EXPECT_EQ(said_after(rows, inside[i]), kConflict) << "case " << i;
  const std::vector<std::function<void()>> beside = {
      [] {},
      [&] { put("p", "a", "before it"); },
      [&] { put("p", "c", "at its upper bound"); },
      [&] { remove("p", "c"); },
      [&] { put("P", "b2", "another partition"); },
      [&] { put("pp", "b2", "another partition"); },
      [&] { ASSERT_EQ(said(other_->insert(with_value("p", "b2", "another table"))), kFine); },
  };
  for (std::size_t i = 0; i < beside.size(); ++i) EXPECT_EQ(said_after(rows, beside[i]), kFine) << "case " << i;
}

TEST_F(CheckedScan, CoversAPartitionAPrefixAndTheKeysThatAFilterNames) {
  const auto in_b = [&] { put("p", "b2", "new"); };
  const auto in_c = [&] { put("p", "c2", "new"); };
  EXPECT_EQ(said_after(scan_of(ScanRange::partition("p")), in_c), kConflict);
  EXPECT_EQ(said_after(scan_of(ScanRange::partition("empty")), in_c), kFine);
  EXPECT_EQ(said_after(scan_of(ScanRange::partition("empty")), [&] { put("empty", "", "first"); }), kConflict);
  EXPECT_EQ(said_after(scan_of(ScanRange::rows_with_prefix("p", "b")), in_b), kConflict);
  EXPECT_EQ(said_after(scan_of(ScanRange::rows_with_prefix("p", "b")), in_c), kFine);
  const Scan by_keys = scan_of(ScanRange::whole_table(), "PartitionKey eq 'p' and RowKey ge 'b' and RowKey lt 'c'");
  EXPECT_EQ(said_after(by_keys, in_b), kConflict);
  EXPECT_EQ(said_after(by_keys, in_c), kFine);
  const Scan points = scan_of(ScanRange::whole_table(),
                              "PartitionKey eq 'p' and RowKey eq 'b2' or PartitionKey eq 'q' and RowKey eq 'none'");
  EXPECT_EQ(said_after(points, in_b), kConflict);
  EXPECT_EQ(said_after(points, [&] { put("q", "none", "new"); }), kConflict);
  EXPECT_EQ(said_after(points, [&] { put("q", "next", "new"); }), kFine);
  // A condition on a property does not narrow the covered keys.
  EXPECT_EQ(said_after(scan_of(ScanRange::partition("p"), "V eq 'none'"), in_b), kConflict);
}

TEST_F(CheckedScan, CoversTheWholeRangeAlsoWhereAnIndexServesTheScan) {
  IndexDefinition definition;
  definition.name = "ByV";
  definition.components = {{"V"}};
  ASSERT_EQ(said(store().create_index(kAccount, "People", definition)), kFine);
  const ScanRange whole = ScanRange::partition("p");
  const auto put_new = [&] { put("p", "b9", "sought"); };
  EXPECT_EQ(said_after(scan_of(whole, "V eq 'sought'"), put_new), kConflict) << "the index had none";
  EXPECT_EQ(said_after(scan_of(whole, "V eq 'sought'"), [] {}), kFine) << "the index has one";
  EXPECT_EQ(said_after(scan_of(whole, "V eq 'sought'"), [&] { put("p", "b91", "sought"); }), kConflict);
}

TEST_F(CheckedScan, OfSeveralPartitionsInOneRangeIsRefused) {
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_EQ(said(transaction), kFine);
  for (const Scan& scan :
       {Scan{}, scan_of(ScanRange::partitions("p", "q")), scan_of(ScanRange::partitions("p")),
        scan_of(ScanRange::whole_table(), "PartitionKey ge 'p'"), scan_of(ScanRange::whole_table(), "V eq 'old'")}) {
    EXPECT_EQ(said(transaction->scan_checked(people(), scan)), kInvalidInput);
  }
  put("p", "b2", "new");
  transaction->insert(*other_, with_value("q", "1", "x"));
  EXPECT_EQ(said(transaction->commit()), kFine) << "what was refused is not checked";
}

TEST_F(CheckedScan, CoversNoMoreThanItsPage) {
  Scan page = scan_of(ScanRange::partition("p"));
  page.page_entities_max = 2;  // b1 and b2; the token names b3
  EXPECT_EQ(said_after(page, [&] { put("p", "b3", "named by the token"); }), kFine);
  EXPECT_EQ(said_after(page, [&] { put("p", "b22", "before the named one"); }), kConflict);
  remove("p", "b22");
  page.backward = true;  // c and b3; the token names b2
  EXPECT_EQ(said_after(page, [&] { put("p", "b2", "named by the token"); }), kFine);
  EXPECT_EQ(said_after(page, [&] { put("p", "b23", "behind the named one"); }), kConflict);
  EXPECT_EQ(said_after(page, [&] { put("p", "d", "the last one"); }), kConflict);
  remove("p", "b23");
  remove("p", "d");
  Scan taken = scan_of(ScanRange::partition("p"));
  taken.take = 2;
  EXPECT_EQ(said_after(taken, [&] { put("p", "b23", "behind the last one taken"); }), kFine);
  EXPECT_EQ(said_after(taken, [&] { put("p", "b2", "the last one taken"); }), kConflict);
  remove("p", "b23");
  taken.backward = true;  // c and b3
  EXPECT_EQ(said_after(taken, [&] { put("p", "b23", "before the last one taken"); }), kFine);
  EXPECT_EQ(said_after(taken, [&] { put("p", "b3", "the last one taken"); }), kConflict);
  taken.page_entities_max = 0;
  EXPECT_EQ(said_after(taken, [&] { put("p", "b3", "nothing was read"); }), kFine);
}

TEST_F(CheckedScan, OfSeveralPagesCoversThemAll) {
  for (const bool backward : {false, true}) {
    for (const char* changed : {"a", "b2", "c", "d"}) {
      Result<StoreTransaction> transaction = store().begin_transaction();
      Scan scan = scan_of(ScanRange::partition("p"));
      scan.page_entities_max = 1;
      scan.backward = backward;
      for (;;) {
        const Result<Page> page = transaction->scan_checked(people(), scan);
        ASSERT_EQ(said(page), kFine);
        if (!page->continuation) break;
        scan.continuation = *page->continuation;
      }
      put("p", changed, "new");
      transaction->insert(*other_, with_value("q", "1", "x"));
      EXPECT_EQ(said(transaction->commit()), kConflict) << changed << (backward ? " backward" : "");
    }
  }
}

TEST_F(CheckedScan, IsNotRefusedForTheWritesOfItsTransaction) {
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_EQ(said(transaction->scan_checked(people(), scan_of(ScanRange::partition("p")))), kFine);
  transaction->insert(people(), with_value("p", "b22", "x"))
      .remove(people(), "p", "b1", ETag::any())
      .merge(people(), with_value("p", "c", "x"), ETag::any());
  EXPECT_EQ(said(transaction->commit()), kFine);
  EXPECT_EQ(value_in(people(), "p", "c"), "x");
}

TEST_F(CheckedScan, SeesChangesThatWereFlushedAndCompacted) {
  const Scan scan = scan_of(ScanRange::partition("p"));
  EXPECT_EQ(said_after(scan, [&] { ASSERT_EQ(said(store().compact()), kFine); }), kFine);
  EXPECT_EQ(said_after(scan,
                       [&] {
                         remove("p", "b2");
                         ASSERT_EQ(said(store().compact()), kFine);
                       }),
            kConflict);
  EXPECT_EQ(said_after(scan,
                       [&] {
                         put("p", "b4", "new");
                         ASSERT_EQ(said(store().compact()), kFine);
                       }),
            kConflict);
}

TEST_F(CheckedScan, OfATableThatWasDroppedOrMadeAnewIsRefused) {
  for (const bool anew : {false, true}) {
    const Table gone = bench_.table(anew ? "MadeAnew" : "Dropped");
    Result<StoreTransaction> transaction = store().begin_transaction();
    ASSERT_EQ(said(transaction->scan_checked(gone, scan_of(ScanRange::partition("empty")))), kFine);
    ASSERT_EQ(said(store().drop_table(kAccount, gone.name())), kFine);
    if (anew) (void)bench_.table(gone.name());
    transaction->insert(*other_, with_value("q", "1", "x"));
    EXPECT_EQ(said(transaction->commit()), kTableNotFound);
  }
}

TEST_F(CheckedScan, OfARestrictedHandleCoversWhatTheHandleMayRead) {
  Access access;
  access.interval = {KeyBound{"p", "b2"}, KeyBound{"p", "b2"}};
  const Result<Table> restricted = people().restricted_to(access);
  ASSERT_EQ(said(restricted), kFine);
  for (const char* changed : {"b1", "b2"}) {
    Result<StoreTransaction> transaction = store().begin_transaction();
    const Result<Page> page = transaction->scan_checked(*restricted, Scan{});
    ASSERT_EQ(said(page), kFine) << page.status().to_string();
    EXPECT_EQ(page->entities.size(), 1u);
    put("p", changed, "new");
    transaction->insert_or_replace(*other_, with_value("q", changed, "x"));
    EXPECT_EQ(said(transaction->commit()), changed == std::string_view("b2") ? kConflict : kFine);
  }
}

TEST_F(CheckedScan, HasALimitOfRangesAndPagesThatAdjoinAreOne) {
  Result<StoreTransaction> transaction = store().begin_transaction();
  const auto read = [&](std::size_t from, std::size_t to) {
    return said(transaction->scan_checked(
        people(), scan_of(ScanRange::rows("r", std::to_string(100'000 + from), std::to_string(100'000 + to)))));
  };
  for (std::size_t i = 0; i <= limits::kStoreTransactionRangesMax; ++i) ASSERT_EQ(read(i, i + 1), kFine);
  for (std::size_t i = 1; i < limits::kStoreTransactionRangesMax; ++i) ASSERT_EQ(read(3 * i, 3 * i + 1), kFine);
  EXPECT_EQ(read(0, 1), kTooMany);
}

TEST_F(CheckedScan, HasALimitOfEntities) {
  Result<StoreTransaction> fill = store().begin_transaction();
  for (std::size_t i = 1; i < limits::kStoreTransactionRangeEntitiesMax; ++i) {
    fill->insert(people(), Entity("many", std::to_string(i)));
  }
  ASSERT_EQ(said(fill->commit()), kFine);
  Scan scan = scan_of(ScanRange::partition("many"), "V eq 'none'");
  EXPECT_EQ(said_after(scan, [] {}), kFine);
  put("many", "0", "one of the limit");
  EXPECT_EQ(said_after(scan, [] {}), kFine);
  put("many", "00", "one more");
  EXPECT_EQ(said_after(scan, [] {}), kTooMany);
}

// -- Ends -------------------------------------------------------------------------------------------------------------

TEST_F(CheckedScan, IsRefusedWhenAnEntityInItEndedSinceAndNotForOneThatHadEnded) {
  people_ = *store().create_table(kAccount, "Sessions", {.expiry = TableExpiry::after(std::chrono::seconds(10))});
  const auto pass = [&] { bench_.machine.clock.advance(std::chrono::seconds(20)); };
  const Scan scan = scan_of(ScanRange::partition("p"));
  put("p", "a", "x");
  EXPECT_EQ(said_after(scan, [] {}), kFine);
  EXPECT_EQ(said_after(scan, pass), kConflict);
  EXPECT_EQ(said_after(scan, pass), kFine);
}

// -- Beside others ----------------------------------------------------------------------------------------------------

class CheckedScanBeside : public ::testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, CheckedScanBeside, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

TEST_P(CheckedScanBeside, ACommitThatIsNotPublishedIsRefused) {
  constexpr int kTurns = 2'000;
  StoreBench bench(GetParam(), OneThreadAtATime{});
  Table people = bench.table("People");
  Result<StoreTransaction> transaction = bench.store->begin_transaction();
  ASSERT_EQ(said(transaction->scan_checked(people, scan_of(ScanRange::partition("p")))), kFine);
  transaction->insert(people, with_value("p", "second", "x"));
  io::FaultRule never;
  never.sync_point = engine::sync_points::kLogGroup.name;
  never.effect = io::FaultEffect::kNever;
  io::MemoryFileSystem& files = *bench.machine.files;
  files.faults().add(never);
  io::Scheduler& scheduler = bench.machine.scheduler();
  Status first;
  Status second;
  io::Thread writer =
      *scheduler.start("writer", [&] { first = people.insert(with_value("p", "first", "x")).status(); });
  files.await_stuck(1);
  io::Thread checker = *scheduler.start("checker", [&] { second = transaction->commit().status(); });
  for (int i = 0; i < kTurns; ++i) scheduler.yield();
  files.faults().clear();
  files.let_go();
  writer.join();
  checker.join();
  EXPECT_EQ(said(first), kFine);
  EXPECT_EQ(said(second), kConflict);
  EXPECT_EQ(value_in(people, "p", "second"), "-");
}

/// Inserts an entity with this value if the partition has none with it. Returns whether it did.
Result<bool> insert_if_none_like_it(Store& store, Table& table, const std::string& row, std::string_view value) {
  bool is_first = false;
  const Status done = store
                          .transact(
                              [&](StoreTransaction& transaction) -> Status {
                                const Result<Page> like_it = transaction.scan_checked(
                                    table, scan_of(ScanRange::partition("p"), "V eq '" + std::string(value) + "'"));
                                if (!like_it.ok()) return like_it.status();
                                is_first = like_it->entities.empty();
                                if (is_first) transaction.insert(table, with_value("p", row, value));
                                return Status();
                              },
                              {}, 1000)
                          .status();
  return done.ok() ? Result<bool>(is_first) : Result<bool>(done);
}

TEST_P(CheckedScanBeside, OfWritersThatInsertIfThereIsNoneLikeItOneWins) {
  const std::uint64_t rounds = effort<std::uint64_t>(5);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t seed = GetParam() * 1000 + round;
    SCOPED_TRACE("seed " + std::to_string(seed));
    StoreBench bench(seed, OneThreadAtATime{});
    Table people = bench.table("People");
    constexpr std::size_t kValues = 4;
    std::vector<int> winners(kValues);
    std::vector<io::Thread> threads;
    for (int writer = 0; writer < 3; ++writer) {
      Result<io::Thread> thread = bench.machine.scheduler().start("writer", [&, writer] {
        for (std::size_t value = 0; value < kValues; ++value) {
          const std::string row = std::to_string(writer) + std::to_string(value);
          const Result<bool> won = insert_if_none_like_it(*bench.store, people, row, std::to_string(value));
          ASSERT_EQ(said(won), kFine) << won.status().to_string();
          if (*won) ++winners[value];
        }
      });
      ASSERT_TRUE(thread.ok());
      threads.push_back(*std::move(thread));
    }
    for (io::Thread& thread : threads) thread.join();
    EXPECT_EQ(winners, std::vector<int>(kValues, 1));
    EXPECT_EQ((*people.count(Scan{})).entities, kValues);
    if (HasFailure()) return;
  }
}

TEST_P(CheckedScanBeside, OfTwoThatCheckWhereTheOtherWritesOneIsRefused) {
  const std::uint64_t rounds = effort<std::uint64_t>(8);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t seed = GetParam() * 1000 + round;
    SCOPED_TRACE("seed " + std::to_string(seed));
    StoreBench bench(seed, OneThreadAtATime{});
    Table people = bench.table("People");
    std::vector<StoreTransaction> transactions;
    for (const auto& [checked, written] : {std::pair("a", "b"), std::pair("b", "a")}) {
      transactions.push_back(*bench.store->begin_transaction());
      ASSERT_EQ(said(transactions.back().scan_checked(people, scan_of(ScanRange::partition(checked)))), kFine);
      transactions.back().insert(people, with_value(written, "r", "x"));
    }
    std::vector<Status> answers(transactions.size());
    std::vector<io::Thread> threads;
    for (std::size_t i = 0; i < transactions.size(); ++i) {
      Result<io::Thread> thread =
          bench.machine.scheduler().start("checker", [&, i] { answers[i] = transactions[i].commit().status(); });
      ASSERT_TRUE(thread.ok());
      threads.push_back(*std::move(thread));
    }
    for (io::Thread& thread : threads) thread.join();
    EXPECT_NE(answers[0].ok(), answers[1].ok()) << answers[0].to_string() << ", " << answers[1].to_string();
    EXPECT_EQ(said(answers[answers[0].ok() ? 1 : 0]), kConflict);
    if (HasFailure()) return;
  }
}

/// Each writer keeps the rule "the partition has two entities at least" by reading it: without the check, deletes beside
/// each other break it.
TEST_P(CheckedScanBeside, WritersThatDeleteWhatTheRangeCanSpareLeaveEnough) {
  const std::uint64_t seed = GetParam();
  SCOPED_TRACE("seed " + std::to_string(seed));
  StoreBench bench(seed, OneThreadAtATime{});
  Table people = bench.table("People");
  for (const char* row : {"0", "1", "2", "3", "4"}) ASSERT_EQ(said(people.insert(with_value("p", row, "x"))), kFine);
  const auto take_away = [&](std::size_t from) {
    const Status done = bench.store
                            ->transact(
                                [&](StoreTransaction& transaction) -> Status {
                                  const Result<Page> all =
                                      transaction.scan_checked(people, scan_of(ScanRange::partition("p")));
                                  if (!all.ok()) return all.status();
                                  if (all->entities.size() <= 2) return Status();
                                  const Entity& spared = all->entities[from % all->entities.size()];
                                  transaction.remove(people, spared.partition_key(), spared.row_key(), ETag::any());
                                  return Status();
                                },
                                {}, 1000)
                            .status();
    ASSERT_EQ(said(done), kFine) << done.to_string();
  };
  std::vector<io::Thread> threads;
  for (std::size_t writer = 0; writer < 2; ++writer) {
    Result<io::Thread> thread = bench.machine.scheduler().start("taker", [&, writer] {
      for (std::size_t i = 0; i < 4; ++i) take_away(writer * 2 + i);
    });
    ASSERT_TRUE(thread.ok());
    threads.push_back(*std::move(thread));
  }
  for (io::Thread& thread : threads) thread.join();
  EXPECT_EQ((*people.count(Scan{})).entities, 2u);
}

}  // namespace
}  // namespace varve::checked_scan_test
