// Goal: the indexes of a table are in its row, each change of them gives the table another shape, and the ids of dropped
// ones are retired in the same commit (I5).
// Method: the catalog of an open store, below its doors.
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "api/catalog/catalog.h"
#include "api/catalog/index_rows.h"
#include "api/catalog/repaired_catalog.h"
#include "api/core/store_core.h"
#include "tests/api/store_bench.h"
#include "varve/names.h"

namespace varve::test::catalog_indexes_test {
namespace {

using format::IndexDefinition;
using format::IndexSource;

IndexDefinition by(const std::string& property) {
  return {{{IndexSource::kProperty, property}}};
}

class CatalogIndexes : public ::testing::Test {
 protected:
  void SetUp() override {
    open();
    ASSERT_EQ(said(catalog().create_account(kAccount)), kFine);
    ASSERT_EQ(said(catalog().create_table(orders_)), kFine);
  }
  void TearDown() override { close(); }

  void open() {
    const StoreOptions options = bench_.options();
    Result<std::shared_ptr<StoreCore>> opened = StoreCore::open(kStorePath, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    core_ = *std::move(opened);
  }
  void close() {
    if (!core_) return;
    EXPECT_EQ(said(core_->close()), kFine);
    core_.reset();
  }
  Catalog& catalog() { return core_->catalog(); }
  TableIndexes indexes() { return *Catalog::find_indexes(core_->backend().view(), orders_); }
  /// Returns the target of a write to the table.
  WriteTarget target() {
    return *catalog().resolve_target(orders_, *catalog().names().find_or_add(orders_.account, orders_.lower));
  }

  StoreBench bench_;
  std::shared_ptr<StoreCore> core_;
  const TableName orders_{std::string(kAccount), "Orders", "orders"};
};

TEST_F(CatalogIndexes, ATableThatNeverHadAnIndexHasTheFirstShape) {
  EXPECT_EQ(indexes().shape, 0U);
  EXPECT_EQ(target().indexes, nullptr);
  EXPECT_FALSE(core_->backend().has_indexes());
}

TEST_F(CatalogIndexes, ADeclaredIndexIsBuildingAndKnownToWriters) {
  const format::TableId table = target().id;  // which also fills the cache
  IndexDefinition definition{{{IndexSource::kProperty, "Total", true}, {IndexSource::kRowKey, ""}}, false, {"Name"}};
  const Result<TableIndex> made = catalog().create_index(orders_, "ByTotal", definition);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->state, IndexState::kBuilding);
  EXPECT_TRUE(format::is_index(made->id));
  EXPECT_EQ(format::account_of(made->id), format::account_of(table));
  EXPECT_NE(format::drawn_for_index(made->id), table);
  EXPECT_TRUE(core_->backend().has_indexes());
  const WriteTarget now = target();
  ASSERT_NE(now.indexes, nullptr);
  EXPECT_EQ(now.id, table);
  EXPECT_EQ(now.indexes->shape, 1U);
  ASSERT_EQ(now.indexes->all.size(), 1U);
  EXPECT_EQ(now.indexes->all.front(), *made);
  EXPECT_EQ(now.indexes->all.front().definition, definition);
  EXPECT_EQ(target().indexes, now.indexes) << "from the cache";
}

TEST_F(CatalogIndexes, IndexesOutliveACloseAndAChangeOfTheRule) {
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", by("Total")).ok());
  ASSERT_EQ(said(catalog().set_table_expiry(orders_, TableExpiry::at("Until"))), kFine);
  const TableIndexes before = indexes();
  close();
  open();
  EXPECT_EQ(indexes().all, before.all);
  EXPECT_EQ(indexes().shape, before.shape);
  const WriteTarget now = target();
  EXPECT_NE(now.expiry, nullptr);
  EXPECT_NE(now.indexes, nullptr);
}

TEST_F(CatalogIndexes, EachChangeGivesTheTableAnotherShape) {
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", by("Total")).ok());
  const Result<TableIndex> second = catalog().create_index(orders_, "ByName", by("Name"));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(target().indexes->shape, 2U);
  ASSERT_EQ(said(catalog().end_index_build(orders_, second->id, Status())), kFine);
  EXPECT_EQ(target().indexes->find("ByName")->state, IndexState::kReady);
  EXPECT_EQ(target().indexes->shape, 3U);
  ASSERT_EQ(said(catalog().drop_index(orders_, "ByName")), kFine);
  ASSERT_EQ(said(catalog().drop_index(orders_, "ByTotal")), kFine);
  const WriteTarget now = target();
  ASSERT_NE(now.indexes, nullptr);
  EXPECT_EQ(now.indexes->shape, 5U);
  EXPECT_TRUE(now.indexes->all.empty());
}

TEST_F(CatalogIndexes, AFailedBuildKeepsItsReasonAndIsNotMaintained) {
  const Result<TableIndex> made = catalog().create_index(orders_, "ByTotal", by("Total"));
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(said(catalog().end_index_build(orders_, made->id, Status::exists("two entities are alike"))), kFine);
  const TableIndexes now = indexes();
  ASSERT_NE(now.find("ByTotal"), nullptr);
  EXPECT_FALSE(now.find("ByTotal")->is_maintained());
  EXPECT_EQ(now.find("ByTotal")->failure, "two entities are alike");
  EXPECT_EQ(said(catalog().end_index_build(orders_, made->id, Status())), kResourceNotFound);
  EXPECT_EQ(said(catalog().drop_index(orders_, "ByTotal")), kFine);
}

TEST_F(CatalogIndexes, WhatCannotBeDeclaredIsRefused) {
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", by("Total")).ok());
  EXPECT_EQ(said(catalog().create_index(orders_, "ByTotal", by("Name"))), kResourceAlreadyExists);
  EXPECT_EQ(said(catalog().create_index(orders_, "", by("Name"))), kInvalidInput);
  EXPECT_EQ(said(catalog().create_index(orders_, "1st", by("Name"))), kInvalidInput);
  EXPECT_EQ(said(catalog().create_index(orders_, std::string(64, 'a'), by("Name"))), kInvalidInput);
  EXPECT_EQ(said(catalog().create_index(orders_, "ByTime", by("Timestamp"))), kInvalidInput);
  EXPECT_EQ(said(catalog().create_index(orders_, "None", {})), kInvalidInput);
  EXPECT_EQ(said(catalog().create_index(orders_, "Unnamed", by("no name"))).code, Code::kInvalidArgument);
  EXPECT_EQ(said(catalog().drop_index(orders_, "ByName")), kResourceNotFound);
  const TableName missing{std::string(kAccount), "Missing", "missing"};
  EXPECT_EQ(said(catalog().create_index(missing, "ByTotal", by("Total"))), kTableNotFound);
  EXPECT_EQ(said(catalog().drop_index(missing, "ByTotal")), kTableNotFound);
  for (std::size_t i = 1; i < kTableIndexesMax; ++i) {
    ASSERT_TRUE(catalog().create_index(orders_, "More" + std::to_string(i), by("Total")).ok());
  }
  EXPECT_EQ(said(catalog().create_index(orders_, "OneMore", by("Total"))), kInvalidInput);
}

TEST_F(CatalogIndexes, ATableWithAUniqueIndexCannotBeLoaded) {
  format::IndexDefinition definition = by("Total");
  definition.is_unique = true;
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", definition).ok());
  const Result<std::unique_ptr<engine::Load>> load = core_->backend().begin_load();
  ASSERT_TRUE(load.ok());
  EXPECT_EQ(said(catalog().begin_load(orders_, **load)), kInvalidInput);
}

TEST_F(CatalogIndexes, ATableThatGetsAUniqueIndexDuringALoadKeepsItsName) {
  const Result<std::unique_ptr<engine::Load>> load = core_->backend().begin_load();
  ASSERT_TRUE(load.ok());
  const Result<LoadTarget> begun = catalog().begin_load(orders_, **load);
  ASSERT_TRUE(begun.ok()) << begun.status().to_string();
  ASSERT_TRUE((*load)->install().ok());
  format::IndexDefinition definition = by("Total");
  definition.is_unique = true;
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", definition).ok());
  EXPECT_EQ(said(catalog().finish_load(orders_, *begun, **load)), kInvalidInput);
  EXPECT_EQ(target().id, *begun->replaced);
}

TEST_F(CatalogIndexes, I8_ALoadGivesFreshIdsToIndexesAlsoToThoseThatCameMeanwhile) {
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", by("Total")).ok());
  ASSERT_EQ(said(catalog().end_index_build(orders_, indexes().all.front().id, Status())), kFine);
  const Result<std::unique_ptr<engine::Load>> load = core_->backend().begin_load();
  ASSERT_TRUE(load.ok());
  const Result<LoadTarget> begun = catalog().begin_load(orders_, **load);
  ASSERT_TRUE(begun.ok()) << begun.status().to_string();
  ASSERT_TRUE((*load)->install().ok());
  ASSERT_TRUE(catalog().create_index(orders_, "ByV", by("V")).ok());
  const TableIndexes before = indexes();
  ASSERT_EQ(said(catalog().finish_load(orders_, *begun, **load)), kFine);
  EXPECT_EQ(target().id, begun->id);
  const TableIndexes after = indexes();
  ASSERT_EQ(after.all.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after.all[i].name, before.all[i].name);
    EXPECT_EQ(after.all[i].state, IndexState::kBuilding);
    for (const TableIndex& old : before.all) EXPECT_NE(after.all[i].id, old.id);
  }
  EXPECT_NE(after.all[0].id, after.all[1].id);
  const Result<TableIndex> next = catalog().create_index(orders_, "Next", by("N"));
  ASSERT_TRUE(next.ok());
  for (const TableIndex& index : after.all) EXPECT_GT(next->id, index.id) << "no number is given twice";
}

TEST_F(CatalogIndexes, ADroppedTableTakesItsIndexesWithIt) {
  ASSERT_TRUE(catalog().create_index(orders_, "ByTotal", by("Total")).ok());
  const format::TableId first = indexes().all.front().id;
  ASSERT_EQ(said(catalog().drop_table(orders_.account, orders_.lower)), kFine);
  ASSERT_EQ(said(catalog().create_table(orders_)), kFine);
  EXPECT_EQ(target().indexes, nullptr);
  const Result<TableIndex> again = catalog().create_index(orders_, "ByTotal", by("Total"));
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->id, first);
}

TEST(IndexRows, UnknownFieldsStayAndDamageIsFound) {
  TableIndexes indexes{3, {{"A", format::index_of_drawn(format::make_table_id(1, 5)), IndexState::kReady, by("P")}}};
  indexes.all.front().unknown_fields = std::string("\x0A\x01x", 3);
  format::EntityBuilder empty;
  empty.add_string("Name", "T");
  const std::string plain = empty.finish();
  const std::string row = *with_table_indexes(plain, indexes);
  const auto read = [](const std::string& bytes, format::TableId table) {
    return decode_table_indexes(*format::EncodedEntity::open(bytes), table);
  };
  const Result<TableIndexes> same = read(row, format::make_table_id(1, 2));
  ASSERT_TRUE(same.ok()) << same.status().to_string();
  EXPECT_EQ(same->all, indexes.all);
  EXPECT_EQ(same->shape, 3U);
  EXPECT_EQ(*with_table_indexes(row, *same), row);
  EXPECT_EQ(read(row, format::make_table_id(2, 2)).code(), Code::kCorruption) << "the index of another account";
  indexes.all.push_back(indexes.all.front());
  EXPECT_EQ(read(*with_table_indexes(plain, indexes), format::make_table_id(1, 2)).code(), Code::kCorruption);
  indexes.all.pop_back();
  indexes.all.front().state = static_cast<IndexState>(9);
  EXPECT_EQ(read(*with_table_indexes(plain, indexes), format::make_table_id(1, 2)).code(), Code::kUnsupported);
}

TEST(IndexRows, ARepairedTableBuildsItsIndexesAgain) {
  constexpr format::TableId kTable = format::make_table_id(7, 3);
  constexpr format::TableId kKept = format::index_of_drawn(format::make_table_id(7, 8));
  constexpr format::TableId kDropped = format::index_of_drawn(format::make_table_id(7, 9));
  TableIndexes indexes{
      4, {{"Kept", kKept, IndexState::kReady, by("P")}, {"Dropped", kDropped, IndexState::kReady, by("Q")}}};
  engine::SystemRows rows;
  rows.rows.push_back({account_row_key("shop"), 5, encode_account_row(7), false});
  rows.rows.push_back(
      {table_row_key("shop", "t"), 5, *with_table_indexes(encode_table_row("T", kTable), indexes), false});
  rows.drops_are_known = true;
  rows.is_dropped = [](format::TableId id) { return id == kDropped; };
  RepairedCatalog catalog;
  catalog.take_system_rows(rows);
  EXPECT_TRUE(catalog.keeps(kTable));
  EXPECT_FALSE(catalog.keeps(kKept));
  const Result<std::vector<engine::SystemRow>> mended = catalog.mended_rows(100);
  ASSERT_TRUE(mended.ok()) << mended.status().to_string();
  bool seen = false;
  for (const engine::SystemRow& row : *mended) {
    if (row.key == account_row_key("shop")) {
      EXPECT_EQ((*decode_account_row("shop", row.version, row.value)).next_table, 10U)
          << "above the numbers of indexes";
    }
    if (row.key != table_row_key("shop", "t")) continue;
    seen = true;
    const Result<TableRow> table = decode_table_row("shop", "t", row.version, row.value);
    ASSERT_TRUE(table.ok()) << table.status().to_string();
    ASSERT_EQ(table->indexes.all.size(), 1U);
    EXPECT_EQ(table->indexes.all.front().id, kKept);
    EXPECT_EQ(table->indexes.all.front().state, IndexState::kBuilding);
    EXPECT_EQ(table->created, 5U);
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace varve::test::catalog_indexes_test
