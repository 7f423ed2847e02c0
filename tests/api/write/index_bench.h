// Owns: the environment of tests of indexes: a store below its doors with one table, and the comparison of entries with
// entities.
// Must never: compare what two different views show.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "api/write/entity_change.h"
#include "format/keys/index_key.h"
#include "tests/api/store_bench.h"
#include "varve/names.h"

namespace varve::test {

using Entries = std::map<std::string, std::string>;

class IndexBench : public ::testing::Test {
 protected:
  void SetUp() override {
    open();
    ASSERT_EQ(said(core_->catalog().create_account(kAccount)), kFine);
    ASSERT_EQ(said(core_->catalog().create_table(orders_)), kFine);
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

  NameEntry& entry() {
    entry_ = core_->catalog().names().find_or_add(orders_.account, orders_.lower);
    return *entry_;
  }
  TableIndex add_index(const std::string& name, const format::IndexDefinition& definition, bool is_ready = true) {
    const Result<TableIndex> made = core_->catalog().create_index(orders_, name, definition);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (is_ready) {
      EXPECT_EQ(said(core_->catalog().end_index_build(orders_, made->id, Status())), kFine);
    }
    return *made;
  }
  std::vector<PreparedWrite> prepared(const std::vector<WriteOperation>& operations) {
    std::vector<PreparedWrite> writes;
    for (const WriteOperation& operation : operations) {
      Result<PreparedWrite> write = prepare_write(Grant(), operation, core_->limits());
      EXPECT_TRUE(write.ok()) << write.status().to_string();
      writes.push_back(*std::move(write));
    }
    return writes;
  }
  Result<ETag> write(const std::vector<WriteOperation>& operations) {
    std::vector<PreparedWrite> writes = prepared(operations);
    return commit_writes(*core_, orders_, entry(), writes, WriteOptions(), operations.size() > 1);
  }

  /// Returns the entries of the table's ready indexes in the view.
  Entries entries_in(const engine::ReadView& view) {
    Entries entries;
    const TableIndexes indexes = *Catalog::find_indexes(view, orders_);
    for (const TableIndex& index : indexes.all) {
      const std::string prefix = format::encode_table(index.id);
      engine::Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
      for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
        entries[std::string(cursor.key())] = std::string(cursor.value());
      }
      EXPECT_EQ(said(cursor.status()), kFine);
    }
    return entries;
  }
  /// Returns the entries that the entities in the view make.
  Entries expected_in(const engine::ReadView& view) {
    Entries entries;
    const TableIndexes indexes = *Catalog::find_indexes(view, orders_);
    const std::string prefix = format::encode_table(*Catalog::resolve_at(view, orders_));
    engine::Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      const format::EncodedEntity entity = *format::EncodedEntity::open(cursor.value());
      for (const TableIndex& index : indexes.all) {
        const auto components = format::index_components(index.definition, cursor.key(), cursor.version(), entity);
        if (!components) continue;
        entries[format::encode_index_key(index.id, *components, cursor.key())] =
            format::encode_index_value(index.definition, entity);
      }
    }
    return entries;
  }
  void expect_whole(const engine::ReadView& view) { EXPECT_EQ(entries_in(view), expected_in(view)); }
  void expect_whole() { expect_whole(core_->backend().view()); }

  StoreBench bench_;
  std::shared_ptr<StoreCore> core_;
  std::shared_ptr<NameEntry> entry_;
  const TableName orders_{std::string(kAccount), "Orders", "orders"};
};

inline format::IndexDefinition by_value() {
  return {{{format::IndexSource::kProperty, "V"}}};
}

inline Entity with_values(std::string_view partition, std::string_view row, std::optional<int> total,
                          std::string_view name) {
  Entity entity{std::string(partition), std::string(row)};
  if (total) entity.set("Total", std::int32_t{*total});
  entity.set("Name", name);
  return entity;
}

}  // namespace varve::test
