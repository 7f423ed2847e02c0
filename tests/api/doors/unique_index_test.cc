// Goal: no two entities of a table have one value of a unique index, whichever way they are written (I3).
// Method: each way of writing tries to give a value a second time; then the store is closed and verified.
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/allocation_sweep.h"
#include "tests/api/async/async_support.h"
#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"
#include "varve/async.h"
#include "varve/repair.h"
#include "varve/store_transaction.h"
#include "varve/table_index.h"
#include "varve/verify.h"

namespace varve::unique_index_test {
namespace {

using namespace test;
using Kind = WriteOperation::Kind;

constexpr Said kTaken = {Code::kExists, "IndexValueAlreadyExists"};
const IndexDefinition kByValue{"ByValue", {{"V"}}, {}, true};

class UniqueIndex : public ::testing::Test {
 protected:
  UniqueIndex() {
    bench_.open();
    EXPECT_EQ(said(store().create_account(kAccount)), kFine);
    table_ = *store().create_table(kAccount, "Orders");
  }

  Store& store() { return *bench_.store; }
  Table& table() { return *table_; }
  Status declare(const std::function<bool(const IndexBuildProgress&)>& progress = {}) {
    return store().create_index(kAccount, "Orders", kByValue, progress);
  }
  IndexInfo index() { return (*store().indexes(kAccount, "Orders")).front(); }
  Said insert(std::string_view partition, std::string_view row, std::string_view value) {
    return said(table().insert(with_value(partition, row, value)));
  }
  void expect_verified() {
    table_.reset();
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->finding_count, 0U) << (report->findings.empty() ? "" : report->findings.front());
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(UniqueIndex, I3_RefusesAValueOfAnotherPartitionAndNamesItsEntity) {
  ASSERT_EQ(said(declare()), kFine);
  EXPECT_TRUE(index().definition.is_unique);
  ASSERT_EQ(insert("p", "a", "x"), kFine);
  const Status refused = table().insert(with_value("q", "b", "x")).status();
  ASSERT_EQ(said(refused), kTaken) << refused.to_string();
  ASSERT_NE(refused.taken_value(), nullptr);
  EXPECT_EQ(refused.taken_value()->index, "ByValue");
  EXPECT_TRUE(refused.taken_value()->has_keys);
  EXPECT_EQ(refused.taken_value()->partition_key, "p");
  EXPECT_EQ(refused.taken_value()->row_key, "a");
  EXPECT_EQ(refused.with_hint("hint").taken_value()->row_key, "a");
  EXPECT_FALSE(read(table(), "q", "b"));
  ASSERT_EQ(insert("q", "b", "y"), kFine);
  EXPECT_EQ(said(table().insert_or_replace(with_value("p", "a", "x"))), kFine) << "its own value";
  bench_.open();
  table_ = *store().open_table(kAccount, "Orders");
  EXPECT_EQ(insert("q", "c", "x"), kTaken);
  expect_verified();
}

TEST_F(UniqueIndex, I3_HoldsForEveryWayToWrite) {
  ASSERT_EQ(said(declare()), kFine);
  ASSERT_EQ(insert("p", "a", "x"), kFine);
  ASSERT_EQ(insert("q", "b", "y"), kFine);
  const Entity second = with_value("q", "b", "x");
  EXPECT_EQ(said(table().replace(second, ETag::any())), kTaken);
  EXPECT_EQ(said(table().merge(second, ETag::any())), kTaken);
  EXPECT_EQ(said(table().insert_or_replace(second)), kTaken);
  EXPECT_EQ(said(table().insert_or_merge(second)), kTaken);
  Patch patch("q", "b");
  patch.set("V", "x");
  EXPECT_EQ(said(table().patch(patch, ETag::any())), kTaken);
  EXPECT_EQ(said(table().insert_or_patch(patch)), kTaken);

  std::vector<WriteOperation> group;
  group.push_back({Kind::kInsert, with_value("q", "c", "z"), ETag()});
  group.push_back({Kind::kInsert, with_value("q", "d", "x"), ETag()});
  const Status of_group = table().execute(group).status();
  EXPECT_EQ(said(of_group), kTaken);
  EXPECT_EQ(of_group.operation_index(), 1U);
  group[1] = {Kind::kInsert, with_value("q", "d", "z"), ETag()};
  EXPECT_EQ(said(table().execute(group)), kTaken) << "twice in one transaction";
  ASSERT_EQ(said(store().create_queue(kAccount, "tasks")), kFine);

  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE(transaction.ok());
  transaction->insert(table(), with_value("r", "1", "w"));
  transaction->insert(table(), with_value("s", "1", "y"));
  const Status of_store = transaction->commit().status();
  EXPECT_EQ(said(of_store), kTaken);
  EXPECT_EQ(of_store.operation_index(), 1U);

  const AsyncTable async(table());
  EXPECT_EQ(said(wait(async.write({Kind::kInsert, with_value("q", "e", "x"), ETag()}))), kTaken);
  EXPECT_EQ(said(wait(async.write({Kind::kInsert, with_value("q", "e", "e"), ETag()}))), kFine);
  const PropertyChanges changes{{{"V", std::string("x")}}, {}};
  EXPECT_EQ(said(table().update_where({.filter = "V eq 'y'"}, changes)), kTaken);
  EXPECT_EQ((*table().delete_where({.filter = "V eq 'x'"})).changed, 1U);
  EXPECT_EQ(insert("q", "f", "x"), kFine);
  EXPECT_EQ(keys_of(*table().scan(Scan{})), (std::vector<std::string>{"q/b", "q/e", "q/f"}));
  expect_verified();
}

TEST_F(UniqueIndex, I3_OneTransactionMayMoveAValue) {
  ASSERT_EQ(said(declare()), kFine);
  ASSERT_EQ(insert("p", "a", "x"), kFine);
  ASSERT_EQ(insert("q", "b", "y"), kFine);
  Result<StoreTransaction> swaps = store().begin_transaction();
  ASSERT_TRUE(swaps.ok());
  swaps->replace(table(), with_value("p", "a", "y"), ETag::any());
  swaps->merge(table(), with_value("q", "b", "x"), ETag::any());
  EXPECT_EQ(said(swaps->commit()), kFine);
  Result<StoreTransaction> removes = store().begin_transaction();
  ASSERT_TRUE(removes.ok());
  removes->insert(table(), with_value("r", "c", "x"));
  removes->remove(table(), "q", "b", ETag::any());
  EXPECT_EQ(said(removes->commit()), kFine);
  EXPECT_EQ(insert("q", "b", "x"), kTaken);
  EXPECT_EQ(value_in(table(), "p", "a"), "y");
  expect_verified();
}

TEST_F(UniqueIndex, I3_AnEntityWithoutTheValueNeverCollides) {
  ASSERT_EQ(said(declare()), kFine);
  for (const char* const row : {"1", "2"}) {
    EXPECT_EQ(said(table().insert(Entity("p", row))), kFine);
    Entity nan("nan", row);
    nan.set("V", std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(said(table().insert(nan)), kFine);
  }
  Entity zero("zero", "1");
  zero.set("V", 0.0);
  EXPECT_EQ(said(table().insert(zero)), kFine);
  Entity minus("zero", "2");
  minus.set("V", -0.0);
  EXPECT_EQ(said(table().insert(minus)), kTaken) << "the two zeros of a Double are one value";
  minus.set("V", std::int32_t{0});
  EXPECT_EQ(said(table().insert(minus)), kFine) << "another type";
  EXPECT_EQ(insert("long", "1", std::string(256, 'x')), kFine);
  const Status refused = table().insert(with_value("long", "2", std::string(257, 'x'))).status();
  EXPECT_EQ(said(refused), kPropertyValueTooLarge);
  EXPECT_NE(refused.message().find("'ByValue'"), std::string_view::npos) << refused.message();
  EXPECT_NE(refused.message().find("'long', '2'"), std::string_view::npos) << refused.message();
  expect_verified();
}

TEST_F(UniqueIndex, I3_AnEndedEntityHasNoValue) {
  const std::chrono::seconds age(10);
  Table sessions = *store().create_table(kAccount, "Sessions", {.expiry = TableExpiry::after(age)});
  ASSERT_EQ(said(store().create_index(kAccount, "Sessions", kByValue)), kFine);
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "x"))), kFine);
  EXPECT_EQ(said(sessions.insert(with_value("q", "b", "x"))), kTaken);
  bench_.machine.clock.advance(2 * age);
  EXPECT_EQ(said(sessions.insert(with_value("q", "b", "x"))), kFine);
  EXPECT_EQ(said(sessions.insert_or_replace(with_value("p", "a", "x"))), kTaken);
  EXPECT_EQ(said(sessions.insert_or_replace(with_value("q", "b", "x"))), kFine);
  expect_verified();
}

TEST_F(UniqueIndex, ASnapshotKeepsItsAnswer) {
  ASSERT_EQ(said(declare()), kFine);
  ASSERT_EQ(insert("p", "a", "x"), kFine);
  ReadOptions then;
  then.snapshot = *store().snapshot();
  ASSERT_EQ(said(table().remove("p", "a", ETag::any())), kFine);
  ASSERT_EQ(insert("q", "b", "x"), kFine) << "a snapshot keeps no value";
  Scan scan;
  scan.filter = "V eq 'x'";
  EXPECT_EQ(keys_of(*table().scan(scan)), (std::vector<std::string>{"q/b"}));
  scan.read = then;
  EXPECT_EQ(keys_of(*table().scan(scan)), (std::vector<std::string>{"p/a"}));
}

TEST_F(UniqueIndex, ARestrictedHandleIsNotShownTheOtherEntity) {
  ASSERT_EQ(said(declare()), kFine);
  ASSERT_EQ(insert("p", "secret", "x"), kFine);
  Access access;
  access.interval = {KeyBound{"q", ""}, KeyBound{"q", "z"}};
  Table fenced = *table().restricted_to(access);
  access = Access();
  access.permissions = Permissions{Permission::kAdd};
  Table adding = *table().restricted_to(access);
  for (Table* const handle : {&fenced, &adding}) {
    const Status refused = handle->insert(with_value("q", "b", "x")).status();
    ASSERT_EQ(said(refused), kTaken);
    EXPECT_EQ(refused.message().find("secret"), std::string_view::npos) << refused.message();
    ASSERT_NE(refused.taken_value(), nullptr);
    EXPECT_FALSE(refused.taken_value()->has_keys);
    EXPECT_EQ(refused.taken_value()->row_key, "");
  }
}

// -- Builds -----------------------------------------------------------------------------------------------------------

TEST_F(UniqueIndex, I4_ABuildOverTwoEntitiesWithOneValueFailsAndNamesBoth) {
  for (int i = 0; i < 300; ++i) ASSERT_EQ(insert("p", std::to_string(1000 + i), std::to_string(i)), kFine);
  ASSERT_EQ(insert("q", "last", "7"), kFine);
  const Status failed = declare();
  EXPECT_EQ(said(failed), (Said{Code::kConflict, "IndexValueAlreadyExists"})) << failed.to_string();
  EXPECT_NE(failed.message().find("last"), std::string_view::npos) << failed.message();
  EXPECT_NE(failed.message().find("1007"), std::string_view::npos) << failed.message();
  ASSERT_NE(failed.taken_value(), nullptr);
  EXPECT_EQ(failed.taken_value()->row_key, "1007");
  EXPECT_EQ(index().state, IndexState::kFailed);
  EXPECT_NE(index().failure.find("last"), std::string::npos);
  EXPECT_EQ(insert("q", "more", "7"), kFine) << "a failed index refuses nothing";
  const Status again = declare();
  EXPECT_EQ(again.code(), Code::kConflict) << "until it is dropped";
  EXPECT_NE(again.message().find("drop the index"), std::string_view::npos) << again.message();
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByValue")), kFine);
  ASSERT_EQ((*table().delete_where({.filter = "PartitionKey eq 'q'"})).changed, 2U);
  EXPECT_EQ(said(declare()), kFine);
  expect_verified();
}

TEST_F(UniqueIndex, I4_ABuildFailsAtTwoEntitiesOfOnePartAndAtAValueThatIsCut) {
  ASSERT_EQ(insert("p", "a", "x"), kFine);
  ASSERT_EQ(insert("p", "b", "x"), kFine);
  EXPECT_EQ(declare().code(), Code::kConflict);
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByValue")), kFine);
  ASSERT_EQ(said(table().replace(with_value("p", "b", std::string(300, 'x')), ETag::any())), kFine);
  const Status failed = declare();
  EXPECT_EQ(said(failed), (Said{Code::kConflict, "PropertyValueTooLarge"}));
  EXPECT_NE(failed.message().find("'ByValue'"), std::string_view::npos) << failed.message();
  EXPECT_NE(failed.message().find("'p', 'b'"), std::string_view::npos) << "which entity: " << failed.message();
  EXPECT_EQ(index().state, IndexState::kFailed);
  expect_verified();
}

TEST_F(UniqueIndex, I4_RefusesFromItsDeclarationOn) {
  for (int i = 0; i < 300; ++i) ASSERT_EQ(insert("p", std::to_string(1000 + i), std::to_string(i)), kFine);
  int part = 0;
  const auto stop_later = [&](const IndexBuildProgress&) {
    EXPECT_EQ(insert("q", "first of " + std::to_string(part), "1"), kTaken) << "the build has put this entry";
    EXPECT_EQ(insert("q", std::to_string(part), "new"), part == 0 ? kFine : kTaken);
    EXPECT_EQ(said(table().insert_or_replace(with_value("p", "1299", "moved " + std::to_string(part)))), kFine);
    return ++part < 2;
  };
  EXPECT_EQ(declare(stop_later).code(), Code::kCancelled);
  EXPECT_EQ(index().state, IndexState::kBuilding);
  // The image of a machine that lost its power here.
  StoreBench after(2, bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench_.machine.random));
  after.open();
  Table again = *after.store->open_table(kAccount, "Orders");
  EXPECT_EQ(said(again.insert(with_value("q", "other", "new"))), kTaken);
  EXPECT_EQ(said(after.store->create_index(kAccount, "Orders", kByValue)), kFine);
  EXPECT_EQ(said(again.insert(with_value("q", "other", "298"))), kTaken);
  EXPECT_EQ(said(again.insert(with_value("q", "other", "299"))), kFine) << "its entity has moved";
  EXPECT_EQ(said(declare()), kFine);
  expect_verified();
}

TEST_F(UniqueIndex, I4_AWriterThatTakesAValueBeforeTheBuildReachesItFailsTheBuild) {
  for (int i = 0; i < 200; ++i) ASSERT_EQ(insert("p", std::to_string(1000 + i), std::to_string(i)), kFine);
  bool is_first = true;
  const Status failed = declare([&](const IndexBuildProgress&) {
    if (std::exchange(is_first, false)) {
      EXPECT_EQ(insert("q", "early", "199"), kFine);
    }
    return true;
  });
  EXPECT_EQ(failed.code(), Code::kConflict) << failed.to_string();
  EXPECT_EQ(index().state, IndexState::kFailed);
}

TEST_F(UniqueIndex, I4_AWriterThatKeepsAValueWhichTheBuildHasMetIsRefused) {
  for (int i = 0; i < 200; ++i) ASSERT_EQ(insert("p", std::to_string(1000 + i), std::to_string(i)), kFine);
  ASSERT_EQ(insert("q", "last", "0"), kFine);
  bool is_first = true;
  const Status failed = declare([&](const IndexBuildProgress&) {
    if (std::exchange(is_first, false)) {
      EXPECT_EQ(said(table().insert_or_replace(with_value("q", "last", "0"))), kTaken);
    }
    return true;
  });
  EXPECT_EQ(failed.code(), Code::kConflict) << failed.to_string();
}

TEST_F(UniqueIndex, ARepairBuildsItAgain) {
  ASSERT_EQ(said(declare()), kFine);
  ASSERT_EQ(insert("p", "a", "x"), kFine);
  bench_.store.reset();
  const Result<RepairReport> repaired = Store::repair(kStorePath, "/repaired", bench_.options());
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_string();
  Result<std::unique_ptr<Store>> opened = Store::open("/repaired", bench_.options());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  Table again = *(*opened)->open_table(kAccount, "Orders");
  EXPECT_EQ(said(again.insert(with_value("q", "b", "x"))), kTaken);
}

// -- Many writers -----------------------------------------------------------------------------------------------------

TEST_F(UniqueIndex, I3_SixteenThreadsInFourPartitionsHaveOneWinner) {
  constexpr std::size_t kThreads = 16;
  const char* const chosen = std::getenv("VARVE_UNIQUE_ROUNDS");
  const int rounds = chosen != nullptr ? std::atoi(chosen) : 25;
  ASSERT_EQ(said(declare()), kFine);
  std::vector<std::atomic<int>> winners(static_cast<std::size_t>(rounds));
  std::barrier together(static_cast<std::ptrdiff_t>(kThreads));  // otherwise one thread might win all rounds
  std::vector<std::function<void()>> bodies;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    bodies.push_back([&, thread] {
      Table own = table();
      const std::string partition = "p" + std::to_string(thread % 4);
      for (std::size_t round = 0; round < winners.size(); ++round) {
        together.arrive_and_wait();
        const std::string row = std::to_string(round) + "-" + std::to_string(thread);
        const Said answer =
            said(own.insert(with_value(partition, row, std::to_string(round)), {.durability = Durability::kBuffered}));
        if (answer == kFine) {
          winners[round].fetch_add(1);
        } else {
          EXPECT_EQ(answer, kTaken);
        }
      }
    });
  }
  run_together(bench_, bodies);
  for (const std::atomic<int>& winner : winners) EXPECT_EQ(winner.load(), 1);
  EXPECT_EQ((*table().count(Scan{})).entities, static_cast<std::uint64_t>(rounds));
  expect_verified();
}

TEST(UniqueIndexOrders, I3_WritersWhoseValueDependsOnTheStoredEntityTakeOtherLocks) {
  for_each_seed(10, [](StoreBench& bench) {
    Table table = bench.table();
    ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", {"ByN", {{"N"}}, {}, true})), kFine);
    Entity counter("p", "counter");
    counter.set("N", std::int64_t{0});
    ASSERT_EQ(said(table.insert(counter)), kFine);
    std::vector<std::function<void()>> bodies;
    for (int thread = 0; thread < 3; ++thread) {
      bodies.push_back([&table] {
        Table own = table;
        Patch more("p", "counter");
        more.increment("N", std::int64_t{1});
        for (int i = 0; i < 3; ++i) EXPECT_EQ(said(own.patch(more, ETag::any())), kFine);
      });
    }
    bodies.push_back([&bench, &table] {
      Result<StoreTransaction> transaction = bench.store->begin_transaction();
      ASSERT_TRUE(transaction.ok());
      Patch more("p", "counter");
      more.increment("N", std::int64_t{1});
      transaction->patch(table, more, ETag::any());
      EXPECT_EQ(said(transaction->commit()), kFine);
    });
    run_together(bench, bodies);
    EXPECT_EQ(*read(table, "p", "counter")->get<std::int64_t>("N"), 10);
    for (std::int64_t n = 0; n <= 10; ++n) {
      Entity other("q", std::to_string(n));
      other.set("N", n);
      EXPECT_EQ(said(table.insert(other)), n == 10 ? kTaken : kFine) << n;
    }
  });
}

TEST(UniqueIndexOrders, I4_WritersBesideABuildLeaveNoValueTwice) {
  for_each_seed(10, [](StoreBench& bench) {
    const Table table = bench.table();
    for (const char* const row : {"1", "2", "3"}) ASSERT_TRUE(Table(table).insert(with_value("p", row, row)).ok());
    Status built;
    std::array<Said, 2> answers{kFine, kFine};
    std::vector<std::function<void()>> bodies;
    bodies.push_back([&] { built = bench.store->create_index(kAccount, "Orders", kByValue); });
    for (std::size_t thread = 0; thread < answers.size(); ++thread) {
      bodies.push_back([&table, &answers, thread] {
        Table own = table;
        answers[thread] = said(own.insert_or_replace(with_value(thread == 0 ? "q" : "r", "1", "both")));
        EXPECT_TRUE(answers[thread] == kFine || answers[thread] == kTaken);
      });
    }
    run_together(bench, bodies);
    const bool are_both = answers[0] == kFine && answers[1] == kFine;
    EXPECT_EQ(said(built), are_both ? (Said{Code::kConflict, "IndexValueAlreadyExists"}) : kFine) << built.to_string();
  });
}

// A part of the build that was read before the declaration is made for one index less.
TEST(UniqueIndexOrders, I4_ABuildGoesOnWhenAnotherIndexIsDeclared) {
  for_each_seed(20, [](StoreBench& bench) {
    const Table table = bench.table();
    for (const char* const row : {"1", "2", "3"}) ASSERT_TRUE(Table(table).insert(with_value("p", row, row)).ok());
    Status built;
    std::vector<std::function<void()>> bodies;
    bodies.push_back([&] { built = bench.store->create_index(kAccount, "Orders", kByValue); });
    for (const char* const name : {"ByRow", "ByRowAgain"}) {
      bodies.push_back([&bench, name] {
        EXPECT_EQ(said(bench.store->create_index(kAccount, "Orders", {name, {{"RowKey"}}})), kFine);
      });
    }
    run_together(bench, bodies);
    EXPECT_EQ(said(built), kFine) << built.to_string();
    EXPECT_EQ(said(Table(table).insert(with_value("q", "1", "2"))), kTaken);
  });
}

// -- Memory -----------------------------------------------------------------------------------------------------------

TEST(UniqueIndexOutOfMemory, I3_AWriteChangesNothing) {
  const io::TemporaryDirectory directory;
  StoreOptions options;
  options.create_if_absent = true;
  Result<std::unique_ptr<Store>> opened = Store::open(directory.path() + "/store", options);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  Store& store = **opened;
  ASSERT_EQ(said(store.create_account(kAccount)), kFine);
  Table table = *store.create_table(kAccount, "Orders");
  ASSERT_EQ(said(store.create_index(kAccount, "Orders", kByValue)), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "a", "a value that is longer than a short string"))), kFine);
  const Entity fresh = with_value("q", "b", "another value that is longer than a short string");
  const Entity taken = with_value("q", "c", "a value that is longer than a short string");
  sweep([&] { return table.insert(fresh).status(); },
        [&](std::uint64_t) { EXPECT_EQ((*table.count(Scan{})).entities, 1U); },
        [&] { EXPECT_EQ(said(table.remove("q", "b", ETag::any())), kFine); });
  sweep([&] { return table.merge(fresh, ETag::any()).status(); },
        [&](std::uint64_t) { EXPECT_EQ((*table.count(Scan{})).entities, 2U); }, [] {});
  for (std::uint64_t nth = 1; nth < 1'000; ++nth) {
    bool failed = false;
    Status refused;
    {
      const AllocationFailure failure(nth);
      refused = table.insert(taken).status();
      failed = failure.happened();
    }
    ASSERT_TRUE(said(refused) == kTaken || (failed && refused.code() == Code::kOutOfMemory)) << refused.to_string();
    if (!failed) break;
  }
  EXPECT_EQ((*table.count(Scan{})).entities, 2U);
}

}  // namespace
}  // namespace varve::unique_index_test
