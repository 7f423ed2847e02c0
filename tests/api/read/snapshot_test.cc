#include "varve/snapshot.h"

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::snapshot_test {
namespace {

using namespace test;

class Snapshots : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }

  Table& table() { return *table_; }
  Store& store() { return *bench_.store; }
  ReadOptions at(const Snapshot& snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    return options;
  }
  Result<Page> page_at(const Snapshot& snapshot) {
    Scan scan;
    scan.read = at(snapshot);
    return table().scan(scan);
  }
  void put(std::string_view value) { ASSERT_TRUE(table().insert_or_replace(with_value("p", "r", value)).ok()); }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(Snapshots, SeeWhatWasThereAndNothingLater) {
  put("1");
  const Snapshot first = *store().snapshot();
  put("2");
  const Snapshot second = *store().snapshot();
  ASSERT_TRUE(table().remove("p", "r", ETag::any()).ok());
  const Snapshot third = *store().snapshot();
  put("4");
  EXPECT_EQ(value_in(table(), "p", "r", at(first)), "1");
  EXPECT_EQ(value_in(table(), "p", "r", at(second)), "2");
  EXPECT_EQ(value_in(table(), "p", "r", at(third)), "-");
  EXPECT_EQ(value_in(table(), "p", "r"), "4");
  EXPECT_EQ((*page_at(first)).entities.size(), 1u);
  EXPECT_EQ((*page_at(third)).entities.size(), 0u);
  EXPECT_LT(first.version(), second.version());
  EXPECT_EQ(first.version(), read(table(), "p", "r", at(first))->timestamp());
}

TEST_F(Snapshots, OlderThanADropKeepReadingTheTable) {
  put("old");
  const Snapshot before = *store().snapshot();
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  const Snapshot between = *store().snapshot();
  ASSERT_TRUE(store().create_table(kAccount, "oRDERS").ok());
  put("new");
  EXPECT_EQ(value_in(table(), "p", "r", at(before)), "old");
  EXPECT_EQ((*page_at(before)).entities.size(), 1u);
  EXPECT_EQ(said(table().get("p", "r", at(between))), kTableNotFound);
  EXPECT_EQ(said(page_at(between)), kTableNotFound);
  EXPECT_EQ(value_in(table(), "p", "r"), "new");
}

TEST_F(Snapshots, OlderThanACreationDoNotKnowTheTable) {
  const Snapshot before = *store().snapshot();
  Table later = bench_.table("Later");
  EXPECT_EQ(said(later.get("p", "r", at(before))), kTableNotFound);
  ListOptions options;
  options.snapshot = before;
  EXPECT_EQ((*store().list_tables(kAccount, options)).tables.size(), 1u);
  EXPECT_EQ((*store().list_tables(kAccount)).tables.size(), 2u);
}

TEST_F(Snapshots, OlderThanTheDropOfAnAccountKeepReadingItsTables) {
  put("old");
  const Snapshot before = *store().snapshot();
  ASSERT_TRUE(store().drop_account(kAccount).ok());
  EXPECT_EQ(value_in(table(), "p", "r", at(before)), "old");
  EXPECT_EQ(said(table().get("p", "r")), kTableNotFound);
  ListOptions options;
  options.snapshot = before;
  EXPECT_EQ((*store().list_accounts(options)).accounts.size(), 1u);
  EXPECT_EQ((*store().list_tables(kAccount, options)).tables.size(), 1u);
  EXPECT_EQ((*store().list_accounts()).accounts.size(), 0u);
}

TEST_F(Snapshots, OfAnotherStoreOrOfNoneAreRefused) {
  StoreBench other;
  other.open();
  const Snapshot foreign = *other.store->snapshot();
  for (const Snapshot& snapshot : {foreign, Snapshot()}) {
    EXPECT_EQ(said(table().get("p", "r", at(snapshot))), kInvalidInput);
    EXPECT_EQ(said(page_at(snapshot)), kInvalidInput);
    ListOptions options;
    options.snapshot = snapshot;
    EXPECT_EQ(said(store().list_accounts(options)), kInvalidInput);
    EXPECT_EQ(said(store().list_tables(kAccount, options)), kInvalidInput);
  }
  EXPECT_EQ(Snapshot().version(), DateTime{0});
}

TEST_F(Snapshots, AreCountedUntilTheLastCopyIsGone) {
  EXPECT_EQ((*store().statistics()).open_snapshots, 0u);
  {
    const Snapshot snapshot = *store().snapshot();
    const Snapshot copy = snapshot;
    EXPECT_EQ((*store().statistics()).open_snapshots, 1u);
  }
  EXPECT_EQ((*store().statistics()).open_snapshots, 0u);
}

TEST_F(Snapshots, OutliveTheStoreObjectAndTellThatItIsClosed) {
  put("1");
  const Snapshot snapshot = *store().snapshot();
  const DateTime version = snapshot.version();
  bench_.store.reset();
  EXPECT_EQ(snapshot.version(), version);
  EXPECT_EQ(table().get("p", "r", at(snapshot)).code(), Code::kClosed);
  table_.reset();
  EXPECT_EQ(snapshot.version(), version);
}

TEST_F(Snapshots, SeeAllOfATransactionOrNothing) {
  EntityGroupTransaction transaction;
  for (int i = 0; i < 10; ++i) transaction.insert(with_value("p", std::to_string(i), "x"));
  const Snapshot before = *store().snapshot();
  ASSERT_TRUE(table().execute(transaction).ok());
  const Snapshot after = *store().snapshot();
  EXPECT_EQ((*page_at(before)).entities.size(), 0u);
  EXPECT_EQ((*page_at(after)).entities.size(), 10u);
}

}  // namespace
}  // namespace varve::snapshot_test
