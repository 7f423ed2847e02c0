// Goal: to every rule of the table model, an entity that has ended is absent (E2). A table's rule concerns the writes after
// it (E5). A transaction does not rest on an ended entity.
// Method: each verb on a store with a clock that only the test moves.
#include "varve/table_expiry.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/doors/copied_ends.h"
#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "varve/async.h"
#include "varve/loader.h"
#include "varve/store_transaction.h"

namespace varve::table_expiry_test {
namespace {

using namespace test;
using std::chrono::seconds;

constexpr Said kConflict = {Code::kConflict, ""};

class TableExpiryTest : public ::testing::Test {
 protected:
  TableExpiryTest() { bench_.open(); }
  void SetUp() override { ASSERT_EQ(said(store().create_account(kAccount)), kFine); }

  Store& store() { return *bench_.store; }
  Table table(std::string_view name, const std::optional<TableExpiry>& expiry) {
    Result<Table> created = store().create_table(kAccount, name, {.expiry = expiry});
    EXPECT_EQ(said(created), kFine) << created.status().to_string();
    return *std::move(created);
  }
  Table of_age(seconds age = seconds(10)) { return table("Sessions", TableExpiry::after(age)); }
  void pass(int for_seconds) { bench_.machine.clock.advance(seconds(for_seconds)); }
  DateTime in(int later_seconds) {
    return DateTime{bench_.machine.clock.wall() + static_cast<std::uint64_t>(later_seconds) * 10'000'000};
  }
  Entity ends_at(std::string_view row_key, DateTime end) {
    Entity entity = with_value("p", row_key, "v");
    entity.set("Until", end);
    return entity;
  }
  static std::uint64_t count(const Table& table) {
    const Result<Count> counted = table.count(Scan{});
    EXPECT_EQ(said(counted), kFine);
    return counted.ok() ? counted->entities : 0;
  }

  StoreBench bench_;
};

// -- Reads ------------------------------------------------------------------------------------------------------------

TEST_F(TableExpiryTest, E2_EveryReadFindsNoEndedEntity) {
  Table sessions = of_age();
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "old"))), kFine);
  pass(5);
  ASSERT_EQ(said(sessions.insert(with_value("p", "b", "new"))), kFine);
  EXPECT_EQ(count(sessions), 2u);
  pass(6);
  EXPECT_EQ(value_in(sessions, "p", "a"), "-");
  EXPECT_EQ(value_in(sessions, "p", "b"), "new");
  const std::vector<EntityKey> keys{{"p", "a"}, {"p", "b"}};
  const auto many = sessions.get_many(keys);
  ASSERT_EQ(said(many), kFine);
  EXPECT_FALSE((*many)[0].has_value());
  EXPECT_TRUE((*many)[1].has_value());
  EXPECT_EQ(keys_of(*sessions.scan(Scan{})), std::vector<std::string>{"p/b"});
  Scan filtered;
  filtered.filter = "V ge 'a'";
  EXPECT_EQ(keys_of(*sessions.scan(filtered)), std::vector<std::string>{"p/b"});
  EXPECT_EQ(count(sessions), 1u);
  ASSERT_EQ(said(store().compact()), kFine);
  EXPECT_EQ(keys_of(*sessions.scan(Scan{})), std::vector<std::string>{"p/b"});
}

TEST_F(TableExpiryTest, E1_AnAgeCountsFromTheTimestamp) {
  Table sessions = of_age();
  const Result<ETag> etag = sessions.insert(with_value("p", "a", "v"));
  ASSERT_EQ(said(etag), kFine);
  const std::uint64_t end = etag->timestamp().ticks + 10 * 10'000'000;
  bench_.machine.clock.set_wall(end - 1);
  EXPECT_EQ(value_in(sessions, "p", "a"), "v");
  bench_.machine.clock.set_wall(end);
  EXPECT_EQ(value_in(sessions, "p", "a"), "-");
}

TEST_F(TableExpiryTest, E1_APropertySaysTheEnd) {
  Table events = table("Events", TableExpiry::at("Until"));
  ASSERT_EQ(said(events.insert(ends_at("soon", in(10)))), kFine);
  ASSERT_EQ(said(events.insert(ends_at("later", in(100)))), kFine);
  ASSERT_EQ(said(events.insert(ends_at("past", in(-10)))), kFine);
  ASSERT_EQ(said(events.insert(with_value("p", "never", "v"))), kFine);
  Entity text = with_value("p", "text", "v");
  text.set("Until", "2020-01-01T00:00:00Z");
  ASSERT_EQ(said(events.insert(text)), kFine);
  EXPECT_EQ(value_in(events, "p", "past"), "-");
  EXPECT_EQ(count(events), 4u);
  pass(50);
  EXPECT_EQ(keys_of(*events.scan(Scan{})), (std::vector<std::string>{"p/later", "p/never", "p/text"}));
  pass(100);
  EXPECT_EQ(keys_of(*events.scan(Scan{})), (std::vector<std::string>{"p/never", "p/text"}));
}

TEST_F(TableExpiryTest, E1_ASnapshotNeverChangesItsAnswer) {
  Table sessions = of_age();
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "v"))), kFine);
  ReadOptions then;
  then.snapshot = *store().snapshot();
  pass(20);
  EXPECT_EQ(value_in(sessions, "p", "a"), "-");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(value_in(sessions, "p", "a", then), "v");
    Scan scan;
    scan.read = then;
    EXPECT_EQ(keys_of(*sessions.scan(scan)), std::vector<std::string>{"p/a"});
    ASSERT_EQ(said(store().compact()), kFine);
  }
}

// -- Writes -----------------------------------------------------------------------------------------------------------

TEST_F(TableExpiryTest, E2_EachVerbJudgesAnEndedEntityAsAbsent) {
  Table sessions = of_age();
  for (const char* const row : {"insert", "replace", "merge", "remove", "put", "upsert"}) {
    Entity entity = with_value("p", row, "old");
    entity.set("Old", 1);
    ASSERT_EQ(said(sessions.insert(entity)), kFine);
  }
  const ETag etag = read(sessions, "p", "replace")->etag();
  pass(20);
  EXPECT_EQ(said(sessions.replace(with_value("p", "replace", "new"), etag)), kResourceNotFound);
  EXPECT_EQ(said(sessions.replace(with_value("p", "replace", "new"), ETag::any())), kResourceNotFound);
  EXPECT_EQ(said(sessions.merge(with_value("p", "merge", "new"), ETag::any())), kResourceNotFound);
  EXPECT_EQ(said(sessions.remove("p", "remove", ETag::any())), kResourceNotFound);
  EXPECT_EQ(said(sessions.insert(with_value("p", "insert", "new"))), kFine);
  EXPECT_EQ(said(sessions.insert(with_value("p", "insert", "new"))), kEntityAlreadyExists);
  EXPECT_EQ(said(sessions.insert_or_replace(with_value("p", "put", "new"))), kFine);
  EXPECT_EQ(said(sessions.insert_or_merge(with_value("p", "upsert", "new"))), kFine);
  EXPECT_EQ(read(sessions, "p", "upsert")->find("Old"), nullptr) << "a merge kept properties of an ended entity";
  EXPECT_EQ(count(sessions), 3u);
}

TEST_F(TableExpiryTest, EachWriteGivesANewEnd) {
  Table sessions = of_age();
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "1"))), kFine);
  for (int i = 0; i < 5; ++i) {
    pass(8);
    ASSERT_EQ(said(i % 2 == 0 ? sessions.merge(with_value("p", "a", "2"), ETag::any())
                              : sessions.replace(with_value("p", "a", "3"), ETag::any())),
              kFine);
  }
  pass(8);
  EXPECT_NE(value_in(sessions, "p", "a"), "-");
  pass(3);
  EXPECT_EQ(value_in(sessions, "p", "a"), "-");
}

TEST_F(TableExpiryTest, AMergeKeepsOrMovesTheEndOfAProperty) {
  Table events = table("Events", TableExpiry::at("Until"));
  ASSERT_EQ(said(events.insert(ends_at("kept", in(10)))), kFine);
  ASSERT_EQ(said(events.insert(ends_at("moved", in(10)))), kFine);
  ASSERT_EQ(said(events.insert(ends_at("freed", in(10)))), kFine);
  ASSERT_EQ(said(events.merge(with_value("p", "kept", "new"), ETag::any())), kFine);
  ASSERT_EQ(said(events.insert_or_merge(ends_at("moved", in(100)))), kFine);
  ASSERT_EQ(said(events.replace(with_value("p", "freed", "new"), ETag::any())), kFine);
  pass(20);
  EXPECT_EQ(value_in(events, "p", "kept"), "-");
  EXPECT_EQ(value_in(events, "p", "moved"), "v");
  EXPECT_EQ(value_in(events, "p", "freed"), "new");
}

TEST_F(TableExpiryTest, E2_AnEntityGroupTransactionJudgesEndsToo) {
  Table sessions = of_age();
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "old"))), kFine);
  ASSERT_EQ(said(sessions.insert(with_value("p", "b", "old"))), kFine);
  pass(20);
  const std::vector<WriteOperation> refused{WriteOperation::insert(with_value("p", "a", "new")),
                                            WriteOperation::remove("p", "b", ETag::any())};
  const auto failed = sessions.execute(refused);
  EXPECT_EQ(said(failed), kResourceNotFound);
  EXPECT_EQ(failed.status().operation_index(), 1u);
  EXPECT_EQ(count(sessions), 0u);
  const std::vector<WriteOperation> accepted{WriteOperation::insert(with_value("p", "a", "new")),
                                             WriteOperation::insert_or_merge(with_value("p", "b", "new"))};
  EXPECT_EQ(said(sessions.execute(accepted)), kFine);
  EXPECT_EQ(count(sessions), 2u);
  pass(20);
  EXPECT_EQ(count(sessions), 0u);
}

// -- Transactions over tables -----------------------------------------------------------------------------------------

TEST_F(TableExpiryTest, E2_AStoreTransactionJudgesAnEndedEntityAsAbsent) {
  Table sessions = of_age();
  Table people = table("People", std::nullopt);
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "old"))), kFine);
  pass(20);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_EQ(said(transaction), kFine);
  const auto found = transaction->get(sessions, "p", "a");
  ASSERT_EQ(said(found), kFine);
  EXPECT_FALSE(found->has_value());
  transaction->insert(sessions, with_value("p", "a", "new")).insert(people, with_value("q", "a", "stays"));
  EXPECT_EQ(said(transaction->commit()), kFine);
  pass(20);
  EXPECT_EQ(value_in(sessions, "p", "a"), "-");
  EXPECT_EQ(value_in(people, "q", "a"), "stays");
}

TEST_F(TableExpiryTest, AStoreTransactionDoesNotRestOnWhatEndedMeanwhile) {
  Table sessions = of_age();
  Table people = table("People", std::nullopt);
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "v"))), kFine);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE((*transaction->get(sessions, "p", "a")).has_value());
  pass(20);
  ASSERT_TRUE((*transaction->get(sessions, "p", "a")).has_value()) << "a transaction reads at one moment";
  transaction->insert(people, with_value("q", "a", "v"));
  EXPECT_EQ(said(transaction->commit()), kConflict);
  EXPECT_EQ(value_in(people, "q", "a"), "-");
}

TEST_F(TableExpiryTest, AStoreTransactionThatReadAnEndedEntityDoesNotConflictWithItsEnd) {
  Table sessions = of_age();
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "v"))), kFine);
  pass(20);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_FALSE((*transaction->get(sessions, "p", "a")).has_value());
  pass(20);
  transaction->insert(sessions, with_value("p", "b", "v"));
  EXPECT_EQ(said(transaction->commit()), kFine);
}

// -- The rule ---------------------------------------------------------------------------------------------------------

TEST_F(TableExpiryTest, E5_ARuleConcernsWritesFromThenOn) {
  Table orders = table("Orders", std::nullopt);
  ASSERT_EQ(said(orders.insert(with_value("p", "before", "v"))), kFine);
  EXPECT_FALSE((*store().table_expiry(kAccount, "Orders")).has_value());
  ASSERT_EQ(said(store().set_table_expiry(kAccount, "ORDERS", TableExpiry::after(seconds(10)))), kFine);
  EXPECT_EQ(*store().table_expiry(kAccount, "Orders"), TableExpiry::after(seconds(10)));
  ASSERT_EQ(said(orders.insert(with_value("p", "aged", "v"))), kFine);
  ASSERT_EQ(said(store().set_table_expiry(kAccount, "Orders", TableExpiry::at("Until"))), kFine);
  ASSERT_EQ(said(orders.insert(ends_at("dated", in(100)))), kFine);
  ASSERT_EQ(said(store().set_table_expiry(kAccount, "Orders", std::nullopt)), kFine);
  ASSERT_EQ(said(orders.insert(ends_at("free", in(1)))), kFine);
  EXPECT_FALSE((*store().table_expiry(kAccount, "Orders")).has_value());
  pass(50);
  EXPECT_EQ(keys_of(*orders.scan(Scan{})), (std::vector<std::string>{"p/before", "p/dated", "p/free"}));
  pass(100);
  EXPECT_EQ(keys_of(*orders.scan(Scan{})), (std::vector<std::string>{"p/before", "p/free"}));
  ASSERT_EQ(said(orders.merge(with_value("p", "free", "w"), ETag::any())), kFine);
  EXPECT_EQ(value_in(orders, "p", "free"), "w");
}

TEST_F(TableExpiryTest, ARuleSurvivesAReopenAndEndsWithItsTable) {
  (void)of_age();
  const TableInfo created = (*store().list_tables(kAccount)).tables.at(0);
  EXPECT_EQ(created.expiry, TableExpiry::after(seconds(10)));
  pass(5);
  ASSERT_EQ(said(store().set_table_expiry(kAccount, "Sessions", TableExpiry::at("Until"))), kFine);
  EXPECT_EQ((*store().list_tables(kAccount)).tables.at(0).created, created.created);
  bench_.open();
  EXPECT_EQ(*store().table_expiry(kAccount, "Sessions"), TableExpiry::at("Until"));
  Table sessions = *store().open_table(kAccount, "Sessions");
  ASSERT_EQ(said(sessions.insert(ends_at("a", in(10)))), kFine);
  pass(20);
  EXPECT_EQ(count(sessions), 0u);
  ASSERT_EQ(said(store().drop_table(kAccount, "Sessions")), kFine);
  Table again = table("Sessions", std::nullopt);
  ASSERT_EQ(said(again.insert(ends_at("a", in(10)))), kFine);
  ASSERT_EQ(said(sessions.insert(ends_at("b", in(10)))), kFine) << "a handle is by name";
  pass(20);
  EXPECT_EQ(count(again), 2u);
}

TEST_F(TableExpiryTest, ImpossibleRulesAreRefused) {
  Table orders = table("Orders", std::nullopt);
  const auto refused = [&](const TableExpiry& expiry) {
    EXPECT_EQ(said(store().create_table(kAccount, "Other", {.expiry = expiry})),
              said(store().set_table_expiry(kAccount, "Orders", expiry)));
    return said(store().set_table_expiry(kAccount, "Orders", expiry));
  };
  EXPECT_EQ(refused(TableExpiry{}), kInvalidInput);
  EXPECT_EQ(refused({"Until", seconds(1)}), kInvalidInput);
  EXPECT_EQ(refused(TableExpiry::after(seconds(-1))), kInvalidInput);
  EXPECT_EQ(refused(TableExpiry::after(TableExpiry::kAgeMax + std::chrono::milliseconds(1))), kInvalidInput);
  EXPECT_EQ(refused(TableExpiry::at("Timestamp")), kInvalidInput);
  EXPECT_EQ(refused(TableExpiry::at("not a name")), kPropertyNameInvalid);
  EXPECT_EQ(said(store().create_table(kAccount, "Other", {.has_large_values = true, .expiry = TableExpiry::at("U")})),
            kInvalidInput);
  EXPECT_EQ(said(store().create_table(kAccount, "Photos", {.has_large_values = true})), kFine);
  EXPECT_EQ(said(store().set_table_expiry(kAccount, "Photos", TableExpiry::at("U"))), kInvalidInput);
  EXPECT_EQ(said(store().set_table_expiry(kAccount, "Photos", std::nullopt)), kFine);
  EXPECT_EQ(said(store().set_table_expiry(kAccount, "Nothing", TableExpiry::at("U"))), kTableNotFound);
  EXPECT_EQ(said(store().table_expiry(kAccount, "Nothing")), kTableNotFound);
  EXPECT_EQ(said(store().set_table_expiry("nobody", "Orders", TableExpiry::at("U"))), kResourceNotFound);
  EXPECT_EQ(said(store().open_table(kAccount, "Other")), kTableNotFound);
}

TEST_F(TableExpiryTest, AnAgeOfAHundredYearsIsAccepted) {
  Table sessions = table("Sessions", TableExpiry::after(TableExpiry::kAgeMax));
  ASSERT_EQ(said(sessions.insert(with_value("p", "a", "v"))), kFine);
  EXPECT_EQ(value_in(sessions, "p", "a"), "v");
}

TEST_F(TableExpiryTest, ALoadGivesEntitiesTheEndsOfTheirPropertiesInWhateverOrderTheyCome) {
  Table events = table("Events", TableExpiry::at("Until"));
  Result<Loader> loader = store().load_table(kAccount, "Events");
  ASSERT_EQ(said(loader), kFine);
  for (const char* const row : {"b", "d", "a"}) ASSERT_EQ(said(loader->add(ends_at(row, in(10)))), kFine);
  ASSERT_EQ(said(loader->add(with_value("p", "c", "stays"))), kFine);
  Result<LoaderLane> lane = loader->lane();
  ASSERT_EQ(said(lane), kFine);
  ASSERT_EQ(said(lane->add(ends_at("e", in(10)))), kFine);
  ASSERT_EQ(said(loader->finish()), kFine);
  EXPECT_EQ(count(events), 5u);
  pass(11);
  EXPECT_EQ(count(events), 1u);
  EXPECT_EQ(value_in(events, "p", "c"), "stays");
  EXPECT_EQ(said(events.insert(with_value("p", "a", "new"))), kFine);
  EXPECT_EQ(*store().table_expiry(kAccount, "Events"), TableExpiry::at("Until"));
}

TEST_F(TableExpiryTest, TheAgesOfALoadCountFromItsBeginning) {
  Table sessions = of_age();
  Result<Loader> loader = store().load_table(kAccount, "Sessions");
  ASSERT_EQ(said(loader), kFine);
  ASSERT_EQ(said(loader->add(with_value("p", "a", "v"))), kFine);
  pass(6);
  ASSERT_EQ(said(loader->add(with_value("p", "b", "v"))), kFine);
  ASSERT_EQ(said(loader->finish()), kFine);
  EXPECT_EQ(count(sessions), 2u);
  pass(6);
  EXPECT_EQ(count(sessions), 0u);
  EXPECT_EQ(said(sessions.insert(with_value("p", "c", "v"))), kFine);  // The rule has outlived the load.
  EXPECT_EQ(count(sessions), 1u);
  pass(11);
  EXPECT_EQ(count(sessions), 0u);
}

TEST_F(TableExpiryTest, AStoreThatUsedNoExpiryHasNoFeature) {
  Table orders = table("Orders", std::nullopt);
  ASSERT_EQ(said(orders.insert(with_value("p", "a", "v"))), kFine);
  EXPECT_EQ(said(store().set_table_expiry(kAccount, "Orders", std::nullopt)), kFine);
  EXPECT_EQ(said(store().set_table_expiry(kAccount, "Nothing", TableExpiry::at("U"))), kTableNotFound);
  EXPECT_EQ(said(store().create_table(kAccount, "Orders", {.expiry = TableExpiry::at("U")})), kTableAlreadyExists);
  EXPECT_EQ(store().create_table("nobody", "Orders", {.expiry = TableExpiry::at("U")}).status().code(),
            Code::kNotFound);
  bench_.store.reset();
  const auto engine = bench_.machine.open();
  ASSERT_TRUE(engine.ok());
  EXPECT_FALSE((*engine)->has_ends());
}

TEST_F(TableExpiryTest, AsynchronousVerbsJudgeEnds) {
  Table sessions = of_age();
  const AsyncTable async(sessions);
  ASSERT_EQ(said(varve::wait(async.insert(with_value("p", "a", "old")))), kFine);
  EXPECT_TRUE((*varve::wait(async.get("p", "a"))).has_value());
  pass(20);
  EXPECT_FALSE((*varve::wait(async.get("p", "a"))).has_value());
  EXPECT_EQ(said(varve::wait(async.merge(with_value("p", "a", "new"), ETag::any()))), kResourceNotFound);
  EXPECT_EQ(said(varve::wait(async.insert(with_value("p", "a", "new")))), kFine);
  EXPECT_EQ(value_in(sessions, "p", "a"), "new");
  pass(20);
  EXPECT_EQ(value_in(sessions, "p", "a"), "-");
}

TEST_F(TableExpiryTest, E5_ACopyGivesEachEntityTheEndThatItHas) {
  Table from = table("From", std::nullopt);
  ASSERT_EQ(said(from.insert(with_value("p", "before", "v"))), kFine);
  ASSERT_EQ(said(store().set_table_expiry(kAccount, "From", TableExpiry::after(seconds(10)))), kFine);
  ASSERT_EQ(said(from.insert(with_value("p", "aged", "v"))), kFine);
  ASSERT_EQ(said(store().set_table_expiry(kAccount, "From", TableExpiry::at("Until"))), kFine);
  ASSERT_EQ(said(from.insert(ends_at("dated", in(100)))), kFine);
  ASSERT_EQ(said(from.insert(ends_at("past", in(-100)))), kFine);
  pass(5);
  Table to = table("Target", TableExpiry::after(seconds(1)));
  const Result<Snapshot> snapshot = store().snapshot();
  const Result<CopiedEnds> ends = CopiedEnds::of(*snapshot, kAccount, "FROM");
  ASSERT_EQ(said(ends), kFine);
  Result<Loader> loader = store().load_table(kAccount, "Target");
  ASSERT_EQ(said(loader), kFine);
  const Result<Page> page = from.scan(Scan{});
  ASSERT_EQ(page->entities.size(), 3U);
  for (const Entity& entity : page->entities) {
    ASSERT_EQ(said(CopiedEnds::add(*loader, entity, *ends->end_of(entity))), kFine);
  }
  ASSERT_EQ(said(loader->finish()), kFine);
  EXPECT_EQ(keys_of(*to.scan(Scan{})), (std::vector<std::string>{"p/aged", "p/before", "p/dated"}));
  pass(6);
  EXPECT_EQ(keys_of(*to.scan(Scan{})), (std::vector<std::string>{"p/before", "p/dated"}));
  EXPECT_NE(*ends->end_of(Entity("p", "aged")), 0U) << "the snapshot shows it";
  pass(100);
  EXPECT_EQ(keys_of(*to.scan(Scan{})), (std::vector<std::string>{"p/before"}));
  EXPECT_EQ(said(CopiedEnds::of(*snapshot, kAccount, "Absent")), kTableNotFound);
}

TEST_F(TableExpiryTest, AVerificationAcceptsEndedEntities) {
  Table sessions = of_age();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(said(sessions.insert(with_value("p", std::to_string(i), "v"))), kFine);
  ASSERT_EQ(said(store().compact()), kFine);
  ASSERT_EQ(said(sessions.insert(with_value("p", "log", "v"))), kFine);
  pass(20);
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_EQ(said(report), kFine) << report.status().to_string();
  EXPECT_TRUE(report->sound()) << report->findings[0];
  EXPECT_EQ(report->entities, 0u);
}

/// The store's CURRENT and manifest are lost too, so the feature is known from the entities alone.
TEST_F(TableExpiryTest, E4_ARepairKeepsEndsAndTheFeature) {
  Table sessions = of_age(seconds(1000));
  for (int i = 0; i < 30; ++i) {
    const std::string value(i % 3 == 0 ? 25'000 : 20, static_cast<char>('a' + i % 26));
    ASSERT_EQ(said(sessions.insert(with_value("p", std::to_string(100 + i), value))), kFine);
  }
  ASSERT_EQ(said(store().compact()), kFine);
  ASSERT_EQ(said(sessions.insert(with_value("p", "log", "v"))), kFine);
  bench_.store.reset();
  bench_.machine.files->change_disk([](io::MemoryDisk& disk) {
    for (const std::string& name : disk.file_names(kStorePath)) {
      const bool is_lost = name == "CURRENT" || name.starts_with("MANIFEST");
      if (!is_lost) continue;
      EXPECT_TRUE(disk.remove_file(std::string(kStorePath) + "/" + name).ok());
    }
  });
  StoreOptions options = bench_.options();
  options.create_if_absent = false;
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", options);
  ASSERT_EQ(said(report), kFine) << report.status().to_string();
  EXPECT_EQ(report->entities, 31u);
  Result<std::unique_ptr<Store>> repaired = Store::open("/repaired", options);
  ASSERT_EQ(said(repaired), kFine) << repaired.status().to_string();
  const Result<Table> found = (*repaired)->open_table(kAccount, "Sessions");
  ASSERT_EQ(said(found), kFine);
  EXPECT_EQ(count(*found), 31u);
  EXPECT_EQ(value_in(*found, "p", "100"), std::string(25'000, 'a'));
  EXPECT_EQ(*(*repaired)->table_expiry(kAccount, "Sessions"), TableExpiry::after(seconds(1000)));
  pass(2000);
  EXPECT_EQ(count(*found), 0u);
}

}  // namespace
}  // namespace varve::table_expiry_test
