// Owns: the promises of transactions over several partitions and tables (varve/store_transaction.h).
#include "varve/store_transaction.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/entity_codec.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::store_transaction_test {
namespace {

using namespace test;

constexpr Said kConflict = {Code::kConflict, ""};
constexpr Said kTooManyWrites = {Code::kTooLarge, "InvalidInput"};

class StoreTransactions : public ::testing::Test {
 protected:
  void SetUp() override {
    people_.emplace(bench_.table("People"));
    archive_.emplace(bench_.table("Archive"));
  }
  Store& store() { return *bench_.store; }
  Table& people() { return *people_; }
  Table& archive() { return *archive_; }
  StoreTransaction begin() {
    Result<StoreTransaction> begun = store().begin_transaction();
    EXPECT_TRUE(begun.ok()) << begun.status().to_string();
    return *std::move(begun);
  }
  void put(Table& table, std::string_view partition, std::string_view row, std::string_view value) {
    ASSERT_EQ(said(table.insert_or_replace(with_value(partition, row, value))), kFine);
  }
  std::uint64_t open_snapshots() { return (*store().statistics()).open_snapshots; }

  StoreBench bench_;
  std::optional<Table> people_;
  std::optional<Table> archive_;
};

// -- All or nothing --------------------------------------------------------------------------------------------------

TEST_F(StoreTransactions, WritePartitionsAndTablesInOneCommit) {
  put(people(), "sales", "7", "Ann");
  const ETag etag = read(people(), "sales", "7")->etag();
  StoreTransaction transaction = begin();
  transaction.remove(people(), "sales", "7", etag)
      .insert(archive(), with_value("2026", "sales-7", "Ann"))
      .insert_or_merge(people(), with_value("board", "1", "Bob"))
      .insert_or_replace(archive(), with_value("2027", "x", "Cid"));
  EXPECT_EQ(transaction.size(), 4u);
  const Result<std::vector<ETag>> etags = transaction.commit();
  ASSERT_TRUE(etags.ok()) << etags.status().to_string();
  ASSERT_EQ(etags->size(), 4u);
  EXPECT_TRUE((*etags)[0].is_none());
  EXPECT_EQ((*etags)[1], (*etags)[2]);
  EXPECT_EQ((*etags)[1], read(archive(), "2026", "sales-7")->etag());
  EXPECT_EQ((*etags)[3], read(archive(), "2027", "x")->etag());
  EXPECT_EQ(value_in(people(), "sales", "7"), "-");
  EXPECT_EQ(value_in(people(), "board", "1"), "Bob");
}

TEST_F(StoreTransactions, WriteNothingWhenOneWriteIsRefusedAndNameIt) {
  put(people(), "sales", "7", "Ann");
  put(archive(), "2026", "taken", "x");
  const ETag stale = read(people(), "sales", "7")->etag();
  put(people(), "sales", "7", "Ann B.");
  struct Case {
    std::function<void(StoreTransaction&)> write;
    Said said;
  };
  const std::vector<Case> cases = {
      {[&](StoreTransaction& t) { t.insert(archive(), with_value("2026", "taken", "y")); }, kEntityAlreadyExists},
      {[&](StoreTransaction& t) { t.replace(people(), with_value("sales", "7", "y"), stale); },
       kUpdateConditionNotSatisfied},
      {[&](StoreTransaction& t) { t.merge(people(), with_value("sales", "8", "y"), ETag::any()); }, kResourceNotFound},
      {[&](StoreTransaction& t) { t.remove(people(), "sales", "8", ETag::any()); }, kResourceNotFound},
      {[&](StoreTransaction& t) { t.replace(people(), with_value("sales", "7", "y"), ETag()); }, kInvalidInput},
      {[&](StoreTransaction& t) { t.insert(people(), with_value("a/b", "7", "y")); }, kOutOfRangeInput},
      {[&](StoreTransaction& t) { t.insert(people(), Entity("p", "r").set("no-name", 1)); }, kPropertyNameInvalid},
      {[&](StoreTransaction& t) { t.insert(people(), with_value("first", "1", "again")); }, kInvalidDuplicateRow},
  };
  for (const Case& one : cases) {
    StoreTransaction transaction = begin();
    transaction.insert(people(), with_value("first", "1", "a")).insert(archive(), with_value("second", "2", "b"));
    one.write(transaction);
    const Status refused = transaction.commit().status();
    EXPECT_EQ(said(refused), one.said) << refused.to_string();
    EXPECT_EQ(refused.operation_index(), 2u);
    EXPECT_EQ(value_in(people(), "first", "1"), "-");
    EXPECT_EQ(value_in(archive(), "second", "2"), "-");
  }
}

TEST_F(StoreTransactions, TheSameKeysInTwoTablesAreTwoEntities) {
  StoreTransaction transaction = begin();
  transaction.insert(people(), with_value("p", "r", "1")).insert(archive(), with_value("p", "r", "2"));
  ASSERT_EQ(said(transaction.commit()), kFine);
  EXPECT_EQ(value_in(people(), "p", "r"), "1");
  EXPECT_EQ(value_in(archive(), "p", "r"), "2");
}

TEST_F(StoreTransactions, OneNameInTwoSpellingsIsOneTable) {
  const Table same = *store().open_table(kAccount, "PEOPLE");
  StoreTransaction transaction = begin();
  transaction.insert(people(), with_value("p", "r", "1")).insert(same, with_value("p", "r", "2"));
  const Status refused = transaction.commit().status();
  EXPECT_EQ(said(refused), kInvalidDuplicateRow);
  EXPECT_EQ(refused.operation_index(), 1u);
}

TEST_F(StoreTransactions, HoldMoreWritesThanAnEntityGroupTransactionAndNoMoreThanTheirLimit) {
  StoreTransaction transaction = begin();
  for (std::size_t i = 0; i < limits::kStoreTransactionOperationsMax; ++i) {
    transaction.insert(i % 2 == 0 ? people() : archive(), with_value(std::to_string(i % 97), std::to_string(i), "x"));
  }
  ASSERT_EQ(said(transaction.commit()), kFine);
  EXPECT_EQ(value_in(archive(), std::to_string(9999 % 97), "9999"), "x");

  StoreTransaction larger = begin();
  for (std::size_t i = 0; i <= limits::kStoreTransactionOperationsMax; ++i) {
    larger.insert(people(), with_value("q", std::to_string(i), "x"));
  }
  const Status refused = larger.commit().status();
  EXPECT_EQ(said(refused), kTooManyWrites);
  EXPECT_EQ(refused.operation_index(), limits::kStoreTransactionOperationsMax);
  EXPECT_EQ(value_in(people(), "q", "0"), "-");
}

TEST_F(StoreTransactions, CountNoMoreBytesThanTheirLimit) {
  StoreTransaction transaction = begin();
  const std::string value(30'000, 'x');
  std::size_t fits = 0;
  for (std::size_t bytes = 0; bytes <= limits::kStoreTransactionBytesMax; ++fits) {
    Entity entity = with_value("p", std::to_string(fits), value);
    bytes += encoded_size_bytes(entity);
    transaction.insert(people(), std::move(entity));
  }
  const Status refused = transaction.commit().status();
  EXPECT_EQ(said(refused), kRequestBodyTooLarge);
  EXPECT_EQ(refused.operation_index(), fits - 1);
  EXPECT_EQ(value_in(people(), "p", "0"), "-");
}

TEST_F(StoreTransactions, AreLostWholeOrKeptWholeInAPowerCut) {
  for (int i = 0; i < 4; ++i) {
    StoreTransaction transaction = begin();
    transaction.insert(people(), with_value("p", std::to_string(i), "x"))
        .insert(archive(), with_value("q", std::to_string(i), "x"));
    WriteOptions options;
    options.durability = i < 2 ? Durability::kSync : Durability::kBuffered;
    ASSERT_EQ(said(transaction.commit(options)), kFine);
  }
  StoreBench after(2, bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench_.machine.random));
  after.open();
  const Table people_then = *after.store->open_table(kAccount, "People");
  const Table archive_then = *after.store->open_table(kAccount, "Archive");
  for (int i = 0; i < 4; ++i) {
    const std::string kept = value_in(people_then, "p", std::to_string(i));
    EXPECT_EQ(kept, value_in(archive_then, "q", std::to_string(i)));
    if (i < 2) {
      EXPECT_EQ(kept, "x") << "acknowledged as durable";
    }
  }
}

// -- Reads -----------------------------------------------------------------------------------------------------------

TEST_F(StoreTransactions, ReadOneStateAndNotTheirOwnWrites) {
  put(people(), "p", "1", "old");
  StoreTransaction transaction = begin();
  put(people(), "p", "1", "new");
  put(archive(), "q", "1", "new");
  transaction.insert(people(), with_value("p", "2", "own"));
  EXPECT_EQ((*transaction.get(people(), "p", "1"))->find("V")->get_if<std::string>()->c_str(), std::string("old"));
  EXPECT_FALSE((*transaction.get(people(), "p", "2")).has_value());
  EXPECT_TRUE((*transaction.scan(archive(), Scan{})).entities.empty());
  const std::vector<EntityKey> keys = {{"q", "1"}, {"p", "1"}};
  const auto both = transaction.get_many(people(), keys);
  ASSERT_TRUE(both.ok());
  EXPECT_FALSE((*both)[0].has_value());
  EXPECT_TRUE((*both)[1].has_value());
}

TEST_F(StoreTransactions, AreRefusedWhenWhatTheyReadWasWrittenSince) {
  struct Case {
    std::function<void()> before;
    std::function<void()> since;
  };
  const std::vector<Case> cases = {
      {[&] { put(people(), "p", "read", "a"); }, [&] { put(people(), "p", "read", "b"); }},
      // the same value, written again
      {[&] { put(people(), "p", "read", "a"); }, [&] { put(people(), "p", "read", "a"); }},
      {[&] { put(people(), "p", "read", "a"); }, [&] { ASSERT_TRUE(people().remove("p", "read", ETag::any()).ok()); }},
      {[&] { (void)people().remove("p", "read", ETag::any()); }, [&] { put(people(), "p", "read", "a"); }},
      {[&] { (void)people().remove("p", "read", ETag::any()); },
       [&] {
         put(people(), "p", "read", "a");
         ASSERT_TRUE(people().remove("p", "read", ETag::any()).ok());
       }},
  };
  for (const Case& one : cases) {
    one.before();
    StoreTransaction transaction = begin();
    ASSERT_TRUE(transaction.get(people(), "p", "read").ok());
    one.since();
    transaction.insert_or_replace(archive(), with_value("q", "1", "written"));
    const Status refused = transaction.commit().status();
    EXPECT_EQ(said(refused), kConflict) << refused.to_string();
    EXPECT_NE(refused.message().find("'read'"), std::string_view::npos) << refused.message();
    EXPECT_EQ(value_in(archive(), "q", "1"), "-");
  }
}

TEST_F(StoreTransactions, AreNotRefusedForWritesBesideWhatTheyRead) {
  put(people(), "p", "read", "a");
  StoreTransaction transaction = begin();
  ASSERT_TRUE(transaction.get(people(), "p", "read").ok());
  ASSERT_TRUE(transaction.scan(people(), Scan{}).ok());
  put(people(), "p", "beside", "b");
  put(archive(), "p", "read", "c");
  transaction.insert(archive(), with_value("q", "1", "written"));
  EXPECT_EQ(said(transaction.commit()), kFine);
}

TEST_F(StoreTransactions, OfTwoThatReadBothAndWriteOneEachOneIsRefused) {
  put(people(), "a", "1", "on call");
  put(people(), "b", "1", "on call");
  StoreTransaction first = begin();
  StoreTransaction second = begin();
  for (StoreTransaction* transaction : {&first, &second}) {
    ASSERT_TRUE(transaction->get(people(), "a", "1").ok());
    ASSERT_TRUE(transaction->get(people(), "b", "1").ok());
  }
  first.replace(people(), with_value("a", "1", "off"), ETag::any());
  second.replace(people(), with_value("b", "1", "off"), ETag::any());
  EXPECT_EQ(said(first.commit()), kFine);
  EXPECT_EQ(said(second.commit()), kConflict);
  EXPECT_EQ(value_in(people(), "b", "1"), "on call");
}

TEST_F(StoreTransactions, ReadNoMoreThanTheirLimit) {
  StoreTransaction transaction = begin();
  const std::vector<EntityKey> keys(limits::kStoreTransactionReadsMax, EntityKey{"p", "r"});
  ASSERT_TRUE(transaction.get_many(people(), keys).ok());
  EXPECT_EQ(said(transaction.get(people(), "p", "r")), kTooManyWrites);
}

// -- Tables that come and go -----------------------------------------------------------------------------------------

TEST_F(StoreTransactions, OfATableThatIsNotThereNameTheWrite) {
  const Table gone = bench_.table("Gone");
  ASSERT_TRUE(store().drop_table(kAccount, "Gone").ok());
  StoreTransaction transaction = begin();
  EXPECT_EQ(said(transaction.get(gone, "p", "r")), kTableNotFound);
  transaction.insert(people(), with_value("p", "r", "x")).insert(gone, with_value("p", "r", "x"));
  const Status refused = transaction.commit().status();
  EXPECT_EQ(said(refused), kTableNotFound);
  EXPECT_EQ(refused.operation_index(), 1u);
  EXPECT_EQ(value_in(people(), "p", "r"), "-");
}

TEST_F(StoreTransactions, AreRefusedWhenATableTheyReadWasDroppedOrMadeAnew) {
  for (const bool anew : {false, true}) {
    Table read_from = bench_.table(anew ? "MadeAnew" : "Dropped");
    put(read_from, "p", "r", "x");
    StoreTransaction transaction = begin();
    ASSERT_TRUE(transaction.get(read_from, "p", "r").ok());
    ASSERT_TRUE(store().drop_table(kAccount, read_from.name()).ok());
    if (anew) (void)bench_.table(read_from.name());
    transaction.insert_or_replace(people(), with_value("p", "r", "x"));
    EXPECT_EQ(said(transaction.commit()), kTableNotFound);
    EXPECT_EQ(value_in(people(), "p", "r"), "-");
  }
}

TEST_F(StoreTransactions, OfATableOfAnotherStoreAreRefused) {
  StoreBench other;
  const Table foreign = other.table("Foreign");
  StoreTransaction transaction = begin();
  EXPECT_EQ(said(transaction.get(foreign, "p", "r")), kInvalidInput);
  EXPECT_EQ(said(transaction.scan(foreign, Scan{})), kInvalidInput);
  EXPECT_EQ(said(transaction.scan_checked(foreign, Scan{})), kInvalidInput);
  transaction.insert(foreign, with_value("p", "r", "x"));
  EXPECT_EQ(said(transaction.commit()), kInvalidInput);
}

// -- Their end -------------------------------------------------------------------------------------------------------

TEST_F(StoreTransactions, EndWithTheirCommitWhateverComesOfIt) {
  put(people(), "p", "1", "a");
  StoreTransaction good = begin();
  good.insert(people(), with_value("p", "2", "b"));
  ASSERT_EQ(said(good.commit()), kFine);
  StoreTransaction bad = begin();
  bad.insert(people(), with_value("p", "1", "b"));
  ASSERT_EQ(said(bad.commit()), kEntityAlreadyExists);
  for (StoreTransaction* ended : {&good, &bad}) {
    EXPECT_EQ(said(ended->commit()), kInvalidInput);
    EXPECT_EQ(said(ended->get(people(), "p", "1")), kInvalidInput);
    EXPECT_EQ(said(ended->scan(people(), Scan{})), kInvalidInput);
    EXPECT_EQ(said(ended->scan_checked(people(), Scan{})), kInvalidInput);
    EXPECT_NE(ended->version().ticks, 0u);
  }
  EXPECT_EQ(open_snapshots(), 0u);
}

TEST_F(StoreTransactions, KeepASnapshotUntilTheyEndOrAreLetGo) {
  {
    StoreTransaction transaction = begin();
    EXPECT_EQ(open_snapshots(), 1u);
    StoreTransaction moved = std::move(transaction);
    EXPECT_EQ(open_snapshots(), 1u);
    moved.insert(people(), with_value("p", "r", "never written"));
  }
  EXPECT_EQ(open_snapshots(), 0u);
  EXPECT_EQ(value_in(people(), "p", "r"), "-");
}

TEST_F(StoreTransactions, ThatOnlyReadHaveNothingToCommit) {
  put(people(), "p", "r", "a");
  StoreTransaction transaction = begin();
  ASSERT_TRUE(transaction.get(people(), "p", "r").ok());
  put(people(), "p", "r", "b");
  const auto committed = transaction.commit();
  ASSERT_EQ(said(committed), kFine) << "what it read was one state";
  EXPECT_TRUE(committed->empty());
}

TEST_F(StoreTransactions, TheirSnapshotIsTheirOwn) {
  StoreTransaction transaction = begin();
  ReadOptions options;
  options.snapshot = *store().snapshot();
  EXPECT_EQ(said(transaction.get(people(), "p", "r", options)), kInvalidInput);
}

TEST_F(StoreTransactions, OutliveTheStoreAndSaySo) {
  StoreTransaction transaction = begin();
  transaction.insert(people(), with_value("p", "r", "x"));
  ASSERT_TRUE(store().close().ok());
  EXPECT_EQ(transaction.get(people(), "p", "r").code(), Code::kClosed);
  EXPECT_EQ(transaction.scan_checked(people(), Scan{}).code(), Code::kClosed);
  EXPECT_EQ(transaction.commit().code(), Code::kClosed);
  EXPECT_EQ(store().begin_transaction().code(), Code::kClosed);
}

// -- Run until they commit -------------------------------------------------------------------------------------------

TEST_F(StoreTransactions, TransactBeginsAgainAfterAConflictAndGivesUpInTheEnd) {
  put(people(), "p", "r", "0");
  int runs = 0;
  const auto add_one = [&](StoreTransaction& transaction, int disturbed) {
    const auto found = transaction.get(people(), "p", "r");
    if (!found.ok()) return found.status();
    if (++runs <= disturbed) put(people(), "p", "r", "disturbed");
    transaction.replace(people(), with_value("p", "r", "done"), (*found)->etag());
    return Status();
  };
  EXPECT_EQ(said(store().transact([&](StoreTransaction& t) { return add_one(t, 3); })), kFine);
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(value_in(people(), "p", "r"), "done");
  runs = 0;
  EXPECT_EQ(said(store().transact([&](StoreTransaction& t) { return add_one(t, 100); }, {}, 5)), kConflict);
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(value_in(people(), "p", "r"), "disturbed");
}

TEST_F(StoreTransactions, TransactWritesNothingWhenItsBodySaysNo) {
  const auto refused = store().transact([&](StoreTransaction& transaction) {
    transaction.insert(people(), with_value("p", "r", "x"));
    return Status(Code::kBusy, "not today");
  });
  EXPECT_EQ(refused.code(), Code::kBusy);
  EXPECT_EQ(value_in(people(), "p", "r"), "-");
}

// -- Beside one another ----------------------------------------------------------------------------------------------

constexpr int kAccounts = 6;
constexpr std::int64_t kStart = 100;

std::string account_of(int number) {
  return "account " + std::to_string(number);
}

Table& table_of(std::vector<Table>& tables, int number) {
  return tables[static_cast<std::size_t>(number) % tables.size()];
}

std::int64_t balance(const std::optional<Entity>& entity) {
  return *entity->find("Balance")->get_if<std::int64_t>();
}

Status transfer(Store& store, std::vector<Table>& tables, int from, int to, std::int64_t amount) {
  return store
      .transact(
          [&](StoreTransaction& transaction) -> Status {
            Table& source = table_of(tables, from);
            Table& target = table_of(tables, to);
            const auto payer = transaction.get(source, account_of(from), "");
            if (!payer.ok()) return payer.status();
            const auto payee = transaction.get(target, account_of(to), "");
            if (!payee.ok()) return payee.status();
            Entity less(account_of(from), "");
            Entity more(account_of(to), "");
            less.set("Balance", balance(*payer) - amount);
            more.set("Balance", balance(*payee) + amount);
            transaction.replace(source, less, ETag::any()).replace(target, more, ETag::any());
            return Status();
          },
          {}, 1000)
      .status();
}

/// The sum of all accounts in one state.
std::int64_t sum(const Store& store, std::vector<Table>& tables) {
  Result<StoreTransaction> transaction = store.begin_transaction();
  EXPECT_TRUE(transaction.ok());
  std::int64_t total = 0;
  for (int i = 0; i < kAccounts; ++i) {
    total += balance(*transaction->get(table_of(tables, i), account_of(i), ""));
  }
  return total;
}

TEST(StoreTransactionsBeside, OneAnotherKeepTheSumInEveryStateAndWaitInNoCircle) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(40); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StoreBench bench(seed, OneThreadAtATime{});
    std::vector<Table> tables = {bench.table("Red"), bench.table("Green"), bench.table("Blue")};
    for (int i = 0; i < kAccounts; ++i) {
      ASSERT_TRUE(table_of(tables, i).insert(Entity(account_of(i), "").set("Balance", kStart)).ok());
    }
    std::vector<io::Thread> threads;
    for (int writer = 0; writer < 4; ++writer) {
      Result<io::Thread> thread = bench.machine.scheduler().start("transfer", [&, writer] {
        io::SeededRandom random(seed * 100 + static_cast<std::uint64_t>(writer));
        for (int i = 0; i < 6; ++i) {
          const int from = static_cast<int>(random.next() % kAccounts);
          const int to = (from + 1 + static_cast<int>(random.next() % (kAccounts - 1))) % kAccounts;
          const Status done = transfer(*bench.store, tables, from, to, static_cast<std::int64_t>(random.next() % 50));
          ASSERT_TRUE(done.ok()) << done.to_string();
          ASSERT_EQ(sum(*bench.store, tables), kAccounts * kStart);
        }
      });
      ASSERT_TRUE(thread.ok());
      threads.push_back(*std::move(thread));
    }
    for (io::Thread& thread : threads) thread.join();
    ASSERT_EQ(sum(*bench.store, tables), kAccounts * kStart);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::store_transaction_test
