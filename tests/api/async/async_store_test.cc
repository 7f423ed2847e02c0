// Goal: the asynchronous operations of a store have the meaning of the blocking operations of the same name. Blocking
// operations are refused where they would delay all operations. A store closes when all running operations have ended.
// Method: each operation beside the blocking one, valid and invalid; blocking operations called from callbacks; a store
// closed during many operations.
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/loader.h"
#include "varve/store_transaction.h"

namespace varve::async_store_test {
namespace {

using namespace test;

const std::string kOwner(kAccount);
constexpr Said kClosed = {Code::kClosed, ""};
constexpr Said kCancelled = {Code::kCancelled, ""};
constexpr Said kRefusedHere = {Code::kInvalidArgument, ""};

class AsyncStores : public ::testing::Test {
 protected:
  AsyncStores() : table_(bench_.table()), async_(*bench_.store) {}
  Store& store() { return *bench_.store; }
  io::Scheduler& scheduler() { return bench_.machine.scheduler(); }
  std::vector<std::string> table_names(std::string_view account = kAccount) {
    std::vector<std::string> names;
    const Result<TablePage> page = store().list_tables(account);
    for (const TableInfo& info : page->tables) names.push_back(info.name);
    return names;
  }

  StoreBench bench_;
  Table table_;
  AsyncStore async_;
};

// -- Every verb ---------------------------------------------------------------------------------------------------

TEST_F(AsyncStores, MakeListAndDropAccounts) {
  EXPECT_EQ(said(wait(async_.create_account("second"))), kFine);
  EXPECT_EQ(said(wait(async_.create_account("second"))), kResourceAlreadyExists);
  EXPECT_EQ(said(wait(async_.create_account("No Name"))), kInvalidResourceName);
  const Result<AccountPage> page = wait(async_.list_accounts({.prefix = "se"}));
  ASSERT_EQ(said(page), kFine);
  ASSERT_EQ(page->accounts.size(), 1u);
  EXPECT_EQ(page->accounts[0].name, "second");
  EXPECT_EQ(said(wait(async_.list_accounts({.page_names_max = 0}))),
            said(store().list_accounts({.page_names_max = 0})));
  EXPECT_EQ(said(wait(async_.drop_account("second"))), kFine);
  EXPECT_EQ(said(wait(async_.drop_account("second"))), kResourceNotFound);
}

TEST_F(AsyncStores, MakeOpenListAndDropTables) {
  Result<Table> made = wait(async_.create_table(kOwner, "Invoices"));
  ASSERT_EQ(said(made), kFine);
  EXPECT_EQ(said(made->insert(with_value("p", "r", "x"))), kFine);
  EXPECT_EQ(said(wait(async_.create_table(kOwner, "INVOICES"))), kTableAlreadyExists);
  EXPECT_EQ(said(wait(async_.create_table("nobody", "Invoices"))), kResourceNotFound);
  EXPECT_EQ(said(wait(async_.create_table(kOwner, "1nvoices"))), kInvalidResourceName);
  const Result<Table> opened = wait(async_.open_table(kOwner, "invoices"));
  ASSERT_EQ(said(opened), kFine);
  EXPECT_EQ(value_in(*opened, "p", "r"), "x");
  EXPECT_EQ(said(wait(async_.open_table(kOwner, "Nothing"))), kTableNotFound);
  ListOptions two_pages;
  two_pages.page_names_max = 1;
  const Result<TablePage> first = wait(async_.list_tables(kOwner, two_pages));
  ASSERT_EQ(said(first), kFine);
  ASSERT_TRUE(first->continuation);
  EXPECT_EQ(first->tables[0].name, "Invoices");
  two_pages.continuation = *first->continuation;
  EXPECT_EQ((*wait(async_.list_tables(kOwner, two_pages))).tables[0].name, "Orders");
  EXPECT_EQ(said(wait(async_.drop_table(kOwner, "Invoices"))), kFine);
  EXPECT_EQ(said(wait(async_.drop_table(kOwner, "Invoices"))), kResourceNotFound);
  EXPECT_EQ(table_names(), std::vector<std::string>{"Orders"});
}

TEST_F(AsyncStores, BX01_MakeTablesWithLargeValues) {
  Result<Table> people = wait(async_.create_table(kOwner, "People", TableOptions{.has_large_values = true}));
  ASSERT_EQ(said(people), kFine);
  EXPECT_EQ(said(people->write_large_value()), kFine);
  Result<Table> plain = wait(async_.create_table(kOwner, "Plain", TableOptions()));
  ASSERT_EQ(said(plain), kFine);
  EXPECT_EQ(said(plain->write_large_value()), kInvalidInput);
}

TEST_F(AsyncStores, KeepAccessPolicies) {
  const std::vector<AccessPolicy> policies = {{.id = "readers", .permissions = *Permissions::parse("r")}};
  EXPECT_EQ(said(wait(async_.set_access_policies(kOwner, "Orders", policies))), kFine);
  EXPECT_EQ(*wait(async_.access_policies(kOwner, "orders")), policies);
  EXPECT_EQ(*store().access_policies(kAccount, "Orders"), policies);
  EXPECT_EQ(said(wait(async_.set_access_policies(kOwner, "Orders", {{.id = ""}}))), kInvalidXmlDocument);
  EXPECT_EQ(said(wait(async_.access_policies(kOwner, "Nothing"))), kTableNotFound);
  EXPECT_EQ(*wait(async_.access_policies(kOwner, "Orders")), policies);
}

TEST_F(AsyncStores, KeepTheRuleByWhichEntitiesEnd) {
  const TableExpiry expiry = TableExpiry::at("Until");
  EXPECT_EQ(said(wait(async_.set_table_expiry(kOwner, "Orders", expiry))), kFine);
  EXPECT_EQ(*wait(async_.table_expiry(kOwner, "orders")), expiry);
  EXPECT_EQ(*store().table_expiry(kAccount, "Orders"), expiry);
  EXPECT_EQ(said(wait(async_.set_table_expiry(kOwner, "Orders", TableExpiry{}))), said(check_table_expiry({})));
  EXPECT_EQ(said(wait(async_.table_expiry(kOwner, "Nothing"))), kTableNotFound);
  EXPECT_EQ(said(wait(async_.set_table_expiry(kOwner, "Orders", std::nullopt))), kFine);
  EXPECT_EQ(*wait(async_.table_expiry(kOwner, "Orders")), std::nullopt);
}

TEST_F(AsyncStores, SyncCompactAndMakeCheckpoints) {
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x"), buffered).ok());
  EXPECT_EQ(said(wait(async_.sync())), kFine);
  EXPECT_EQ(said(wait(async_.compact())), kFine);
  EXPECT_EQ((*store().statistics()).memtable_entries, 0u);
  const Result<CheckpointStatistics> made = wait(async_.checkpoint("/copy"));
  ASSERT_EQ(said(made), kFine);
  EXPECT_EQ(made->version, (*store().snapshot()).version());
  EXPECT_EQ(wait(async_.checkpoint("/copy")).code(), Code::kExists);
  Result<std::unique_ptr<Store>> copy = Store::open("/copy", bench_.options());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_EQ(value_in(*(*copy)->open_table(kAccount, "Orders"), "p", "r"), "x");
}

TEST_F(AsyncStores, StoppedBeforeTheBeginningChangeNothing) {
  std::stop_source source;
  source.request_stop();
  const std::stop_token stop = source.get_token();
  bool was_called = false;
  const auto body = [&was_called](StoreTransaction&) {
    was_called = true;
    return Status();
  };
  EXPECT_EQ(said(wait(async_.create_account("second", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.drop_account(kOwner, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.list_accounts({}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.create_table(kOwner, "Another", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.open_table(kOwner, "Orders", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.drop_table(kOwner, "Orders", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.list_tables(kOwner, {}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.set_access_policies(kOwner, "Orders", {{.id = "x"}}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.access_policies(kOwner, "Orders", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.set_table_expiry(kOwner, "Orders", TableExpiry::at("Until"), stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.table_expiry(kOwner, "Orders", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.create_index(kOwner, "Orders", {"ByV", {{"V"}}}, stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.drop_index(kOwner, "Orders", "ByV", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.indexes(kOwner, "Orders", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.sync(stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.compact(stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.checkpoint("/copy", stop))), kCancelled);
  EXPECT_EQ(said(wait(async_.transact(body, {}, 16, stop))), kCancelled);
  EXPECT_FALSE(was_called);
  EXPECT_EQ((*store().list_accounts()).accounts.size(), 1u);
  EXPECT_EQ(table_names(), std::vector<std::string>{"Orders"});
  EXPECT_TRUE((*store().access_policies(kAccount, "Orders")).empty());
  EXPECT_EQ(*store().table_expiry(kAccount, "Orders"), std::nullopt);
}

// -- Transactions -------------------------------------------------------------------------------------------------

Status add_one(const Table& table, StoreTransaction& transaction) {
  const Result<std::optional<Entity>> found = transaction.get(table, "p", "sum");
  if (!found.ok()) return found.status();
  Entity entity = **found;
  const ETag etag = entity.etag();
  entity.set("N", *entity.get<std::int64_t>("N") + 1);
  transaction.replace(table, std::move(entity), etag);
  return Status();
}

TEST_F(AsyncStores, TransactionsThatConflictRunAgainAndSumUp) {
  Entity sum("p", "sum");
  sum.set("N", std::int64_t{0});
  ASSERT_TRUE(table_.insert(sum).ok());
  std::vector<Task<Result<std::vector<ETag>>>> tasks;
  for (int i = 0; i < 60; ++i) {
    const auto body = [table = table_](StoreTransaction& transaction) { return add_one(table, transaction); };
    tasks.push_back(async_.transact(body, {}, 1'000'000));
  }
  for (const auto& etags : wait(all(std::move(tasks)))) ASSERT_EQ(said(etags), kFine);
  EXPECT_EQ(*read(table_, "p", "sum")->get<std::int64_t>("N"), 60);
}

TEST_F(AsyncStores, ATransactionThatConflictsTooOftenIsToldSo) {
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x")).ok());
  int calls = 0;
  const auto body = [this, &calls](StoreTransaction& transaction) {
    ++calls;
    if (Status read = transaction.get(table_, "p", "r").status(); !read.ok()) return read;
    transaction.insert_or_replace(table_, with_value("p", "s", "x"));
    return table_.insert_or_replace(with_value("p", "r", "again")).status();  // It conflicts with itself every time.
  };
  EXPECT_EQ(wait(async_.transact(body, {}, 3)).code(), Code::kConflict);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(value_in(table_, "p", "s"), "-");
  const auto refusing = [](StoreTransaction&) { return Status(Code::kUnsupported, "not today"); };
  EXPECT_EQ(wait(async_.transact(refusing)).code(), Code::kUnsupported);
}

// -- Many ---------------------------------------------------------------------------------------------------------

Task<Status> make_use_and_drop(AsyncStore store, std::string name) {
  const Result<Table> made = co_await store.create_table(kOwner, name);
  if (!made.ok()) co_return made.status();
  const AsyncTable table(*made);
  const Result<ETag> inserted = co_await table.insert(with_value("p", "r", name));
  if (!inserted.ok()) co_return inserted.status();
  const Result<std::optional<Entity>> found = co_await table.get("p", "r");
  if (!found.ok()) co_return found.status();
  if (*(*found)->get<std::string>("V") != name) co_return Status(Code::kCorruption, "of another table");
  co_return co_await store.drop_table(kOwner, name);
}

TEST_F(AsyncStores, TablesAreMadeUsedAndDroppedSideBySide) {
  std::vector<Task<Status>> tasks;
  for (int i = 0; i < 120; ++i) tasks.push_back(make_use_and_drop(async_, "Table" + std::to_string(i)));
  for (const Status& status : wait(all(std::move(tasks)))) ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(table_names(), std::vector<std::string>{"Orders"});
}

TEST_F(AsyncStores, OfManyCreationsOfOneTableExactlyOneSucceeds) {
  std::vector<Task<Result<Table>>> tasks;
  for (int i = 0; i < 40; ++i) tasks.push_back(async_.create_table(kOwner, i % 2 == 0 ? "Shared" : "SHARED"));
  int made = 0;
  for (const Result<Table>& table : wait(all(std::move(tasks)))) {
    if (table.ok()) ++made;
    EXPECT_EQ(said(table), table.ok() ? kFine : kTableAlreadyExists);
  }
  EXPECT_EQ(made, 1);
}

// -- The asynchronous thread --------------------------------------------------------------------------------------

/// Calls `body` on the asynchronous thread.
void in_callback(Store& store, io::Scheduler& scheduler, const std::function<void()>& body) {
  io::Event ended(scheduler);
  start(AsyncStore(store).list_tables(std::string(kAccount)), [&](const Result<TablePage>& found) {
    EXPECT_TRUE(found.ok());
    body();
    ended.set();
  });
  ended.wait();
}

TEST_F(AsyncStores, VerbsThatWaitAreRefusedInACallbackAndChangeNothing) {
  ASSERT_TRUE(table_.insert(with_value("p", "r", "x")).ok());
  StoreTransaction transaction = *store().begin_transaction();
  transaction.insert(table_, with_value("p", "transacted", "x"));
  Loader loader = *store().load_table(kAccount, "Loaded");
  EntityGroupTransaction group;
  group.insert(with_value("p", "grouped", "x"));
  const auto nothing = [](StoreTransaction&) { return Status(); };
  const DateTime before = (*store().snapshot()).version();
  std::vector<Said> answers;
  in_callback(store(), scheduler(), [&] {
    Table table = table_;
    answers = {said(table.insert(with_value("p", "s", "x"))),
               said(table.replace(with_value("p", "r", "y"), ETag::any())),
               said(table.merge(with_value("p", "r", "y"), ETag::any())),
               said(table.insert_or_replace(with_value("p", "r", "y"))),
               said(table.insert_or_merge(with_value("p", "r", "y"))),
               said(table.remove("p", "r", ETag::any())),
               said(table.execute(group)),
               said(table.get("p", "r")),
               said(table.get_many(std::vector<EntityKey>{{"p", "r"}})),
               said(table.scan(Scan{})),
               said(table.count(Scan{})),
               said(table.explain(Scan{})),
               said(table.access_policies()),
               said(store().create_account("second")),
               said(store().drop_account(kAccount)),
               said(store().list_accounts()),
               said(store().create_table(kAccount, "Another")),
               said(store().load_table(kAccount, "Another")),
               said(store().open_table(kAccount, "Orders")),
               said(store().drop_table(kAccount, "Orders")),
               said(store().list_tables(kAccount)),
               said(store().set_access_policies(kAccount, "Orders", {})),
               said(store().access_policies(kAccount, "Orders")),
               said(store().set_table_expiry(kAccount, "Orders", std::nullopt)),
               said(store().table_expiry(kAccount, "Orders")),
               said(store().create_index(kAccount, "Orders", {"ByV", {{"V"}}})),
               said(store().drop_index(kAccount, "Orders", "ByV")),
               said(store().indexes(kAccount, "Orders")),
               said(store().sync()),
               said(store().compact()),
               said(store().checkpoint("/copy")),
               said(store().transact(nothing)),
               said(transaction.get(table, "p", "r")),
               said(transaction.commit()),
               said(loader.add(with_value("p", "r", "x"))),
               said(loader.finish()),
               said(store().close())};
  });
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], kRefusedHere) << "verb " << i;
  EXPECT_EQ((*store().snapshot()).version(), before);
  EXPECT_EQ(value_in(table_, "p", "r"), "x");
  EXPECT_EQ(said(table_.insert(with_value("p", "s", "x"))), kFine);  // Elsewhere blocking operations work.
}

TEST_F(AsyncStores, ACallbackOfOneStoreMayWaitForAnother) {
  StoreBench other_bench(2);
  Table other = other_bench.table();
  Said answer = kClosed;
  in_callback(store(), scheduler(), [&] { answer = said(other.insert(with_value("p", "r", "x"))); });
  EXPECT_EQ(answer, kFine);
}

TEST_F(AsyncStores, ACallbackMayBeginWhatIsAsynchronous) {
  std::optional<Begun<Result<ETag>>> begun;
  in_callback(store(), scheduler(), [&] {
    begun.emplace(scheduler(), AsyncTable(table_).insert(with_value("p", "r", "x")));
    EXPECT_FALSE(begun->has_ended());  // Not within the call that began it.
  });
  EXPECT_EQ(said(begun->take()), kFine);
}

// -- The end ------------------------------------------------------------------------------------------------------

TEST_F(AsyncStores, CloseWaitsForEverythingUnderWayAndRefusesWhatComesLater) {
  const AsyncTable table(table_);
  std::vector<std::unique_ptr<Begun<Result<ETag>>>> writes;
  std::vector<std::unique_ptr<Begun<Result<Page>>>> scans;
  std::vector<std::unique_ptr<Begun<Result<Table>>>> tables;
  for (int i = 0; i < 100; ++i) {
    auto write = table.insert(with_value("p" + std::to_string(i % 3), std::to_string(i), "x"));
    writes.push_back(std::make_unique<Begun<Result<ETag>>>(scheduler(), std::move(write)));
    scans.push_back(std::make_unique<Begun<Result<Page>>>(scheduler(), table.scan(Scan{})));
    if (i % 10 != 0) continue;
    auto made = async_.create_table(kOwner, "Table" + std::to_string(i));
    tables.push_back(std::make_unique<Begun<Result<Table>>>(scheduler(), std::move(made)));
  }
  EXPECT_EQ(said(store().close()), kFine);
  for (const auto& write : writes) {
    EXPECT_TRUE(write->has_ended());
    EXPECT_EQ(said(write->take()), kFine);
  }
  for (const auto& scan : scans) EXPECT_EQ(said(scan->take()), kFine);
  for (const auto& made : tables) EXPECT_EQ(said(made->take()), kFine);
  EXPECT_EQ(said(wait(table.insert(with_value("p", "late", "x")))), kClosed);
  EXPECT_EQ(said(wait(async_.create_account("late"))), kClosed);
  EXPECT_EQ(said(wait(async_.sync())), kClosed);
  bench_.open();
  EXPECT_EQ((*(*store().open_table(kAccount, "Orders")).count(Scan{})).entities, 100u);
}

TEST_F(AsyncStores, ATransactionUnderWayCommitsBeforeTheStoreCloses) {
  const AsyncTable table(table_);
  io::Event entered(scheduler());
  io::Event may_go_on(scheduler());
  const auto body = [&](StoreTransaction& transaction) {
    entered.set();
    may_go_on.wait();
    transaction.insert(table_, with_value("p", "r", "x"));
    return Status();
  };
  Begun<Result<std::vector<ETag>>> transaction(scheduler(), async_.transact(body));
  entered.wait();
  Result<io::Thread> closer = scheduler().start("closer", [&] { EXPECT_EQ(said(store().close()), kFine); });
  ASSERT_TRUE(closer.ok());
  while (said(wait(table.get("p", "r"))) != kClosed) {
  }
  may_go_on.set();
  EXPECT_EQ(said(transaction.take()), kFine);
  closer->join();
  bench_.open();
  EXPECT_EQ(value_in(*store().open_table(kAccount, "Orders"), "p", "r"), "x");
}

TEST_F(AsyncStores, WhatIsBegunInTheLastCallbacksIsRefusedAndNobodyHangs) {
  for (int round = 0; round < test::effort(20); ++round) {
    StoreBench bench(static_cast<std::uint64_t>(round) + 1);
    const AsyncTable table(bench.table());
    std::vector<Said> answers(30, kCancelled);
    for (int i = 0; i < 30; ++i) {
      start(table.insert(with_value("p", std::to_string(i), "x")), [&answers, &table, i](const Result<ETag>& first) {
        EXPECT_TRUE(first.ok()) << first.status().to_string();
        Said* const answer = &answers[static_cast<std::size_t>(i)];
        start(table.get("p", std::to_string(i)), [answer](const auto& found) { *answer = said(found); });
      });
    }
    EXPECT_EQ(said(bench.store->close()), kFine);
    for (const Said& answer : answers) EXPECT_TRUE(answer == kFine || answer == kClosed) << answer;
  }
}

}  // namespace
}  // namespace varve::async_store_test
