// Goal: a repair saves the data that verifies, names the rest, restores nothing that was dropped, and does not change
// the damaged store.
// Method: small stores with one fault each. tests/lab/repair_test.cc checks the effect of every damage.
#include <algorithm>
#include <cstring>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/manifest/manifest.h"
#include "engine/manifest/manifest_file.h"
#include "engine/manifest/root_file.h"
#include "format/log/file_header.h"
#include "format/table/table_footer.h"
#include "tests/api/store_bench.h"

namespace varve::repair_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kTargetPath = "/target";

/// Maps "table/PartitionKey/RowKey" to ETag and value, for the account's tables.
using Rows = std::map<std::string, std::string>;

Rows rows_of(const Store& store, std::string_view account = kAccount) {
  Rows rows;
  const Result<TablePage> tables = store.list_tables(account);
  EXPECT_TRUE(tables.ok()) << tables.status().to_string();
  if (!tables.ok()) return rows;
  for (const TableInfo& info : tables->tables) {
    const Result<Table> table = store.open_table(account, info.name);
    EXPECT_TRUE(table.ok()) << table.status().to_string();
    const Result<Page> page = table->scan(Scan{});
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    if (!page.ok()) continue;
    for (const Entity& entity : page->entities) {
      rows[info.name + "/" + entity.partition_key() + "/" + entity.row_key()] =
          entity.etag().to_string() + " " + *entity.get<std::string>("V");
    }
  }
  return rows;
}

std::string path_of(std::string_view name) {
  return std::string(kStorePath) + "/" + std::string(name);
}

/// Expects no CURRENT, or a complete store.
void expect_no_half_store(const io::MemoryDisk& disk, const Rows& expected) {
  StoreBench after(9, disk);
  StoreOptions reading = after.options();
  reading.create_if_absent = false;
  const auto store = Store::open(kTargetPath, reading);
  if (store.ok()) {
    EXPECT_EQ(rows_of(**store), expected);
  } else {
    EXPECT_THAT(store.code(), ::testing::AnyOf(Code::kNotFound, Code::kCorruption)) << store.status().to_string();
  }
}

/// A store with rows in table files and in the log, a dropped table, and a tag; and its expected content.
class Repair : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions chosen = bench_.options();
    chosen.default_durability = Durability::kBuffered;
    bench_.open(chosen);
    Table orders = bench_.table("Orders");
    fill(orders, 0, 50);
    ASSERT_TRUE(bench_.store->compact().ok());
    Table dropped = bench_.table("Dropped");
    fill(dropped, 0, 100);
    fill(orders, 50, 100);
    ASSERT_TRUE(bench_.store->compact().ok());  // Causes a merge: the store's own rows get a file of their own.
    ASSERT_TRUE(orders.insert_or_replace(with_value("p", "150", "second")).ok());
    ASSERT_TRUE(orders.remove("p", "151", ETag::any()).ok());
    ASSERT_TRUE(bench_.store->drop_table(kAccount, "Dropped").ok());
    WriteOptions tagged;
    tagged.tag = "position";
    ASSERT_TRUE(orders.insert_or_replace(with_value("q", "1", "last"), tagged).ok());
    expected_ = rows_of(*bench_.store);
    ASSERT_TRUE(bench_.store->close().ok());
    bench_.store.reset();
    ASSERT_EQ(expected_.size(), 100u);
  }

  static void fill(Table& table, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const std::string row = std::to_string(100 + i);
      std::string text = "first " + row + " ";
      for (int j = 0; j < 60; ++j) text.push_back(static_cast<char>('a' + (i * 7919 + j * j * 31) % 26));
      ASSERT_TRUE(table.insert(with_value("p", row, text)).ok());
    }
  }
  StoreOptions options() const { return bench_.options(); }
  io::MemoryDisk disk() const { return bench_.machine.files->snapshot(); }
  void change(const std::function<void(io::MemoryDisk&)>& change) { bench_.machine.files->change_disk(change); }

  /// Returns the files of the store whose names contain this, in the order of their numbers.
  std::vector<std::string> files_named(std::string_view part) const {
    std::vector<std::string> names = disk().file_names(kStorePath);
    std::erase_if(names, [part](const std::string& name) { return name.find(part) == std::string::npos; });
    return names;
  }
  void remove(const std::string& name) {
    change([&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.remove_file(path_of(name)).ok()); });
  }
  void flip(const std::string& name, std::uint64_t offset) {
    change([&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.flip_bit(path_of(name), offset, std::byte{4}).ok()); });
  }
  /// Returns the table files that belong to the store, the one with its own rows first. Unneeded files of a compaction
  /// may exist beside them.
  std::vector<std::string> table_files() const {
    const auto directory = bench_.machine.files->open_directory(kStorePath);
    const auto root = engine::RootFile::load(**directory);
    const auto manifest = engine::read_manifest(**directory, (*root)->root());
    EXPECT_TRUE(manifest.ok()) << manifest.status().to_string();
    std::vector<format::TableFileEntry> tables;
    for (const auto& [number, table] : manifest->files.tables) tables.push_back(table);
    EXPECT_EQ(tables.size(), 2u);
    const auto before = [](const format::TableFileEntry& left, const format::TableFileEntry& right) {
      return left.smallest_key < right.smallest_key;
    };
    std::sort(tables.begin(), tables.end(), before);
    std::vector<std::string> names;
    for (const auto& table : tables) names.push_back(format::file_name(format::FileType::kTable, table.number));
    return names;
  }
  std::string catalog_file() const { return table_files().front(); }

  RepairReport repair() {
    const Result<RepairReport> report = Store::repair(kStorePath, kTargetPath, options());
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    return report.ok() ? *report : RepairReport();
  }
  Rows saved(std::string_view account = kAccount) {
    StoreOptions reading = options();
    reading.create_if_absent = false;
    const auto store = Store::open(kTargetPath, reading);
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    const Rows rows = store.ok() ? rows_of(**store, account) : Rows();
    const auto verified = store.ok() && (*store)->close().ok() ? Store::verify(kTargetPath, options())
                                                               : Result<VerifyReport>(Status(Code::kClosed));
    EXPECT_TRUE(verified.ok() && verified->sound());
    return rows;
  }

  /// Fails each step of a repair in turn, once. A failed read is retried, and the result is complete.
  void expect_every_error_told(std::uint64_t steps_min) {
    const io::MemoryDisk before = disk();
    std::uint64_t errors = 0;
    for (;; ++errors) {
      SCOPED_TRACE(errors);
      StoreBench bench(5, before);
      bench.machine.files->faults().fail_nth(errors, Code::kIoError);
      const Result<RepairReport> report = Store::repair(kStorePath, kTargetPath, bench.options());
      if (bench.machine.files->faults().hit_count() == 0) {
        ASSERT_TRUE(report.ok()) << report.status().to_string();
        break;
      }
      bench.machine.files->faults().clear();
      if (!report.ok()) {
        ASSERT_EQ(report.code(), Code::kIoError) << "the error was not told";
      }
      expect_no_half_store(bench.machine.files->snapshot(), expected_);
      for (const std::string& name : before.file_names(kStorePath)) {
        ASSERT_EQ(*bench.machine.files->snapshot().read_file(path_of(name)), *before.read_file(path_of(name)));
      }
    }
    EXPECT_GT(errors, steps_min);
  }

  StoreBench bench_{1, OneThreadAtATime{}};  // Otherwise the space of dropped tables would be freed at any moment.
  Rows expected_;
};

TEST_F(Repair, OfASoundStoreGivesAnEqualOne) {
  const io::MemoryDisk before = disk();
  std::uint64_t told = 0;
  const Result<RepairReport> report =
      Store::repair(kStorePath, kTargetPath, options(), [&](const RepairReport&) { ++told; });
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->was_sound());
  EXPECT_GE(told, 1u);
  EXPECT_EQ(report->entities, 100u);
  EXPECT_EQ(report->entities_possibly_stale, 0u);
  EXPECT_EQ(report->tables, 1u);
  EXPECT_TRUE(report->files_are_certain && report->options_are_known);
  EXPECT_EQ(saved(), expected_);
  for (const std::string& name : before.file_names(kStorePath)) {
    EXPECT_EQ(*disk().read_file(path_of(name)), *before.read_file(path_of(name))) << name;
  }
  const auto store = Store::open(kTargetPath, options());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(*(*store)->last_tag(), "position");
  EXPECT_EQ((*(*store)->statistics()).default_durability, Durability::kBuffered);
  EXPECT_EQ((*store)->create_table(kAccount, "Orders").code(), Code::kExists);
}

TEST_F(Repair, OfAStoreThatWasKilledTakesWhatTheLogBufferHolds) {
  StoreBench killed(2);
  Table orders = killed.table();
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(orders.insert(with_value("p", std::to_string(i), "b"), buffered).ok());
  const Rows rows = rows_of(*killed.store);
  io::MemoryDisk image = killed.machine.files->process_death(killed.machine.random);
  StoreBench after(3, std::move(image));
  const Result<RepairReport> report = Store::repair(kStorePath, kTargetPath, after.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->was_sound());
  const auto store = Store::open(kTargetPath, after.options());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(rows_of(**store), rows);
}

TEST_F(Repair, NeedsNeitherCurrentNorHeadersNorFootersNorPartitions) {
  remove("CURRENT");
  for (const std::string& name : files_named(".sst")) {
    flip(name, 30);
    flip(name, *disk().file_size_bytes(path_of(name)) - 3);
  }
  for (const std::string& name : files_named(".wal")) flip(name, 20);
  const RepairReport report = repair();
  EXPECT_TRUE(report.lost_nothing());
  EXPECT_FALSE(report.was_sound());
  EXPECT_EQ(report.current.missing, 1u);
  EXPECT_EQ(report.table_files.damaged, 2u);
  EXPECT_EQ(report.log_segments.damaged, files_named(".wal").size());
  EXPECT_EQ(saved(), expected_);
}

TEST_F(Repair, NamesALostBlockAndSavesTheRest) {
  const std::string orders = table_files().back();
  flip(orders, 100);
  const RepairReport report = repair();
  ASSERT_EQ(report.loss_count, 1u);
  const RepairLoss& loss = report.losses.front();
  EXPECT_EQ(loss.file, orders);
  EXPECT_EQ(loss.offset, 64u);
  EXPECT_GT(loss.bytes, 0u);
  EXPECT_GT(loss.entries_max, 0u);
  ASSERT_TRUE(loss.first && loss.newest);
  EXPECT_EQ(loss.first->account, kAccount);
  EXPECT_EQ(loss.first->table, "Orders");
  EXPECT_EQ(loss.first->row_key, "100");
  const Rows rows = saved();
  EXPECT_LT(rows.size(), expected_.size());
  EXPECT_GE(rows.size() + loss.entries_max, expected_.size());
  EXPECT_TRUE(rows.contains("Orders/q/1"));
  for (const auto& [key, row] : rows) EXPECT_EQ(row, expected_.at(key)) << key;
}

TEST_F(Repair, SaysWhatMayBeOlderThanItWasWhenTheLogIsLost) {
  for (const std::string& name : files_named(".wal")) remove(name);
  const RepairReport report = repair();
  EXPECT_FALSE(report.lost_nothing());
  EXPECT_GE(report.log_segments.missing, 1u);
  EXPECT_EQ(report.entities_possibly_stale, report.entities);
  const Rows rows = saved();
  EXPECT_THAT(rows.at("Orders/p/150"), HasSubstr("first 150"));  // the row was replaced
  EXPECT_TRUE(rows.contains("Orders/p/151"));                    // the row was deleted
  EXPECT_FALSE(rows.contains("Orders/q/1"));
}

TEST_F(Repair, SaysFromWhereOnTheLogIsLost) {
  const std::string last = files_named(".wal").back();
  const std::uint64_t size = *disk().file_size_bytes(path_of(last));
  change([&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.truncate(path_of(last), size - 8192).ok()); });
  const RepairReport report = repair();
  ASSERT_EQ(report.loss_count, 1u);
  EXPECT_EQ(report.losses[0].file, last);
  EXPECT_GE(report.losses[0].offset, 4096u);
  EXPECT_TRUE(report.losses[0].oldest && report.losses[0].newest);
  EXPECT_FALSE(report.losses[0].first || report.losses[0].last);
}

TEST_F(Repair, GivesTablesNewNamesWhereTheCatalogIsLost) {
  for (const std::string& name : files_named(".wal")) ASSERT_GT(*disk().file_size_bytes(path_of(name)), 0u);
  remove(catalog_file());
  const RepairReport report = repair();
  EXPECT_THAT(report.renamed_tables, ElementsAre("recovered1/Recovered1"));  // and not the dropped table
  EXPECT_THAT(report.remade_accounts, ElementsAre("recovered1"));
  EXPECT_EQ(report.table_files.missing, 1u);
  const Rows rows = saved("recovered1");
  ASSERT_EQ(rows.size(), expected_.size());
  for (const auto& [key, row] : expected_) EXPECT_EQ(rows.at("Recovered1" + key.substr(6)), row);
  const auto store = Store::open(kTargetPath, options());
  ASSERT_TRUE(store.ok());
  const Result<Table> made = (*store)->create_table("recovered1", "Another");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_TRUE((*made->scan(Scan{})).entities.empty()) << "a number was given again";
}

TEST_F(Repair, WithoutItsManifestIsDoubtfulAndWhole) {
  for (const std::string& name : files_named("MANIFEST")) remove(name);
  const RepairReport report = repair();
  EXPECT_FALSE(report.files_are_certain);
  EXPECT_FALSE(report.options_are_known);
  EXPECT_EQ(report.loss_count, 1u);
  EXPECT_EQ(report.entities_possibly_stale, 100u);
  EXPECT_EQ(saved(), expected_);
}

TEST_F(Repair, WithoutCurrentDoubtsAManifestThatNamesAnotherFileThanTheOneHere) {
  const std::string name = catalog_file();
  change([&](io::MemoryDisk& disk) {
    std::vector<std::byte> bytes = *disk.read_file(path_of(name));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Result<format::FileHeader> header =
        format::decode_file_header(text.substr(0, format::kFileHeaderBytes), format::FileType::kTable);
    ASSERT_TRUE(header.ok()) << header.status().to_string();
    ++header->seed;
    const std::string anothers = format::encode_file_header(*header);
    std::memcpy(bytes.data(), anothers.data(), anothers.size());
    disk.write_file(path_of(name), bytes);
  });
  remove("CURRENT");
  const RepairReport report = repair();
  EXPECT_FALSE(report.files_are_certain);
  EXPECT_FALSE(report.lost_nothing());
}

TEST_F(Repair, LeavesOutWhatNothingNamesWhereDropsAreNotKnown) {
  remove(catalog_file());
  for (const std::string& name : files_named("MANIFEST")) remove(name);
  for (const std::string& name : files_named(".wal")) remove(name);
  const RepairReport report = repair();
  EXPECT_EQ(report.tables, 0u);
  EXPECT_EQ(report.entities, 0u);
  EXPECT_GE(report.entities_left_out, 100u);
  EXPECT_FALSE(report.lost_nothing());
}

TEST_F(Repair, LeavesOutWhatNothingNamesWhereDropsAreNotKnownThoughTheCatalogIsSeenToBeDamaged) {
  const std::string catalog = catalog_file();
  change([&](io::MemoryDisk& disk) {
    std::vector<std::byte> bytes = *disk.read_file(path_of(catalog));
    std::fill(bytes.begin() + format::kFileHeaderBytes, bytes.end(), std::byte{0x5a});
    disk.write_file(path_of(catalog), bytes);
  });
  for (const std::string& name : files_named("MANIFEST")) remove(name);
  for (const std::string& name : files_named(".wal")) remove(name);
  const RepairReport report = repair();
  EXPECT_EQ(report.table_files.damaged, 1u);
  EXPECT_THAT(report.renamed_tables, ElementsAre());  // would contain the dropped table
  EXPECT_EQ(report.entities, 0u);
  EXPECT_GE(report.entities_left_out, 100u);
}

TEST_F(Repair, RefusesWhatItMust) {
  EXPECT_EQ(Store::repair("/absent", kTargetPath, options()).code(), Code::kNotFound);
  change([](io::MemoryDisk& disk) { disk.make_directory("/empty"); });
  EXPECT_EQ(Store::repair("/empty", kTargetPath, options()).code(), Code::kNotFound);
  EXPECT_EQ(Store::repair(kStorePath, kStorePath, options()).code(), Code::kExists);
  EXPECT_EQ(Store::repair(kStorePath, "/store/inside", options()).code(), Code::kInvalidArgument);
  EXPECT_EQ(Store::repair(kStorePath, "/store//inside", options()).code(), Code::kInvalidArgument);
  bench_.open();
  EXPECT_EQ(Store::repair(kStorePath, kTargetPath, options()).code(), Code::kLocked);
  EXPECT_EQ(disk().file_names(kTargetPath), std::vector<std::string>());
  bench_.store.reset();
  repair();
  EXPECT_EQ(Store::repair(kStorePath, kTargetPath, options()).code(), Code::kExists);
}

TEST_F(Repair, TellsEveryErrorAndLeavesNoStore) {
  expect_every_error_told(40);
}

TEST_F(Repair, TellsEveryErrorOfAStoreWhosePartsItLooksFor) {
  remove("CURRENT");
  for (const std::string& name : files_named(".sst")) {
    flip(name, 30);
    flip(name, *disk().file_size_bytes(path_of(name)) - 3);
  }
  for (const std::string& name : files_named(".wal")) flip(name, 20);
  expect_every_error_told(40);
}

TEST_F(Repair, CutShortByThePowerLeavesNoHalfStore) {
  StoreBench bench(6, disk());
  std::vector<io::MemoryDisk> images;
  io::SeededRandom picks(4);
  bench.machine.files->set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& image : bench.machine.files->power_cuts(picks, 4)) images.push_back(std::move(image));
  });
  ASSERT_TRUE(Store::repair(kStorePath, kTargetPath, bench.options()).ok());
  bench.machine.files->set_observer({});
  EXPECT_GT(images.size(), 60u);
  for (const io::MemoryDisk& image : images) {
    expect_no_half_store(image, expected_);
    if (HasFailure()) break;
  }
}

TEST_F(Repair, OnAFullDeviceIsToldAndGivesTheRoomBack) {
  StoreBench bench(7, disk());
  const std::uint64_t used = bench.machine.files->used_bytes();
  bench.machine.files->set_capacity_bytes(used + 8192);
  EXPECT_EQ(Store::repair(kStorePath, kTargetPath, bench.options()).code(), Code::kNoSpace);
  EXPECT_EQ(bench.machine.files->snapshot().file_names(kTargetPath),
            std::vector<std::string>{std::string(engine::kLockName)});
  EXPECT_EQ(bench.machine.files->used_bytes(), used);
}

}  // namespace
}  // namespace varve::repair_test
