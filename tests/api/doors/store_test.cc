#include "varve/store.h"

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::store_test {
namespace {

using namespace test;

TEST(StoreOpen, MakesAStoreOnlyWhenAskedTo) {
  StoreBench bench;
  StoreOptions options = bench.options();
  options.create_if_absent = false;
  EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kNotFound);
  options.read_only = true;
  EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kNotFound);
  bench.open();
  options.read_only = false;
  bench.open(options);
}

TEST(StoreOpen, ASecondHandleIsRefused) {
  StoreBench bench;
  bench.open();
  EXPECT_EQ(Store::open(kStorePath, bench.options()).code(), Code::kLocked);
  StoreOptions reading = bench.options();
  reading.read_only = true;
  EXPECT_EQ(Store::open(kStorePath, reading).code(), Code::kLocked);
}

TEST(StoreOpen, KeepsItsDefaultDurabilityAndRefusesAnother) {
  StoreBench bench;
  StoreOptions options = bench.options();
  options.default_durability = Durability::kBuffered;
  EXPECT_EQ((*bench.open(options).statistics()).default_durability, Durability::kBuffered);
  EXPECT_EQ((*bench.open().statistics()).default_durability, Durability::kBuffered);
  EXPECT_FALSE((*bench.open().statistics()).buffered_dies_with_process);
  EXPECT_EQ((*bench.open().statistics()).log_writes_in_flight_max, 8u);
  bench.store.reset();
  options.default_durability = Durability::kSync;
  EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kInvalidArgument);
}

TEST(StoreOpen, EverythingIsThereAfterAReopen) {
  StoreBench bench;
  Table table = bench.table("OrDers");
  const ETag etag = *table.insert(with_value("p", "r", "x"));
  ASSERT_TRUE(bench.store->close().ok());
  bench.open();
  EXPECT_TRUE((*bench.store->statistics()).recovery.clean);
  Table again = *bench.store->open_table(kAccount, "orders");
  EXPECT_EQ(read(again, "p", "r")->etag(), etag);
  EXPECT_EQ((*bench.store->list_tables(kAccount)).tables[0].name, "OrDers");
  EXPECT_EQ(said(again.replace(with_value("p", "r", "y"), etag)), kFine);
}

TEST(StoreOpen, ReadOnlyReadsEverythingAndWritesNothing) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_TRUE(table.insert(with_value("p", "r", "x")).ok());
  bench.store.reset();
  StoreOptions reading = bench.options();
  reading.read_only = true;
  const std::uint64_t steps = bench.machine.files->operation_count();
  Store& store = bench.open(reading);
  EXPECT_TRUE((*store.statistics()).read_only);
  Table read_table = *store.open_table(kAccount, "Orders");
  EXPECT_EQ(value_in(read_table, "p", "r"), "x");
  EXPECT_EQ((*read_table.scan(Scan{})).entities.size(), 1u);
  EXPECT_TRUE(store.snapshot().ok());
  EXPECT_TRUE(store.sync().ok());
  EXPECT_EQ(store.checkpoint("/copy").code(), Code::kReadOnly);
  EXPECT_EQ(store.create_account("another").code(), Code::kReadOnly);
  EXPECT_EQ(store.drop_account(kAccount).code(), Code::kReadOnly);
  EXPECT_EQ(store.create_table(kAccount, "Another").code(), Code::kReadOnly);
  EXPECT_EQ(store.drop_table(kAccount, "Orders").code(), Code::kReadOnly);
  EXPECT_EQ(read_table.insert(with_value("p", "s", "x")).code(), Code::kReadOnly);
  EXPECT_EQ(read_table.remove("p", "r", ETag::any()).code(), Code::kReadOnly);
  EXPECT_EQ(read_table.execute(EntityGroupTransaction().insert(Entity("p", "s"))).code(), Code::kReadOnly);
  Result<std::unique_ptr<Store>> second = Store::open(kStorePath, reading);
  EXPECT_TRUE(second.ok()) << second.status().to_string();
  ASSERT_TRUE(store.close().ok());
  EXPECT_EQ(bench.machine.files->operation_count(), steps);
}

TEST(StoreCheckpoint, IsASoundStoreThatGoesItsOwnWay) {
  StoreBench bench;
  Table table = bench.table();
  const ETag etag = *table.insert(with_value("p", "r", "x"));
  ASSERT_TRUE(bench.store->compact().ok());
  ASSERT_TRUE(table.insert(with_value("p", "s", "y")).ok());
  const auto made = bench.store->checkpoint("/copy");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->version.ticks, (*bench.store->statistics()).visible_version.ticks);
  EXPECT_GE(made->files_linked, 2u);
  ASSERT_TRUE(bench.store->drop_table(kAccount, "Orders").ok());

  auto copy = Store::open("/copy", bench.options());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  Table copied = *(*copy)->open_table(kAccount, "Orders");
  EXPECT_EQ(value_in(copied, "p", "s"), "y");
  EXPECT_EQ(said(copied.replace(with_value("p", "r", "z"), etag)), kFine) << "ETags go on";
  ASSERT_TRUE((*copy)->close().ok());
  ASSERT_TRUE(bench.store->close().ok());
  for (const std::string_view path : {kStorePath, std::string_view("/copy")}) {
    const auto report = Store::verify(path, bench.options());
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_TRUE(report->sound());
    EXPECT_EQ(report->entities, path == kStorePath ? 0u : 2u);
  }
}

TEST(StoreClose, EveryVerbOfEveryHandleSaysClosed) {
  StoreBench bench;
  Table table = bench.table();
  Store& store = *bench.store;
  ASSERT_TRUE(store.close().ok());
  EXPECT_TRUE(store.close().ok());
  EXPECT_EQ(store.sync().code(), Code::kClosed);
  EXPECT_EQ(store.checkpoint("/copy").code(), Code::kClosed);
  EXPECT_EQ(store.snapshot().code(), Code::kClosed);
  EXPECT_EQ(store.last_tag().code(), Code::kClosed);
  EXPECT_EQ(store.create_account("another").code(), Code::kClosed);
  EXPECT_EQ(store.drop_account(kAccount).code(), Code::kClosed);
  EXPECT_EQ(store.list_accounts().code(), Code::kClosed);
  EXPECT_EQ(store.create_table(kAccount, "Another").code(), Code::kClosed);
  EXPECT_EQ(store.open_table(kAccount, "Orders").code(), Code::kClosed);
  EXPECT_EQ(store.drop_table(kAccount, "Orders").code(), Code::kClosed);
  EXPECT_EQ(store.list_tables(kAccount).code(), Code::kClosed);
  EXPECT_TRUE(store.statistics().ok());
  const Entity entity = with_value("p", "r", "x");
  for (const bool gone : {false, true}) {
    if (gone) bench.store.reset();
    EXPECT_EQ(table.insert(entity).code(), Code::kClosed);
    EXPECT_EQ(table.replace(entity, ETag::any()).code(), Code::kClosed);
    EXPECT_EQ(table.merge(entity, ETag::any()).code(), Code::kClosed);
    EXPECT_EQ(table.insert_or_replace(entity).code(), Code::kClosed);
    EXPECT_EQ(table.insert_or_merge(entity).code(), Code::kClosed);
    EXPECT_EQ(table.remove("p", "r", ETag::any()).code(), Code::kClosed);
    EXPECT_EQ(table.execute(EntityGroupTransaction().insert(entity)).code(), Code::kClosed);
    EXPECT_EQ(table.get("p", "r").code(), Code::kClosed);
    EXPECT_EQ(table.scan(Scan{}).code(), Code::kClosed);
    EXPECT_EQ(table.name(), "Orders");
  }
}

TEST(StoreStatistics, CountCommitsAndSayWhatReadsSee) {
  StoreBench bench;
  Table table = bench.table();
  const Statistics before = *bench.store->statistics();
  const ETag etag = *table.insert(with_value("p", "r", "x"));
  EXPECT_EQ(table.insert(with_value("p", "r", "x")).code(), Code::kExists);
  const Statistics after = *bench.store->statistics();
  EXPECT_EQ(after.commits, before.commits + 1);
  EXPECT_EQ(after.memtable_entries, before.memtable_entries + 1);
  EXPECT_EQ(after.visible_version, etag.timestamp());
  EXPECT_EQ(after.back_end, "memory");
  EXPECT_EQ(after.health, Health::kHealthy);
  EXPECT_EQ(after.default_durability, Durability::kSync);
  EXPECT_FALSE(after.read_only);
  EXPECT_EQ(after.memtable_bytes_max, ResourceOptions().write_buffer_bytes);
}

class Recorder final : public EventListener, public Logger {
 public:
  void on_health(std::string_view store_path, Health health, const Status& cause) noexcept override {
    path = store_path;
    last = health;
    last_code = cause.code();
  }
  void log(std::string_view, std::string_view) noexcept override {}
  std::string path;
  Health last = Health::kHealthy;
  Code last_code = Code::kOk;
};

TEST(StoreResources, TheListenerHearsThatTheLogFailedAndReadsGoOn) {
  StoreBench bench;
  ResourceOptions resources;
  const auto recorder = std::make_shared<Recorder>();
  resources.listener = recorder;
  resources.logger = recorder;
  StoreOptions options = bench.options();
  options.resources = *Resources::create(resources);
  bench.open(options);
  Table table = bench.table();
  ASSERT_TRUE(table.insert(with_value("p", "r", "x")).ok());
  io::FaultRule failing;
  failing.kind = io::OperationKind::kLogWrite;
  failing.sync_point = "log group commit";  // excludes the header of a segment that is prepared meanwhile
  failing.fail_count = io::FaultRule::kFromThenOn;
  bench.machine.files->faults().add(failing);
  EXPECT_EQ(table.insert(with_value("p", "s", "x")).code(), Code::kUnknown);
  EXPECT_EQ(recorder->last, Health::kPoisoned);
  EXPECT_EQ(recorder->path, kStorePath);
  EXPECT_EQ(table.insert(with_value("p", "t", "x")).code(), Code::kPoisoned);
  EXPECT_EQ(bench.store->drop_table(kAccount, "Orders").code(), Code::kPoisoned);
  EXPECT_EQ(value_in(table, "p", "r"), "x");
  EXPECT_EQ(value_in(table, "p", "s"), "-");
  EXPECT_EQ((*bench.store->statistics()).health, Health::kPoisoned);
}

TEST(StoreResources, MoreThanTheWriteBufferHoldsIsKeptInTables) {
  StoreBench bench;
  ResourceOptions resources;
  resources.write_buffer_bytes = 300'000;
  StoreOptions options = bench.options();
  options.resources = *Resources::create(resources);
  bench.open(options);
  Table table = bench.table();
  for (int i = 0; i < 100; ++i) {
    const Entity entity = Entity("p", std::to_string(i)).set("B", Binary{std::string(10'000, 'b')});
    ASSERT_EQ(said(table.insert(entity)), kFine) << i;
    EXPECT_LE((*bench.store->statistics()).memtable_bytes, 300'000u);
  }
  EXPECT_EQ((*table.scan(Scan{})).entities.size(), 100u);
  EXPECT_EQ(said(bench.store->drop_table(kAccount, "Orders")), kFine);
  EXPECT_EQ(said(bench.store->drop_account(kAccount)), kFine);
}

TEST(StoreResources, AnEntityLargerThanTheWriteBufferIsRefusedAndChangesNothing) {
  StoreBench bench;
  ResourceOptions resources;
  resources.write_buffer_bytes = 30'000;
  StoreOptions options = bench.options();
  options.resources = *Resources::create(resources);
  bench.open(options);
  Table table = bench.table();
  const Entity large = Entity("p", "large").set("B", Binary{std::string(60'000, 'b')});
  EXPECT_EQ(table.insert(large).code(), Code::kNoSpace);
  EXPECT_EQ(value_in(table, "p", "large"), "-");
  EXPECT_EQ(said(table.insert(Entity("p", "small").set("I", 1))), kFine);
}

TEST(StoreResources, StoresThatShareAWriteBufferShareItsLimit) {
  StoreBench first(1);
  StoreBench second(2);
  ResourceOptions resources;
  resources.write_buffer_bytes = 300'000;
  const std::shared_ptr<Resources> shared = *Resources::create(resources);
  std::vector<Table> tables;
  for (StoreBench* bench : {&first, &second}) {
    StoreOptions options = bench->options();
    options.resources = shared;
    bench->open(options);
    tables.push_back(bench->table());
  }
  for (int i = 0; i < 100; ++i) {
    const Entity entity = Entity("p", std::to_string(i)).set("B", Binary{std::string(10'000, 'b')});
    ASSERT_EQ(said(tables[static_cast<std::size_t>(i % 2)].insert(entity)), kFine) << i;
    EXPECT_LE((*first.store->statistics()).memtable_bytes + (*second.store->statistics()).memtable_bytes, 300'000u);
  }
  for (const Table& table : tables) EXPECT_EQ((*table.scan(Scan{})).entities.size(), 50u);
}

TEST(StoreResources, AWriteBufferOfNoBytesIsRefused) {
  ResourceOptions resources;
  resources.write_buffer_bytes = 0;
  EXPECT_EQ(Resources::create(resources).code(), Code::kInvalidArgument);
}

TEST(DamagedStore, ATableFileThatGoesMissingIsDamageAndNoAnswerThatSomethingIsNotThere) {
  StoreBench bench;
  Table orders = bench.table();
  // Causes a merge: the store's own rows, which an open reads, get another file.
  for (const std::string row : {"q", "r"}) {
    ASSERT_TRUE(orders.insert(with_value("p", row, "x")).ok());
    ASSERT_TRUE(bench.store->compact().ok());
  }
  ASSERT_TRUE(bench.store->close().ok());
  Store& store = bench.open();
  orders = *store.open_table(kAccount, "Orders");
  bench.machine.files->change_disk([](io::MemoryDisk& disk) {
    for (const std::string& name : disk.file_names(kStorePath)) {
      if (!name.ends_with(".sst")) continue;
      ASSERT_TRUE(disk.remove_file(std::string(kStorePath) + "/" + name).ok());
    }
  });
  EXPECT_EQ(orders.get("p", "r").code(), Code::kCorruption);
  EXPECT_EQ(orders.scan(Scan{}).code(), Code::kCorruption);
  EXPECT_EQ(orders.remove("p", "r", ETag::any()).code(), Code::kCorruption);
  EXPECT_EQ(orders.replace(with_value("p", "r", "y"), ETag::any()).code(), Code::kCorruption);
  EXPECT_NE(orders.get("p", "r").status().to_string().find(".sst"), std::string::npos);
}

}  // namespace
}  // namespace varve::store_test
