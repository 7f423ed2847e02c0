// Goal: the public verbs on indexes do what their header says, and every way to write keeps an index whole.
// Method: each way of writing on a store with an index; then the store is closed and verified, which compares every index
// with its table.
#include "varve/table_index.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/log/root.h"
#include "tests/api/async/async_support.h"
#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"
#include "varve/async.h"
#include "varve/loader.h"
#include "varve/repair.h"
#include "varve/store_transaction.h"
#include "varve/verify.h"

namespace varve::table_index_test {
namespace {

using namespace test;

const IndexDefinition kByValue{"ByValue", {{"V"}}};

class TableIndexes : public ::testing::Test {
 protected:
  TableIndexes() { bench_.open(); }
  void SetUp() override { ASSERT_EQ(said(store().create_account(kAccount)), kFine); }

  Store& store() { return *bench_.store; }
  Table indexed(std::string_view name = "Orders", const TableOptions& options = {}) {
    Result<Table> created = store().create_table(kAccount, name, options);
    EXPECT_EQ(said(created), kFine) << created.status().to_string();
    EXPECT_EQ(said(store().create_index(kAccount, name, kByValue)), kFine);
    return *std::move(created);
  }
  static std::vector<std::string> having(const Table& table, std::string_view value, const ReadOptions& read = {}) {
    Scan scan;
    scan.filter = "V eq '" + std::string(value) + "'";
    scan.read = read;
    const Result<ScanPlan> plan = table.explain(scan);
    EXPECT_EQ(said(plan), kFine);
    EXPECT_TRUE(plan.ok() && plan->indexes.size() == 1 && plan->indexes.front().is_taken)
        << "the index serves the scan";
    const Result<Page> page = table.scan(scan);
    EXPECT_EQ(said(page), kFine);
    return page.ok() ? keys_of(*page) : std::vector<std::string>();
  }
  void expect_verified() {
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->finding_count, 0U) << (report->findings.empty() ? "" : report->findings.front());
  }

  StoreBench bench_;
};

using Keys = std::vector<std::string>;

TEST_F(TableIndexes, AnIndexServesScansOverEntitiesFromBeforeAndAfter) {
  const Table table = *store().create_table(kAccount, "Orders");
  ASSERT_TRUE(Table(table).insert(with_value("p", "a", "x")).ok());
  ASSERT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine);
  ASSERT_TRUE(Table(table).insert(with_value("q", "b", "x")).ok());
  ASSERT_TRUE(Table(table).insert(with_value("q", "c", "y")).ok());
  EXPECT_EQ(having(table, "x"), (Keys{"p/a", "q/b"}));
  EXPECT_EQ(having(table, "y"), (Keys{"q/c"}));
  EXPECT_EQ(having(table, "z"), Keys());
  expect_verified();
}

TEST_F(TableIndexes, AreListedAndDropped) {
  const Table table = indexed();
  const IndexDefinition wide{"Wide", {{"PartitionKey"}, {"Total", true}, {"RowKey", true}}, {"Name", "V"}};
  ASSERT_EQ(said(store().create_index(kAccount, "orders", wide)), kFine);
  const Result<std::vector<IndexInfo>> listed = store().indexes(kAccount, "Orders");
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ((*listed)[0].definition, kByValue);
  EXPECT_EQ((*listed)[1].definition, wide);
  EXPECT_EQ((*listed)[1].state, IndexState::kReady);
  EXPECT_EQ(said(store().drop_index(kAccount, "Orders", "Wide")), kFine);
  EXPECT_EQ(said(store().drop_index(kAccount, "Orders", "Wide")), kResourceNotFound);
  EXPECT_EQ((*store().indexes(kAccount, "Orders")).size(), 1U);
  ASSERT_EQ(said(store().create_index(kAccount, "Orders", wide)), kFine);
  expect_verified();
}

TEST_F(TableIndexes, AnIndexOfTheTimestampServesFiltersAndOrders) {
  Table table = *store().create_table(kAccount, "Orders");
  std::vector<DateTime> times;
  const auto put = [&](std::string_view row) {
    ASSERT_TRUE(table.insert_or_replace(with_value("p", row, "x")).ok());
    times.push_back((**table.get("p", row)).timestamp());
  };
  put("c");
  put("b");
  const IndexDefinition by_time{"ByTime", {{"Timestamp", true}}};
  ASSERT_EQ(said(store().create_index(kAccount, "Orders", by_time)), kFine);
  EXPECT_EQ((*store().indexes(kAccount, "Orders")).front().definition, by_time);
  put("a");
  put("c");  // again
  Scan scan;
  const auto found = [&](std::string_view filter) {
    scan.filter = filter;
    const Result<ScanPlan> plan = table.explain(scan);
    EXPECT_TRUE(plan.ok() && (plan->order_index == "ByTime" || plan->indexes.size() == 1)) << filter;
    return keys_of(*table.scan(scan));
  };
  const std::string second = "datetime'" + times[1].to_string() + "'";
  EXPECT_EQ(found("Timestamp gt " + second), (Keys{"p/a", "p/c"}));
  EXPECT_EQ(found("Timestamp ge " + second), (Keys{"p/a", "p/b", "p/c"}));
  EXPECT_EQ(found("Timestamp eq " + second), (Keys{"p/b"}));
  EXPECT_EQ(found("Timestamp le " + second), (Keys{"p/b"}));
  EXPECT_EQ(found("Timestamp lt 'x'"), (Keys{"p/a", "p/b", "p/c"})) << "of another type";
  EXPECT_EQ(found("Timestamp gt 'x'"), Keys());
  scan.order_by = "Timestamp";
  EXPECT_EQ(found(""), (Keys{"p/b", "p/a", "p/c"}));
  scan.order_by = "Timestamp desc";
  scan.page_entities_max = 2;
  EXPECT_EQ(found("Timestamp le datetime'" + times[2].to_string() + "'"), (Keys{"p/a", "p/b"}));
  EXPECT_EQ(found(""), (Keys{"p/c", "p/a"}));
  scan.continuation = *(*table.scan(scan)).continuation;
  EXPECT_EQ(found(""), (Keys{"p/b"}));
  expect_verified();
}

TEST_F(TableIndexes, ADroppedTableTakesTheEntriesWithIt) {
  Table table = indexed();
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  ASSERT_EQ(said(store().drop_table(kAccount, "Orders")), kFine);
  Table second = indexed();
  ASSERT_TRUE(second.insert(with_value("p", "b", "x")).ok());
  EXPECT_EQ(having(second, "x"), (Keys{"p/b"}));
  expect_verified();
}

TEST_F(TableIndexes, AStoppedBuildGoesOnWithTheSameDefinition) {
  Table table = *store().create_table(kAccount, "Orders");
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(table.insert(with_value("p", std::to_string(i), "x")).ok());
  const auto stop = [](const IndexBuildProgress& progress) { return progress.entities == 0; };
  EXPECT_EQ(store().create_index(kAccount, "Orders", kByValue, stop).code(), Code::kCancelled);
  EXPECT_EQ((*store().indexes(kAccount, "Orders")).front().state, IndexState::kBuilding);
  const Status other = store().create_index(kAccount, "Orders", {"ByValue", {{"W"}}});
  EXPECT_EQ(said(other), kResourceAlreadyExists);
  EXPECT_NE(other.message().find("another definition"), std::string_view::npos) << other.message();
  bench_.open();
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine);
  EXPECT_EQ((*store().indexes(kAccount, "Orders")).front().state, IndexState::kReady);
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine) << "it is ready";
  EXPECT_EQ(having(*store().open_table(kAccount, "Orders"), "x").size(), 150U);
  expect_verified();
}

TEST_F(TableIndexes, ABuildOfADeclaredIndexGoesOnByItsNameAndDeclaresNone) {
  Table table = *store().create_table(kAccount, "Orders");
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  EXPECT_EQ(said(store().build_index(kAccount, "Nothing", "ByValue")), kTableNotFound);
  EXPECT_EQ(said(store().build_index(kAccount, "Orders", "ByValue")), kResourceNotFound);
  const auto stop = [](const IndexBuildProgress&) { return false; };
  ASSERT_EQ(store().create_index(kAccount, "Orders", kByValue, stop).code(), Code::kCancelled);
  EXPECT_EQ(store().build_index(kAccount, "Orders", "ByValue", stop).code(), Code::kCancelled);
  EXPECT_EQ(said(store().build_index(kAccount, "orders", "ByValue")), kFine);
  EXPECT_EQ((*store().indexes(kAccount, "Orders")).front().state, IndexState::kReady);
  EXPECT_EQ(said(store().build_index(kAccount, "Orders", "ByValue")), kFine) << "it is ready";
  EXPECT_EQ(having(table, "x"), (Keys{"p/a"}));
  expect_verified();
}

TEST_F(TableIndexes, WhatCannotBeIndexedIsRefused) {
  const Table table = indexed();
  EXPECT_EQ(said(store().create_index(kAccount, "Nothing", kByValue)), kTableNotFound);
  EXPECT_EQ(said(store().indexes(kAccount, "Nothing")), kTableNotFound);
  EXPECT_EQ(said(store().create_index("nobody", "Orders", kByValue)).code, Code::kNotFound);
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", {"None", {}})), kInvalidInput);
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", {"Time", {{"Timestamp"}}, {}, true})), kInvalidInput);
  for (const auto& [name, instead] : {std::pair{"Timestamp", "component"}, {"RowKey", "each entry has it"}}) {
    const Status carried = store().create_index(kAccount, "Orders", {"Time", {{"V"}}, {name}});
    EXPECT_EQ(said(carried), kInvalidInput) << name;
    EXPECT_NE(carried.message().find(instead), std::string_view::npos) << carried.message();
  }
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", {"Twice", {{"V"}, {"V", true}}})), kInvalidInput);
}

/// Older builds refuse a store whose files say that it may have indexes.
TEST_F(TableIndexes, TheFilesSayThatAStoreHasHadAnIndexOnceOneWasDeclared) {
  const auto features_in_files = [this] {
    bench_.store.reset();
    const auto bytes = bench_.machine.files->snapshot().read_file(std::string(kStorePath) + "/CURRENT");
    bench_.open();
    const Result<format::Root> root =
        bytes.ok() ? format::decode_root(format::as_text(*bytes)) : Result<format::Root>(bytes.status());
    EXPECT_TRUE(root.ok());
    return root.ok() ? root->features : format::kKnownFeatures;
  };
  Table table = *store().create_table(kAccount, "Orders");
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  Scan scan;
  scan.filter = "V eq 'x'";
  scan.order_by = "V";
  EXPECT_EQ(keys_of(*table.scan(scan)), (Keys{"p/a"}));
  EXPECT_EQ(said(store().create_index(kAccount, "Nothing", kByValue)), kTableNotFound);
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", {"None", {}})), kInvalidInput);
  EXPECT_EQ(said(store().drop_index(kAccount, "Orders", "ByValue")), kResourceNotFound);
  EXPECT_EQ(said(store().compact()), kFine);
  EXPECT_EQ(features_in_files(), format::Features());

  ASSERT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine);
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByValue")), kFine);
  EXPECT_EQ(said(store().compact()), kFine);
  EXPECT_EQ(features_in_files(), (format::Features{0, 0, format::kIndexFeature})) << "it stays";
}

TEST_F(TableIndexes, EveryWayToWriteKeepsTheIndexWhole) {
  Table table = indexed();
  Table plain = *store().create_table(kAccount, "Plain");
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_TRUE(begun.ok());
  begun->insert(table, with_value("s", "1", "store"));
  begun->insert(table, with_value("t", "2", "store"));
  begun->insert(plain, with_value("t", "2", "store"));
  ASSERT_TRUE(begun->commit().ok());
  EXPECT_EQ(having(table, "store"), (Keys{"s/1", "t/2"}));

  const AsyncTable async(table);
  ASSERT_TRUE(wait(async.write({WriteOperation::Kind::kInsert, with_value("p", "1", "async"), ETag()})).ok());
  ASSERT_TRUE(wait(async.write({WriteOperation::Kind::kInsertOrReplace, with_value("s", "1", "async"), ETag()})).ok());
  EXPECT_EQ(having(table, "async"), (Keys{"p/1", "s/1"}));
  Scan scan;
  scan.filter = "V eq 'async'";
  const Result<Page> page = wait(async.scan(scan));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(keys_of(*page), (Keys{"p/1", "s/1"}));
  EXPECT_EQ((*table.count(scan)).entities, 2U);

  std::vector<WriteOperation> group;
  group.push_back({WriteOperation::Kind::kInsert, with_value("p", "2", "group"), ETag()});
  group.push_back({WriteOperation::Kind::kReplace, with_value("p", "1", "group"), ETag::any()});
  ASSERT_TRUE(table.execute(group).ok());
  EXPECT_EQ(having(table, "group"), (Keys{"p/1", "p/2"}));
  ASSERT_EQ(said(store().create_queue(kAccount, "tasks")), kFine);
  EXPECT_EQ(having(table, "async"), (Keys{"s/1"}));
  expect_verified();
}

TEST_F(TableIndexes, ATransactionThatOnlyReadsATableDoesNotRestOnItsIndexes) {
  Table table = *store().create_table(kAccount, "Orders");
  Table other = *store().create_table(kAccount, "Other");
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_TRUE(begun.ok());
  ASSERT_TRUE(begun->get(table, "p", "a").ok());
  begun->insert(other, with_value("p", "a", "x"));
  ASSERT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine);
  EXPECT_TRUE(begun->commit().ok());
}

TEST_F(TableIndexes, ASnapshotKeepsItsAnswer) {
  Table table = indexed();
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  const Result<Snapshot> snapshot = store().snapshot();
  ASSERT_TRUE(snapshot.ok());
  ASSERT_TRUE(table.replace(with_value("p", "a", "y"), ETag::any()).ok());
  ReadOptions then;
  then.snapshot = *snapshot;
  EXPECT_EQ(having(table, "x", then), (Keys{"p/a"}));
  EXPECT_EQ(having(table, "x"), Keys());
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByValue")), kFine);
  EXPECT_EQ(having(table, "x", then), (Keys{"p/a"})) << "the index is there at the snapshot's version";
}

TEST_F(TableIndexes, ATableWithLargeValuesMayHaveAnIndex) {
  Table table = indexed("Docs", {.has_large_values = true});
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  ASSERT_TRUE(table.replace(with_value("p", "a", "y"), ETag::any()).ok());
  EXPECT_EQ(having(table, "y"), (Keys{"p/a"}));
  EXPECT_EQ(having(table, "x"), Keys());
  expect_verified();
}

TEST_F(TableIndexes, ALoadBuildsThem) {
  (void)indexed();
  Result<Loader> loader = store().load_table(kAccount, "Orders");
  ASSERT_EQ(said(loader), kFine) << loader.status().to_string();
  for (const char* row : {"c", "a", "d", "b"}) ASSERT_EQ(said(loader->add(with_value("p", row, "x"))), kFine);
  {
    Result<LoaderLane> lane = loader->lane();
    ASSERT_EQ(said(lane), kFine);
    ASSERT_EQ(said(lane->add(with_value("o", "e", "x"))), kFine);
    ASSERT_EQ(said(lane->add(with_value("q", "f", "y"))), kFine);
  }
  ASSERT_EQ(said(loader->finish()), kFine);
  EXPECT_EQ((*store().indexes(kAccount, "Orders")).front().state, IndexState::kReady);
  Table table = *store().open_table(kAccount, "Orders");
  EXPECT_EQ(having(table, "x"), (Keys{"o/e", "p/a", "p/b", "p/c", "p/d"}));
  ASSERT_EQ(said(table.remove("p", "b", ETag::any())), kFine);
  ASSERT_EQ(said(table.insert(with_value("r", "g", "y"))), kFine);
  EXPECT_EQ(having(table, "x"), (Keys{"o/e", "p/a", "p/c", "p/d"}));
  EXPECT_EQ(having(table, "y"), (Keys{"q/f", "r/g"}));
  expect_verified();
}

TEST_F(TableIndexes, ARepairBuildsThemAgain) {
  Table table = indexed();
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  bench_.store.reset();
  const Result<RepairReport> repaired = Store::repair(kStorePath, "/repaired", bench_.options());
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_string();
  EXPECT_EQ(repaired->indexes, 1U);
  EXPECT_TRUE(repaired->was_sound());
  Result<std::unique_ptr<Store>> opened = Store::open("/repaired", bench_.options());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*(*opened)->indexes(kAccount, "Orders")).front().state, IndexState::kReady);
  EXPECT_EQ(having(*(*opened)->open_table(kAccount, "Orders"), "x"), (Keys{"p/a"}));
}

TEST_F(TableIndexes, ACommitThatItsEntriesMakeTooLargeNamesTheIndex) {
  Table table = *store().create_table(kAccount, "Orders");
  std::vector<std::string> carried;
  for (char name = 'A'; name <= 'L'; ++name) carried.emplace_back(1, name);
  for (int i = 0; i < 16; ++i) {
    const IndexDefinition wide{"Wide" + std::to_string(i), {{"V"}}, carried};
    ASSERT_EQ(said(store().create_index(kAccount, "Orders", wide)), kFine);
  }
  std::vector<WriteOperation> group;
  for (int row = 0; row < 5; ++row) {
    Entity entity = with_value("p", std::to_string(row), "x");
    for (const std::string& name : carried) entity.set(name, Binary{std::string(60'000, 'b')});
    group.push_back({WriteOperation::Kind::kInsert, entity, ETag()});
  }
  const Status refused = table.execute(group).status();
  EXPECT_EQ(said(refused), kRequestBodyTooLarge) << refused.to_string();
  EXPECT_NE(refused.message().find("'Wide"), std::string_view::npos) << refused.message();
  EXPECT_EQ((*table.count(Scan{})).entities, 0U);
  group.resize(1);
  EXPECT_EQ(said(table.execute(group)), kFine);
}

TEST_F(TableIndexes, AsynchronousVerbsDoTheSame) {
  Table table = *store().create_table(kAccount, "Orders");
  ASSERT_TRUE(table.insert(with_value("p", "a", "x")).ok());
  const AsyncStore async(store());
  const std::string owner(kAccount);
  EXPECT_EQ(said(wait(async.create_index(owner, "Orders", kByValue))), kFine);
  EXPECT_EQ((*wait(async.indexes(owner, "Orders"))).front().definition, kByValue);
  EXPECT_EQ(having(table, "x"), (Keys{"p/a"}));
  EXPECT_EQ(said(wait(async.drop_index(owner, "Orders", "ByValue"))), kFine);
  EXPECT_TRUE((*wait(async.indexes(owner, "Orders"))).empty());
}

TEST(TableIndexOrders, WritersBesideABuildAreInTheIndex) {
  for_each_seed(10, [](StoreBench& bench) {
    const Table table = bench.table();
    for (const char* const row : {"1", "2", "3"}) ASSERT_TRUE(Table(table).insert(with_value("p", row, "x")).ok());
    std::vector<std::function<void()>> bodies;
    bodies.push_back([&] { EXPECT_EQ(said(bench.store->create_index(kAccount, "Orders", kByValue)), kFine); });
    for (const std::string& partition : {std::string("p"), std::string("q")}) {
      bodies.push_back([&table, partition] {
        Table own = table;
        EXPECT_EQ(said(own.insert(with_value(partition, "4", "x"))), kFine);
        EXPECT_EQ(said(own.insert_or_replace(with_value(partition, "1", "y"))), kFine);
        EXPECT_EQ(said(own.insert_or_replace(with_value(partition, "4", "x"))), kFine);
        EXPECT_EQ(said(own.remove(partition, "1", ETag::any())), kFine);
      });
    }
    run_together(bench, bodies);
    Scan scan;
    scan.filter = "V eq 'x'";
    const Result<ScanPlan> plan = table.explain(scan);
    ASSERT_EQ(said(plan), kFine);
    ASSERT_EQ(plan->indexes.size(), 1U);
    EXPECT_TRUE(plan->indexes.front().is_taken);
    EXPECT_EQ(keys_of(*table.scan(scan)), (Keys{"p/2", "p/3", "p/4", "q/4"}));
    scan.filter = "V eq 'y'";
    EXPECT_TRUE((*table.scan(scan)).entities.empty());
  });
}

}  // namespace
}  // namespace varve::table_index_test
