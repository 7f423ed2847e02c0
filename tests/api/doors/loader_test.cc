// Goal: a loader creates a table from its entities, completely or not at all, under the rules of an insert, beside all
// other work of the store.
#include "varve/loader.h"

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::loader_test {
namespace {

using test::kAccount;
using test::kTableAlreadyExists;
using test::kTableNotFound;
using test::said;
using test::StoreBench;
using test::value_in;
using test::with_value;

constexpr test::Said kKeyTwice = {Code::kExists, "EntityAlreadyExists"};

class LoaderTest : public ::testing::Test {
 protected:
  LoaderTest() {
    bench_.open();
    EXPECT_TRUE(store().create_account(kAccount).ok());
  }
  Store& store() { return *bench_.store; }
  Loader load(std::string_view table = "Orders") {
    Result<Loader> loader = store().load_table(kAccount, table);
    EXPECT_TRUE(loader.ok()) << loader.status().to_string();
    if (!loader.ok()) std::abort();
    return *std::move(loader);
  }
  static void add(Loader& loader, std::string_view row, std::string_view value = "v") {
    const Status added = loader.add(with_value("p", row, value));
    ASSERT_TRUE(added.ok()) << added.to_string();
  }
  Table table(std::string_view name = "Orders") {
    Result<Table> opened = store().open_table(kAccount, name);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    if (!opened.ok()) std::abort();
    return *std::move(opened);
  }

  StoreBench bench_;
};

TEST_F(LoaderTest, MakesANewTableWithAllThatWasAdded) {
  Loader loader = load();
  for (int i = 0; i < 1000; ++i) add(loader, std::to_string(1000 + i), std::to_string(i));
  EXPECT_EQ(loader.progress().entities, 1000u);
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
  const Result<ETag> etag = loader.finish();
  ASSERT_TRUE(etag.ok()) << etag.status().to_string();

  Table orders = table("orders");
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(value_in(orders, "p", std::to_string(1000 + i)), std::to_string(i));
  const auto entity = test::read(orders, "p", "1007");
  ASSERT_TRUE(entity);
  EXPECT_EQ(entity->etag(), *etag);
  const Result<TablePage> tables = store().list_tables(kAccount);
  ASSERT_TRUE(tables.ok());
  ASSERT_EQ(tables->tables.size(), 1u);
  EXPECT_EQ(tables->tables[0].name, "Orders");

  // It is an ordinary table now.
  const Result<ETag> replaced = orders.replace(with_value("p", "1007", "new"), *etag);
  ASSERT_TRUE(replaced.ok()) << replaced.status().to_string();
  EXPECT_EQ(value_in(orders, "p", "1007"), "new");
  EXPECT_EQ(said(orders.insert(with_value("p", "1008", "x"))), test::kEntityAlreadyExists);
  EXPECT_TRUE(orders.remove("p", "1009", *etag).ok());
}

TEST_F(LoaderTest, TakesEveryOrder) {
  Loader loader = load();
  for (int i = 0; i < 1000; ++i) add(loader, std::to_string(i * 7919 % 1000), std::to_string(i));
  EXPECT_GT(loader.progress().sorted_entities, 900u);
  ASSERT_TRUE(loader.finish().ok());
  const Table orders = table();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(value_in(orders, "p", std::to_string(i * 7919 % 1000)), std::to_string(i));
}

TEST_F(LoaderTest, RefusesWhatAnInsertRefusesAndGoesOn) {
  Loader loader = load();
  Table other = bench_.table("Other");
  Entity named_twice("p", "r");
  named_twice.add("A", 1).add("A", 2);
  Entity too_many("p", "r");
  for (int i = 0; i < 253; ++i) too_many.add("P" + std::to_string(i), i);
  Entity key_name("p", "r");
  key_name.add("RowKey", 1);
  const std::vector<Entity> bad = {Entity("a/b", "r"),
                                   Entity("p", std::string(1025, 'x')),
                                   Entity("p", "tab\t"),
                                   Entity("p", "\xFF"),
                                   with_value("p", "r", std::string(32'769, 'x')),
                                   with_value("p", "r", "\xC0"),
                                   named_twice,
                                   too_many,
                                   key_name};
  add(loader, "1");
  for (const Entity& entity : bad) {
    const Status refused = loader.add(entity);
    EXPECT_FALSE(refused.ok());
    EXPECT_EQ(refused.to_string(), other.insert(entity).status().to_string());
  }
  add(loader, "2");
  ASSERT_TRUE(loader.finish().ok());
  EXPECT_EQ(value_in(table(), "p", "1"), "v");
  EXPECT_EQ(value_in(table(), "p", "2"), "v");
}

TEST_F(LoaderTest, TakesTheLargestEntity) {
  Loader loader = load();
  Entity large("p", "r");
  for (int i = 0; i < 16; ++i) large.add("B" + std::to_string(i), Binary{std::string(65'000, 'b')});
  ASSERT_TRUE(loader.add(large).ok());
  Entity small("p", "a");
  ASSERT_TRUE(loader.add(small).ok());
  ASSERT_TRUE(loader.finish().ok());
  const auto found = test::read(table(), "p", "r");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->properties().size(), 16u);
}

TEST_F(LoaderTest, EndsWithAKeyGivenTwice) {
  Loader loader = load();
  add(loader, "7");
  const Status twice = loader.add(with_value("p", "7", "again"));
  EXPECT_EQ(said(twice), kKeyTwice);
  EXPECT_NE(twice.to_string().find("'p', '7'"), std::string::npos) << twice.to_string();
  EXPECT_EQ(said(loader.add(with_value("p", "8", "v"))), kKeyTwice);
  EXPECT_EQ(said(loader.finish()), kKeyTwice);
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);

  Loader unordered = load();
  add(unordered, "7");
  add(unordered, "3");
  add(unordered, "7");
  EXPECT_EQ(said(unordered.finish()), kKeyTwice);
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
}

TEST_F(LoaderTest, OfNothingMakesAnEmptyTable) {
  Loader loader = load();
  ASSERT_TRUE(loader.finish().ok());
  Table orders = table();
  EXPECT_TRUE((*orders.scan(Scan())).entities.empty());
  EXPECT_TRUE(orders.insert(with_value("p", "r", "v")).ok());
  bench_.open();
  EXPECT_EQ(value_in(table(), "p", "r"), "v");
}

TEST_F(LoaderTest, FillsATableThatIsThereAndEmpty) {
  Table orders = bench_.table("Orders");
  ASSERT_TRUE(orders.insert(with_value("p", "gone", "v")).ok());
  ASSERT_TRUE(orders.remove("p", "gone", ETag::any()).ok());
  const DateTime created = (*store().list_tables(kAccount)).tables[0].created;
  Loader loader = load("ORDERS");
  add(loader, "1");
  ASSERT_TRUE(loader.finish().ok());
  EXPECT_EQ(value_in(orders, "p", "1"), "v");  // a handle from before
  EXPECT_EQ(value_in(orders, "p", "gone"), "-");
  EXPECT_TRUE(orders.insert(with_value("p", "2", "w")).ok());
  const Result<TablePage> tables = store().list_tables(kAccount);
  EXPECT_EQ(tables->tables[0].name, "Orders");
  EXPECT_EQ(tables->tables[0].created, created);
}

TEST_F(LoaderTest, RefusesATableThatHoldsEntities) {
  Table orders = bench_.table("Orders");
  ASSERT_TRUE(orders.insert(with_value("p", "r", "v")).ok());
  const Status refused = store().load_table(kAccount, "orders").status();
  EXPECT_EQ(said(refused), kTableAlreadyExists);
  EXPECT_NE(refused.to_string().find("contains entities"), std::string::npos) << refused.to_string();
}

TEST_F(LoaderTest, RefusesNamesAsCreateTableDoes) {
  EXPECT_EQ(said(store().load_table(kAccount, "no")), said(store().create_table(kAccount, "no")));
  EXPECT_EQ(said(store().load_table(kAccount, "tables")), said(store().create_table(kAccount, "tables")));
  EXPECT_EQ(said(store().load_table("nobody", "Orders")), test::kResourceNotFound);
  EXPECT_EQ(said(store().load_table("No Name", "Orders")), test::kResourceNotFound);
}

TEST_F(LoaderTest, RefusesATableThatWasWrittenMeanwhile) {
  Table orders = bench_.table("Orders");
  Loader loader = load();
  add(loader, "1");
  ASSERT_TRUE(orders.insert(with_value("p", "2", "theirs")).ok());
  const Status refused = loader.finish().status();
  EXPECT_EQ(said(refused), kTableAlreadyExists);
  EXPECT_NE(refused.to_string().find("was written"), std::string::npos) << refused.to_string();
  EXPECT_EQ(value_in(orders, "p", "2"), "theirs");
  EXPECT_EQ(value_in(orders, "p", "1"), "-");
}

TEST_F(LoaderTest, RefusesATableThatWasWrittenAndEmptiedMeanwhile) {
  Table orders = bench_.table("Orders");
  Loader loader = load();
  ASSERT_TRUE(orders.insert(with_value("p", "2", "theirs")).ok());
  ASSERT_TRUE(orders.remove("p", "2", ETag::any()).ok());
  EXPECT_EQ(said(loader.finish()), kTableAlreadyExists);
}

TEST_F(LoaderTest, RefusesANameThatWasTakenMeanwhile) {
  Loader loader = load();
  add(loader, "1");
  Table theirs = bench_.table("orders");
  EXPECT_EQ(said(loader.finish()), kTableAlreadyExists);
  EXPECT_EQ(value_in(theirs, "p", "1"), "-");
  EXPECT_TRUE(theirs.insert(with_value("p", "1", "x")).ok());
}

TEST_F(LoaderTest, RefusesATableOrAnAccountThatWasDroppedMeanwhile) {
  bench_.table("Orders");
  Loader into_table = load();
  add(into_table, "1");
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(into_table.finish()), kTableNotFound);

  bench_.table("Orders");
  Loader into_other = load();
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  bench_.table("Orders");
  EXPECT_EQ(said(into_other.finish()), kTableAlreadyExists);

  Loader of_account = load("Fresh");
  add(of_account, "1");
  ASSERT_TRUE(store().drop_account(kAccount).ok());
  EXPECT_EQ(said(of_account.finish()), test::kResourceNotFound);
  ASSERT_TRUE(store().create_account(kAccount).ok());
  Loader of_earlier = load("Fresh");
  ASSERT_TRUE(store().drop_account(kAccount).ok());
  ASSERT_TRUE(store().create_account(kAccount).ok());
  EXPECT_EQ(said(of_earlier.finish()), test::kResourceNotFound);
  EXPECT_TRUE((*store().list_tables(kAccount)).tables.empty());
}

TEST_F(LoaderTest, TwoAtOnceDoNotDisturbEachOther) {
  Loader first = load("First");
  Loader second = load("Second");
  Loader same_name = load("first");
  for (int i = 0; i < 200; ++i) {
    add(first, std::to_string(1000 + i), "1");
    add(second, std::to_string(1000 - i), "2");
    add(same_name, std::to_string(i), "3");
  }
  ASSERT_TRUE(second.finish().ok());
  ASSERT_TRUE(first.finish().ok());
  EXPECT_EQ(said(same_name.finish()), kTableAlreadyExists);
  EXPECT_EQ(value_in(table("First"), "p", "1007"), "1");
  EXPECT_EQ(value_in(table("Second"), "p", "993"), "2");
  EXPECT_EQ(value_in(table("First"), "p", "7"), "-");
}

TEST_F(LoaderTest, TwoIntoOneEmptyTableEndInOneOfThem) {
  bench_.table("Orders");
  Loader first = load();
  Loader second = load();
  add(first, "1");
  add(second, "2");
  ASSERT_TRUE(first.finish().ok());
  EXPECT_EQ(said(second.finish()), kTableAlreadyExists);
  EXPECT_EQ(value_in(table(), "p", "1"), "v");
  EXPECT_EQ(value_in(table(), "p", "2"), "-");
}

TEST_F(LoaderTest, SnapshotsFromBeforeItsEndDoNotSeeIt) {
  bench_.table("Empty");
  const Snapshot before = *store().snapshot();
  Loader fresh = load();
  Loader replaced = load("Empty");
  add(fresh, "1");
  add(replaced, "1");
  const Snapshot during = *store().snapshot();
  ASSERT_TRUE(fresh.finish().ok());
  ASSERT_TRUE(replaced.finish().ok());
  const Snapshot after = *store().snapshot();
  ASSERT_TRUE(store().compact().ok());
  for (const Snapshot& old : {before, during}) {
    EXPECT_EQ(said(table().get("p", "1", {.snapshot = old})), kTableNotFound);
    EXPECT_EQ(value_in(table("Empty"), "p", "1", {.snapshot = old}), "-");
  }
  EXPECT_EQ(value_in(table(), "p", "1", {.snapshot = after}), "v");
  EXPECT_EQ(value_in(table("Empty"), "p", "1", {.snapshot = after}), "v");
}

TEST_F(LoaderTest, ALoadedTableIsDroppedAsAnyOther) {
  Loader loader = load();
  for (int i = 0; i < 500; ++i) add(loader, std::to_string(1000 + i), std::string(200, 'x'));
  ASSERT_TRUE(loader.finish().ok());
  Table orders = table();
  const Snapshot snapshot = *store().snapshot();
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(orders.get("p", "1007")), kTableNotFound);
  EXPECT_EQ(value_in(orders, "p", "1007", {.snapshot = snapshot}), std::string(200, 'x'));
  bench_.open();
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
  ASSERT_TRUE(store().compact().ok());
  const Result<Statistics> figures = store().statistics();
  EXPECT_LT(figures->levels.back().entries, 100u);
  const Result<VerifyReport> report = [&] {
    EXPECT_TRUE(store().close().ok());
    bench_.store.reset();
    return Store::verify(test::kStorePath, bench_.options());
  }();
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 0u);
}

TEST_F(LoaderTest, GivenUpItLeavesTheStoreAsItWas) {
  {
    Loader dropped = load();
    add(dropped, "1");
  }
  Loader aborted = load();
  add(aborted, "1");
  aborted.abort();
  EXPECT_EQ(aborted.add(with_value("p", "2", "v")).code(), Code::kClosed);
  EXPECT_EQ(aborted.finish().code(), Code::kClosed);
  EXPECT_TRUE((*store().list_tables(kAccount)).tables.empty());
  EXPECT_EQ((*store().statistics()).loads, 0u);
}

TEST_F(LoaderTest, AnswersClosedWhenTheStoreWasClosed) {
  Loader loader = load();
  add(loader, "1");
  ASSERT_TRUE(store().close().ok());
  bench_.store.reset();
  EXPECT_EQ(loader.add(with_value("p", "2", "v")).code(), Code::kClosed);
  EXPECT_EQ(loader.finish().code(), Code::kClosed);
  loader.abort();
  bench_.open();
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
}

TEST_F(LoaderTest, ReadOnlyStoresLoadNothing) {
  ASSERT_TRUE(store().close().ok());
  StoreOptions reading = bench_.options();
  reading.read_only = true;
  EXPECT_EQ(bench_.open(reading).load_table(kAccount, "Orders").code(), Code::kReadOnly);
}

TEST_F(LoaderTest, IsThereAfterAReopenAndVerifies) {
  {
    Loader loader = load();
    for (int i = 0; i < 300; ++i) add(loader, std::to_string(i), std::to_string(i));
    ASSERT_TRUE(loader.finish().ok());
    Loader unfinished = load("Unfinished");
    add(unfinished, "1");
  }
  ASSERT_TRUE(store().close().ok());
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(test::kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 0u) << report->findings.front();
  EXPECT_EQ(report->entities, 300u);
  bench_.open();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(value_in(table(), "p", std::to_string(i)), std::to_string(i));
}

TEST_F(LoaderTest, WritersToTheNameBesideItLoseNothing) {
  // In each round a writer and a loader use an empty table. There are two valid outcomes: the loader is refused and the
  // write stays, or the write fails with an error or is in the loaded table.
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    StoreBench bench(seed, test::OneThreadAtATime{});
    Table orders = bench.table("Orders");
    Result<Loader> loader = bench.store->load_table(kAccount, "Orders");
    ASSERT_TRUE(loader.ok());
    ASSERT_TRUE(loader->add(with_value("p", "loaded", "v")).ok());
    Status written;
    Status finished;
    {
      auto writer = bench.machine.scheduler().start(
          "writer", [&] { written = orders.insert(with_value("p", "written", "w")).status(); });
      auto finisher = bench.machine.scheduler().start("finisher", [&] { finished = loader->finish().status(); });
      ASSERT_TRUE(writer.ok() && finisher.ok());
    }
    if (finished.ok()) {
      EXPECT_EQ(value_in(orders, "p", "loaded"), "v");
      EXPECT_TRUE(written.ok() || said(written) == kTableNotFound) << written.to_string();
    } else {
      EXPECT_EQ(said(finished), kTableAlreadyExists);
      EXPECT_EQ(value_in(orders, "p", "loaded"), "-");
      EXPECT_TRUE(written.ok());
    }
    EXPECT_EQ(value_in(orders, "p", "written"), written.ok() ? "w" : "-");
    loader->abort();
    ASSERT_TRUE(bench.store->close().ok());
  }
}

}  // namespace
}  // namespace varve::loader_test
