// Goal: entities own contents. A content is there as long as a property names it, and leaves in the commit that takes away
// the last one; a refused write changes nothing (BX-01, BX-08, BX-20 to BX-24, BX-31, BX-32).
// Method: entities with large values are written by each verb, and read again. Then the store is closed, and all owners are
// counted again from its rows.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/large_value_maker.h"
#include "format/bytes/crc64.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/blob/large_value_bench.h"
#include "varve/async.h"
#include "varve/loader.h"
#include "varve/store_transaction.h"
#include "varve/verify.h"

namespace varve::test::large_values_test {
namespace {

/// More parts than one commit removes.
constexpr std::size_t kLong = std::size_t{65} << 20;

class LargeValues : public testing::Test {
 protected:
  LargeValues() : bench_(11, OneThreadAtATime{}), people_(value_table(*bench_.store)) {}

  Store& store() { return *bench_.store; }
  Unnamed content(std::size_t bytes, std::uint32_t seed = 1) { return written(people_, uneven_bytes(bytes, seed)); }
  /// Inserts an entity with a new content, and returns its value.
  LargeValue insert(std::string_view row_key, std::size_t bytes, std::uint32_t seed = 1) {
    const Unnamed photo = content(bytes, seed);
    EXPECT_EQ(said(people_.insert(with_photo(row_key, photo.value))), kFine);
    return photo.value;
  }
  /// Closes the store, lets the keeper work, and expects so many contents, all of which have the owners that name them.
  void expect_contents(std::size_t contents) {
    bench_.store.reset();
    io::MemoryDisk disk = bench_.machine.files->snapshot();
    run_outside([&] {
      SettledStore settled(12, std::move(disk), std::chrono::hours(1));
      settled.settle();
      const BlobRecount recount = settled.recount();
      expect_settled(recount);
      EXPECT_EQ(recount.contents(), contents);
    });
  }

  QueueBench bench_;
  Table people_;
};

TEST_F(LargeValues, BX01_ContentOfAnyLengthIsReadBack) {
  std::uint32_t seed = 0;
  for (const std::size_t bytes : std::vector<std::size_t>{0, 1, 300, 65'536, 1'048'576, 1'048'577, 3'200'000}) {
    SCOPED_TRACE(bytes);
    const std::string row_key = std::to_string(bytes);
    const LargeValue value = insert(row_key, bytes, ++seed);
    EXPECT_EQ(value.length(), bytes);
    const std::optional<Entity> entity = read(people_, "p", row_key);
    ASSERT_TRUE(entity);
    EXPECT_EQ(*entity->get<LargeValue>("Photo"), value);
    const Result<LargeValueReader> reader = people_.open_large_value("p", row_key, "Photo");
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    EXPECT_EQ(reader->value(), value);
    EXPECT_TRUE(all_of(*reader) == uneven_bytes(bytes, seed));
    EXPECT_EQ(*reader->crc64(), format::crc64(uneven_bytes(bytes, seed)));
    std::string piece(100, '?');
    const std::size_t middle = bytes / 2;
    const Result<std::size_t> got = reader->read(middle, piece);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_EQ(piece.substr(0, *got), uneven_bytes(bytes, seed).substr(middle, 100));
    EXPECT_EQ(*reader->read(bytes, piece), 0U);
  }
  expect_contents(7);
}

TEST_F(LargeValues, BX01_AValueCountsFortyBytes) {
  const LargeValue value = insert("a", 3'000'000);
  Entity entity = with_photo("a", value);
  const std::size_t with = accounted_size_bytes(entity);
  entity.remove("Photo");
  EXPECT_EQ(with - accounted_size_bytes(entity), 8U + 2 * 5 + 40U);
  Entity full("p", "full");
  for (int i = 0; i < 200; ++i) full.set("V" + std::to_string(i), value);
  EXPECT_EQ(said(people_.insert(full)), kFine) << "neither 64 KiB nor 1 MiB count";
  expect_contents(1);
}

TEST_F(LargeValues, BX01_OtherTablesRefuseIt) {
  const Unnamed photo = content(1'000);
  Table plain = bench_.table("Plain");
  EXPECT_EQ(said(plain.insert(with_photo("a", photo.value))), kInvalidInput);
  EXPECT_EQ(said(plain.insert_or_replace(with_photo("a", photo.value))), kInvalidInput);
  EXPECT_EQ(said(plain.write_large_value()), kInvalidInput);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE(transaction.ok());
  transaction->insert(people_, Entity("p", "a")).insert(plain, with_photo("b", photo.value));
  const Status refused = transaction->commit().status();
  EXPECT_EQ(said(refused), kInvalidInput);
  EXPECT_EQ(refused.operation_index(), 1U);
  EXPECT_EQ(read(people_, "p", "a"), std::nullopt);
  Result<Loader> loader = store().load_table(kAccount, "Loaded");
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ(said(loader->add(with_photo("a", photo.value))), kInvalidInput);
  EXPECT_EQ(said(store().load_table(kAccount, "People")), kInvalidInput);
  EXPECT_EQ(said(people_.insert(with_photo("a", LargeValue()))), kInvalidInput) << "it names nothing";
}

TEST_F(LargeValues, BX01_AListingSaysWhichTablesMayHaveThem) {
  (void)bench_.table("Plain");
  const Result<TablePage> page = store().list_tables(kAccount);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->tables.size(), 2U);
  EXPECT_TRUE(page->tables[0].has_large_values);
  EXPECT_FALSE(page->tables[1].has_large_values);
}

TEST_F(LargeValues, BX21_EachVerbLetsGoOfWhatOnlyItsEntityNamed) {
  (void)insert("removed", 20'000, 1);
  EXPECT_EQ(said(people_.remove("p", "removed", ETag::any())), kFine);
  (void)insert("replaced", 20'000, 2);
  EXPECT_EQ(said(people_.replace(with_value("p", "replaced", "x"), ETag::any())), kFine);
  (void)insert("put over", 20'000, 3);
  EXPECT_EQ(said(people_.insert_or_replace(with_value("p", "put over", "x"))), kFine);
  (void)insert("merged over", 20'000, 4);
  EXPECT_EQ(said(people_.merge(Entity("p", "merged over").set("Photo", "a String"), ETag::any())), kFine);
  (void)insert("merged into", 20'000, 5);
  EXPECT_EQ(said(people_.insert_or_merge(with_value("p", "merged into", "x"))), kFine);
  EXPECT_TRUE(photo_in(people_, "merged into") == uneven_bytes(20'000, 5)) << "a merge keeps other properties";
  (void)insert("long", kLong, 6);
  EXPECT_EQ(said(people_.remove("p", "long", ETag::any())), kFine);
  expect_contents(1);
}

TEST_F(LargeValues, BX21_BX08_EntitiesShareAContentUntilTheLastOneLetsGo) {
  const LargeValue value = insert("a", 1'500'000);
  Table others = value_table(store(), "Others");
  EXPECT_EQ(said(people_.insert(with_photo("b", value))), kFine);
  EXPECT_EQ(said(others.insert(with_photo("c", value).set("Again", value))), kFine);
  EXPECT_EQ(said(people_.remove("p", "a", ETag::any())), kFine);
  EXPECT_EQ(said(people_.replace(with_photo("b", value), ETag::any())), kFine) << "it names the same as before";
  EXPECT_EQ(said(people_.remove("p", "b", ETag::any())), kFine);
  EXPECT_TRUE(photo_in(others, "c") == uneven_bytes(1'500'000));
  EXPECT_EQ(said(others.merge(Entity("p", "c").set("Again", 1), ETag::any())), kFine);
  EXPECT_TRUE(photo_in(others, "c") == uneven_bytes(1'500'000));
  EXPECT_EQ(said(others.remove("p", "c", ETag::any())), kFine);
  EXPECT_EQ(said(people_.insert(with_photo("d", value))), kLargeValueGone) << "nothing names it any more";
  expect_contents(0);
}

TEST_F(LargeValues, BX21_ALongContentThatWasLetGoIsNotNamedAgain) {
  const LargeValue value = insert("a", kLong);
  EXPECT_EQ(said(people_.remove("p", "a", ETag::any())), kFine);
  EXPECT_EQ(said(people_.insert(with_photo("b", value))), kLargeValueGone);
  expect_contents(0);
}

TEST_F(LargeValues, BX21_AWriteThatFailsChangesNothing) {
  const LargeValue value = insert("a", 40'000);
  const Unnamed other = content(50'000, 2);
  EXPECT_EQ(said(people_.insert(with_photo("a", other.value))), kEntityAlreadyExists);
  EXPECT_EQ(said(people_.replace(with_photo("none", other.value), ETag::any())), kResourceNotFound);
  EXPECT_EQ(said(people_.replace(with_photo("a", other.value), ETag::of_timestamp(DateTime{1}))),
            kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(people_.remove("p", "a", ETag::of_timestamp(DateTime{1}))), kUpdateConditionNotSatisfied);
  const std::vector<WriteOperation> writes{WriteOperation::remove("p", "a", ETag::any()),
                                           WriteOperation::insert(with_photo("b", other.value)),
                                           WriteOperation::remove("p", "none", ETag::any())};
  const Status refused = people_.execute(writes).status();
  EXPECT_EQ(said(refused), kResourceNotFound);
  EXPECT_EQ(refused.operation_index(), 2U);
  EXPECT_TRUE(photo_in(people_, "a") == uneven_bytes(40'000));
  EXPECT_EQ(*read(people_, "p", "a")->get<LargeValue>("Photo"), value);
  EXPECT_EQ(photo_in(people_, "b"), "-");
  expect_contents(1);
}

TEST_F(LargeValues, BX21_OneTransactionMovesContentsBetweenEntities) {
  const LargeValue first = insert("a", 30'000, 1);
  const LargeValue second = insert("b", 1'200'000, 2);
  const std::vector<WriteOperation> writes{
      WriteOperation::replace(with_photo("a", second), ETag::any()), WriteOperation::remove("p", "b", ETag::any()),
      WriteOperation::insert(with_photo("c", first)), WriteOperation::insert(with_photo("d", first))};
  EXPECT_EQ(said(people_.execute(writes)), kFine);
  EXPECT_TRUE(photo_in(people_, "a") == uneven_bytes(1'200'000, 2));
  EXPECT_TRUE(photo_in(people_, "c") == uneven_bytes(30'000, 1));
  EXPECT_TRUE(photo_in(people_, "d") == uneven_bytes(30'000, 1));
  expect_contents(2);
}

TEST_F(LargeValues, BX20_EntityContentBlobAndMessageAreOneCommit) {
  Container photos = *store().create_container(kAccount, "photos");
  EXPECT_EQ(said(store().create_account("waiter")), kFine);
  Queue queue = *store().create_queue("waiter", "orders");
  const LargeValue old = insert("old", 20'000, 1);
  const Unnamed fresh = content(2'500'000, 2);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE(transaction.ok());
  transaction->insert(people_, with_photo("new", fresh.value))
      .insert(people_, with_photo("copy", old))
      .remove(people_, "p", "old", ETag::any())
      .put(photos, "blob", uneven_bytes(20'000, 3))
      .put(queue, "0007");
  EXPECT_EQ(photo_in(people_, "new"), "-");
  EXPECT_EQ(said(transaction->commit()), kFine);
  EXPECT_TRUE(photo_in(people_, "new") == uneven_bytes(2'500'000, 2));
  EXPECT_TRUE(photo_in(people_, "copy") == uneven_bytes(20'000, 1));
  EXPECT_TRUE(content_in(photos, "blob") == uneven_bytes(20'000, 3));
  const WriteOperation operation = WriteOperation::remove("p", "new", ETag::any());
  const MessageWrite message = MessageWrite::put(queue, "gone");
  EXPECT_EQ(said(people_.execute_with_messages({&operation, 1}, {&message, 1})), kFine);
  EXPECT_EQ(got_texts(queue, {.count = 32}), (std::vector<std::string>{"0007", "gone"}));
  expect_contents(2);
}

TEST_F(LargeValues, BX20_ATransactionThatIsRefusedNamesNothing) {
  const Unnamed photo = content(1'500'000);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE(transaction.ok());
  transaction->insert(people_, with_photo("a", photo.value)).remove(people_, "p", "none", ETag::any());
  EXPECT_EQ(said(transaction->commit()), kResourceNotFound);
  EXPECT_EQ(photo_in(people_, "a"), "-");
  EXPECT_EQ(said(people_.insert(with_photo("b", photo.value))), kFine) << "the writer keeps it for another commit";
  EXPECT_TRUE(photo_in(people_, "b") == uneven_bytes(1'500'000));
  expect_contents(1);
}

TEST_F(LargeValues, BX04_AContentWhoseWriterEndedIsGone) {
  std::optional<LargeValue> small;
  std::optional<LargeValue> large;
  {
    small = content(500).value;
    large = content(2'100'000, 2).value;
  }
  for (const LargeValue& gone : {*small, *large}) {
    const Status refused = people_.insert(with_photo("a", gone)).status();
    EXPECT_EQ(said(refused), kLargeValueGone);
    EXPECT_EQ(refused.operation_index(), std::nullopt);
    const std::vector<WriteOperation> writes{WriteOperation::insert(Entity("p", "b")),
                                             WriteOperation::insert(with_photo("a", gone)),
                                             WriteOperation::insert(with_photo("c", gone))};
    const Status refused_together = people_.execute(writes).status();
    EXPECT_EQ(said(refused_together), kLargeValueGone);
    EXPECT_EQ(refused_together.operation_index(), 1U);
  }
  EXPECT_EQ(photo_in(people_, "a"), "-");
  EXPECT_EQ(read(people_, "p", "b"), std::nullopt);
  expect_contents(0);
}

TEST_F(LargeValues, BX04_AnotherLengthOfAContentIsRefusedWhoeverOwnsIt) {
  constexpr std::size_t kBytes = 50'000;
  const LargeValue photo = insert("a", kBytes);
  for (const std::uint64_t length : {kBytes - 1, kBytes + 1}) {
    const LargeValue wrong = LargeValueMaker::make({photo.id(), length});
    EXPECT_EQ(said(people_.merge(with_photo("a", wrong), ETag::any())), kLargeValueGone);
    EXPECT_EQ(said(people_.replace(with_photo("a", wrong), ETag::any())), kLargeValueGone);
    const std::vector<WriteOperation> moved{WriteOperation::remove("p", "a", ETag::any()),
                                            WriteOperation::insert(with_photo("b", wrong))};
    const Status refused = people_.execute(moved).status();
    EXPECT_EQ(said(refused), kLargeValueGone);
    EXPECT_EQ(refused.operation_index(), 1U);
    Entity twice = with_photo("two", photo);
    twice.set("Other", photo);
    EXPECT_EQ(said(people_.insert_or_replace(twice)), kFine);
    EXPECT_EQ(said(people_.replace(with_photo("two", wrong), ETag::any())), kLargeValueGone);
    EXPECT_TRUE(photo_in(people_, "a") == uneven_bytes(kBytes));
    EXPECT_TRUE(photo_in(people_, "two") == uneven_bytes(kBytes));
    EXPECT_EQ(said(people_.remove("p", "two", ETag::any())), kFine);
  }
  EXPECT_EQ(said(people_.merge(with_photo("a", photo), ETag::any())), kFine);
  expect_contents(1);
}

TEST_F(LargeValues, BX31_AWriterKeepsItsContentForAnyNumberOfEntities) {
  {
    const Unnamed photo = content(2'100'000);
    for (const char* row_key : {"a", "b", "c"})
      EXPECT_EQ(said(people_.insert(with_photo(row_key, photo.value))), kFine);
    for (const char* row_key : {"a", "b"}) EXPECT_EQ(said(people_.remove("p", row_key, ETag::any())), kFine);
  }
  EXPECT_TRUE(photo_in(people_, "c") == uneven_bytes(2'100'000));
  expect_contents(1);
}

TEST_F(LargeValues, BX31_WhatADeadProcessLeftIsRemovedAfterTheNextOpen) {
  std::vector<Unnamed> left;
  (void)insert("whole", 1'100'000);
  for (std::uint32_t i = 0; i < 3; ++i) left.push_back(content(2'200'000, i));
  io::SeededRandom random(32);
  io::MemoryDisk disk = bench_.machine.files->process_death(random);
  run_outside([&] {
    SettledStore settled(13, std::move(disk));
    settled.wait_for_keeper();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), 1U);
  });
}

TEST_F(LargeValues, BX22_ASnapshotAndACheckpointShowEntityAndContentOfOneMoment) {
  (void)insert("a", 1'100'000, 1);
  const Result<Snapshot> before = store().snapshot();
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(said(store().checkpoint("/copy")), kFine);
  const Unnamed other = content(20'000, 2);
  EXPECT_EQ(said(people_.replace(with_photo("a", other.value), ETag::any())), kFine);
  ReadOptions at;
  at.snapshot = *before;
  EXPECT_TRUE(photo_in(people_, "a", at) == uneven_bytes(1'100'000, 1));
  EXPECT_TRUE(photo_in(people_, "a") == uneven_bytes(20'000, 2));
  EXPECT_EQ(said(store().drop_table(kAccount, "People")), kFine);
  EXPECT_TRUE(photo_in(people_, "a", at) == uneven_bytes(1'100'000, 1)) << "the snapshot sees the dropped table";
  StoreOptions options = bench_.options();
  const Result<std::unique_ptr<Store>> copy = Store::open("/copy", options);
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_TRUE(photo_in(*(*copy)->open_table(kAccount, "People"), "a") == uneven_bytes(1'100'000, 1));
}

TEST_F(LargeValues, BX11_AReaderKeepsItsContent) {
  (void)insert("a", 2'100'000);
  const Result<LargeValueReader> reader = people_.open_large_value("p", "a", "Photo");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(said(people_.remove("p", "a", ETag::any())), kFine);
  EXPECT_EQ(said(store().compact()), kFine);
  EXPECT_TRUE(all_of(*reader) == uneven_bytes(2'100'000));
}

TEST_F(LargeValues, BX11_AReaderThatIsNotUsedForAnHourIsRefused) {
  (void)insert("a", 40'000);
  const Result<LargeValueReader> reader = people_.open_large_value("p", "a", "Photo");
  ASSERT_TRUE(reader.ok());
  bench_.pass(std::chrono::minutes(59));
  EXPECT_TRUE(reader->crc64().ok());
  bench_.pass(std::chrono::minutes(59));
  EXPECT_TRUE(all_of(*reader) == uneven_bytes(40'000));
  bench_.pass(std::chrono::hours(1));
  std::string piece(10, '?');
  EXPECT_EQ(said(reader->read(0, piece)), (Said{Code::kClosed, ""}));
  EXPECT_EQ(said(reader->crc64()), (Said{Code::kClosed, ""}));
  EXPECT_TRUE(photo_in(people_, "a") == uneven_bytes(40'000)) << "a new reader";
}

TEST_F(LargeValues, BX24_AGetOpensValuesOfTheSameMoment) {
  const LargeValue photo = insert("a", 30'000, 1);
  const Unnamed scan = content(40'000, 2);
  EXPECT_EQ(said(people_.merge(Entity("p", "a").set("Scan", scan.value).set("Name", "Ann"), ETag::any())), kFine);
  const std::vector<std::string> names{"Scan", "Photo", "Name", "None"};
  Result<std::optional<OpenedEntity>> opened = people_.get_opened("p", "a", names);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  ASSERT_TRUE(*opened);
  EXPECT_EQ(said(people_.remove("p", "a", ETag::any())), kFine);
  EXPECT_EQ(*(*opened)->entity.get<LargeValue>("Photo"), photo);
  ASSERT_EQ((*opened)->values.size(), 4U);
  EXPECT_TRUE(all_of(*(*opened)->values[0]) == uneven_bytes(40'000, 2));
  EXPECT_TRUE(all_of(*(*opened)->values[1]) == uneven_bytes(30'000, 1));
  EXPECT_FALSE((*opened)->values[2]) << "a String";
  EXPECT_FALSE((*opened)->values[3]);
  EXPECT_FALSE(*people_.get_opened("p", "a", names)) << "there is no entity any more";
  EXPECT_EQ(said(people_.open_large_value("p", "a", "Photo")), kResourceNotFound);
}

TEST_F(LargeValues, BX24_ATransactionOpensValuesAndChecksThatTheyStay) {
  (void)insert("a", 30'000, 1);
  const std::vector<std::string> names{"Photo"};
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE(transaction.ok());
  Result<std::optional<OpenedEntity>> opened = transaction->get_opened(people_, "p", "a", names);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(said(people_.remove("p", "a", ETag::any())), kFine);
  EXPECT_TRUE(all_of(*(*opened)->values[0]) == uneven_bytes(30'000, 1));
  transaction->insert(people_, with_photo("b", *(*opened)->entity.get<LargeValue>("Photo")));
  EXPECT_EQ(transaction->commit().code(), Code::kConflict);
  expect_contents(0);
}

TEST_F(LargeValues, BX21_AsynchronousWritesCountOwnersToo) {
  QueueBench bench(5);  // with threads of its own
  Table people = value_table(*bench.store);
  {
    const Unnamed photo = written(people, uneven_bytes(1'300'000));
    const AsyncTable async(people);
    EXPECT_EQ(said(wait(async.insert(with_photo("a", photo.value)))), kFine);
    EntityGroupTransaction group;
    group.insert(with_photo("b", photo.value)).remove("p", "a", ETag::any());
    EXPECT_EQ(said(wait(async.execute(std::move(group)))), kFine);
    EXPECT_TRUE(photo_in(people, "b") == uneven_bytes(1'300'000));
    EXPECT_EQ(said(wait(async.remove("p", "b", ETag::any()))), kFine);
    EXPECT_EQ(said(wait(AsyncTable(bench.table("Plain")).insert(with_photo("b", photo.value)))), kInvalidInput);
    const Unnamed kept = written(people, uneven_bytes(20'000, 2));
    EXPECT_EQ(said(wait(async.insert(with_photo("c", kept.value)))), kFine);
    EXPECT_EQ(said(wait(async.insert(with_photo("d", kept.value)))), kFine);
    EXPECT_EQ(said(wait(async.insert_or_replace(with_value("p", "c", "x")))), kFine);
  }
  EXPECT_EQ(said(bench.store->close()), kFine);
  const Result<VerifyReport> report = Store::verify(kStorePath, bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
}

// The failed write is the newest state, and never the visible one. So every plan is overtaken by it.
TEST_F(LargeValues, BX21_APoisonedStoreRefusesTheChangeOfAnEntityWhoseLastWriteFailed) {
  (void)insert("a", 20'000, 1);
  const Unnamed second = content(20'000, 2);
  const Unnamed third = content(20'000, 3);
  io::FaultRule failing;
  failing.kind = io::OperationKind::kLogWrite;
  failing.sync_point = "log group commit";
  failing.fail_count = io::FaultRule::kFromThenOn;
  bench_.machine.files->faults().add(failing);
  EXPECT_EQ(people_.replace(with_photo("a", second.value), ETag::any()).code(), Code::kUnknown);
  EXPECT_EQ(people_.replace(with_photo("a", third.value), ETag::any()).code(), Code::kPoisoned);
  EXPECT_EQ(people_.remove("p", "a", ETag::any()).code(), Code::kPoisoned);
  StoreTransaction transaction = *store().begin_transaction();
  transaction.remove(people_, "p", "a", ETag::any());
  EXPECT_EQ(transaction.commit().code(), Code::kPoisoned);
}

TEST_F(LargeValues, BX32_ADropOfTheTableLetsGoOfAllContents) {
  const LargeValue shared = insert("shared", 30'000);
  Table others = value_table(store(), "Others");
  EXPECT_EQ(said(others.insert(with_photo("kept", shared))), kFine);
  for (int i = 0; i < 200; ++i) (void)insert("row " + std::to_string(i), 17'000, static_cast<std::uint32_t>(i));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(said(people_.insert(Entity("p", "plain " + std::to_string(i)))), kFine);
  EXPECT_EQ(said(store().drop_table(kAccount, "People")), kFine);
  EXPECT_EQ(said(people_.get("p", "shared")), kTableNotFound);
  EXPECT_EQ(said(people_.insert(with_photo("late", shared))), kTableNotFound);
  people_ = value_table(store());
  EXPECT_EQ(read(people_, "p", "shared"), std::nullopt) << "the new table of the name is empty";
  EXPECT_TRUE(photo_in(others, "kept") == uneven_bytes(30'000));
  bench_.store.reset();
  io::MemoryDisk disk = bench_.machine.files->snapshot();
  run_outside([&] {
    SettledStore settled(12, std::move(disk), std::chrono::hours(1));
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), 1U);
    EXPECT_EQ(recount.entities(), 1U);
  });
}

TEST_F(LargeValues, BX32_TheWorkOfADropGoesOnAfterADeath) {
  for (int i = 0; i < 100; ++i) (void)insert("row " + std::to_string(i), 17'000, static_cast<std::uint32_t>(i));
  EXPECT_EQ(said(store().drop_table(kAccount, "People")), kFine);
  io::SeededRandom random(32);
  io::MemoryDisk disk = bench_.machine.files->process_death(random);
  run_outside([&] {
    SettledStore settled(33, std::move(disk));
    settled.wait_for_keeper();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), 0U);
    EXPECT_EQ(recount.entities(), 0U);
  });
}

TEST_F(LargeValues, BX32_ADropOfTheAccountTakesTables) {
  const Unnamed photo = content(1'200'000);
  EXPECT_EQ(said(people_.insert(with_photo("a", photo.value))), kFine);
  EXPECT_EQ(said(store().drop_account(kAccount)), kFine);
  EXPECT_EQ(said(store().create_account(kAccount)), kFine);
  people_ = value_table(store());
  EXPECT_EQ(said(people_.insert(with_photo("a", photo.value))), kLargeValueGone) << "it was content of another account";
  EXPECT_EQ(said(store().close()), kFine);
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
}

// The key that was read has no row, so that only the drop can refuse the commit.
TEST_F(LargeValues, BX32_ATransactionThatReadATableWhichWasDroppedChangesNothing) {
  Table plain = bench_.table("Plain");
  insert_many(people_);
  Result<StoreTransaction> transaction = store().begin_transaction();
  ASSERT_TRUE(transaction.ok());
  EXPECT_FALSE(*transaction->get(people_, "p", "none"));
  transaction->insert(plain, Entity("p", "a"));
  EXPECT_EQ(said(store().drop_table(kAccount, "People")), kFine);
  EXPECT_EQ(said(transaction->commit()), kTableNotFound);
  EXPECT_EQ(read(plain, "p", "a"), std::nullopt);
}

TEST_F(LargeValues, BX32_ADropOfTheAccountEndsTheWorkOfItsDroppedTables) {
  (void)insert("a", 20'000);
  insert_many(people_);
  EXPECT_EQ(said(store().drop_table(kAccount, "People")), kFine);
  EXPECT_EQ(said(store().drop_account(kAccount)), kFine);
  io::SeededRandom random(32);
  io::MemoryDisk disk = bench_.machine.files->process_death(random);
  run_outside([&] {
    SettledStore settled(34, std::move(disk));
    settled.wait_for_keeper();
    EXPECT_EQ(settled.recount().work(), 0U);
  });
}

TEST_F(LargeValues, BX32_AWriterOfADroppedAccountFindsNoTable) {
  Result<LargeValueWriter> writer = people_.write_large_value();
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  EXPECT_EQ(said(writer->append(uneven_bytes(900'000))), kFine);
  EXPECT_EQ(said(store().drop_account(kAccount)), kFine);
  EXPECT_EQ(said(writer->append(uneven_bytes(1'000'000))), kTableNotFound) << "the first part is written now";
  EXPECT_EQ(said(writer->append("more")), kTableNotFound);
  EXPECT_EQ(said(writer->finish()), kTableNotFound);
}

TEST_F(LargeValues, BX21_RestrictedHandlesNeedTheRightToWrite) {
  (void)insert("a", 20'000);
  Access reading;
  reading.permissions = *Permissions::parse("r");
  Result<Table> readers = people_.restricted_to(reading);
  ASSERT_TRUE(readers.ok());
  EXPECT_EQ(said(readers->write_large_value()), kPermissionMismatch);
  EXPECT_TRUE(photo_in(*readers, "a") == uneven_bytes(20'000));
  Access adding;
  adding.permissions = *Permissions::parse("a");
  Result<Table> adders = people_.restricted_to(adding);
  ASSERT_TRUE(adders.ok());
  const Unnamed photo = written(*adders, "text");
  EXPECT_EQ(said(adders->insert(with_photo("b", photo.value))), kFine);
  EXPECT_EQ(said(adders->open_large_value("p", "b", "Photo")), kPermissionMismatch);
}

}  // namespace
}  // namespace varve::test::large_values_test
