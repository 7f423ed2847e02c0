// Goal: verification counts the owners that entities are, and names the entity whose content is damaged. A repair keeps
// entities with their contents, also those of a drop whose work is not done (BX-41, BX-32).
// Method: bytes of a closed store are flipped, and rows are written without the checks that would refuse them. Then the
// store is verified and repaired.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/blob/content_rows.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/work_rows.h"
#include "engine/base/sync_points.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/blob/large_value_bench.h"
#include "varve/repair.h"
#include "varve/verify.h"

namespace varve::test::large_value_damage_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr format::TableId kPeople = with_large_values(format::make_table_id(1, 1));

class DamagedValues : public testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    ASSERT_EQ(said(bench_.store->create_account(kAccount)), kFine);
    Table people = value_table(*bench_.store);
    const Unnamed first = written(people, uneven_bytes(200'000, 1));
    const Unnamed second = written(people, uneven_bytes(1'300'000, 2));
    first_ = first.value;
    EXPECT_EQ(said(people.insert(with_photo("a", first.value))), kFine);
    EXPECT_EQ(said(people.insert(with_photo("b", first.value))), kFine);
    EXPECT_EQ(said(people.insert(with_photo("c", second.value))), kFine);
    EXPECT_EQ(said(bench_.store->compact()), kFine);
  }
  io::MemoryDisk closed() {
    bench_.store.reset();
    return bench_.machine.files->snapshot();
  }
  /// Writes a row without the checks that would refuse it.
  void plant(const std::string& sort_key, std::string_view value) {
    format::BatchBuilder batch;
    batch.put(sort_key, value);
    commit(batch);
  }
  /// Removes a row, as if it were lost.
  void lose(const std::string& sort_key) {
    format::BatchBuilder batch;
    batch.remove(sort_key);
    commit(batch);
  }
  void commit(format::BatchBuilder& batch) {
    bench_.store.reset();
    auto engine = bench_.machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    engine::CommitRequest request;
    request.batch = batch.finish();
    ASSERT_TRUE((*engine)->commit(std::move(request)).ok());
  }
  static std::string findings_of(io::MemoryDisk disk, std::string_view path = kStorePath) {
    const StoreBench bench(9, std::move(disk));
    const Result<VerifyReport> report = Store::verify(path, bench.options());
    if (!report.ok()) return report.status().to_string();
    std::string all;
    for (const std::string& finding : report->findings) all += finding + "\n";
    return all;
  }
  static bool has_work_of_drop(io::MemoryDisk disk, std::string_view path) {
    Machine machine(8, std::move(disk));
    const auto engine = engine::Engine::open(machine.env(), path, Machine::writable());
    EXPECT_TRUE(engine.ok()) << engine.status().to_string();
    if (!engine.ok()) return false;
    const engine::ReadView view = (*engine)->view();
    const auto row = view.get(work_key({WorkKind::kTable, kPeople, table_fence_of(kPeople)}));
    return row.ok() && row->has_value();
  }
  static void expect_sound(std::string_view path, const StoreBench& bench) {
    const Result<VerifyReport> verified = Store::verify(path, bench.options());
    ASSERT_TRUE(verified.ok()) << verified.status().to_string();
    for (const std::string& finding : verified->findings) ADD_FAILURE() << finding;
  }
  StoreBench bench_{31, OneThreadAtATime{}};
  LargeValue first_;
};

TEST_F(DamagedValues, BX41_VerificationNamesTheEntities) {
  const io::MemoryDisk disk = closed();
  EXPECT_EQ(findings_of(disk), "");
  const std::string found = findings_of(with_flip(disk, uneven_bytes(200'000, 1).substr(100'000, 64)));
  EXPECT_THAT(found, HasSubstr("entity 'p', 'a' of table 'people'"));
  EXPECT_THAT(found, HasSubstr("entity 'p', 'b' of table 'people'"));
  EXPECT_THAT(found, Not(HasSubstr("'c' of table")));
  EXPECT_THAT(found, Not(HasSubstr("counts of their owners")));
}

TEST_F(DamagedValues, BX21_VerificationFindsAnEntityThatDoesNotCount) {
  format::EntityBuilder builder;
  builder.add_string("Photo", "text");
  plant(*format::encode_sort_key(kPeople, "p", "a"), builder.finish());
  EXPECT_THAT(findings_of(closed()), HasSubstr("the names of contents and the counts of their owners differ"));
}

TEST_F(DamagedValues, BX21_VerificationFindsACountThatIsTooHigh) {
  plant(content_head_key(contents_of_account(1), first_.id()),
        encode_content_head({ContentKind::kValue, 3, first_.length(), {}}));
  EXPECT_THAT(findings_of(closed()), HasSubstr("the names of contents and the counts of their owners differ"));
}

TEST_F(DamagedValues, BX41_VerificationComparesTheCrcOfTheWholeContent) {
  plant(content_head_key(contents_of_account(1), first_.id()),
        encode_content_head({ContentKind::kValue, 2, first_.length(), 1234}));
  EXPECT_THAT(findings_of(closed()), HasSubstr("CRC-64"));
}

TEST_F(DamagedValues, BX21_VerificationFindsAnEntityThatNamesAnotherContent) {
  format::EntityBuilder builder;
  builder.add_large_value("Photo", {first_.id() + 1'000'000'000, first_.length()});
  plant(*format::encode_sort_key(kPeople, "p", "new"), builder.finish());
  EXPECT_THAT(findings_of(closed()), HasSubstr("it names a content that is not there"));
}

TEST_F(DamagedValues, BX41_AWriteNamesTheEntityThatItCannotRead) {
  plant(*format::encode_sort_key(kPeople, "p", "a"), "no entity");
  bench_.open();
  Table people = *bench_.store->open_table(kAccount, "People");
  const std::vector<WriteOperation> writes{WriteOperation::insert(Entity("p", "new")),
                                           WriteOperation::remove("p", "a", ETag::any())};
  const Status refused = people.execute(writes).status();
  EXPECT_EQ(refused.code(), Code::kUnsupported) << "of the format";
  EXPECT_EQ(refused.operation_index(), 1U);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("'a'"));
  const Status alone = people.insert_or_replace(Entity("p", "a")).status();
  EXPECT_EQ(alone.code(), Code::kUnsupported) << "it cannot be known what the entity named";
  EXPECT_EQ(alone.operation_index(), std::nullopt);
  EXPECT_EQ(read(people, "p", "new"), std::nullopt);
}

TEST_F(DamagedValues, BX41_ARepairKeepsEntitiesWithTheirContents) {
  const StoreBench bench(9, with_flip(closed(), uneven_bytes(200'000, 1).substr(100'000, 64)));
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->tables, 1U);
  EXPECT_THAT(findings_of(bench.machine.files->snapshot(), "/repaired"), Not(HasSubstr("counts of their owners")));
  Result<std::unique_ptr<Store>> store = Store::open("/repaired", bench.options());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  Table people = *(*store)->open_table(kAccount, "People");
  EXPECT_TRUE(photo_in(people, "c") == uneven_bytes(1'300'000, 2));
  EXPECT_EQ(said(people.remove("p", "a", ETag::any())), kFine) << "an entity with a damaged content can be deleted";
  EXPECT_EQ(said(people.replace(Entity("p", "b"), ETag::any())), kFine);
  Result<Table> next = (*store)->create_table(kAccount, "Next", {.has_large_values = true});
  ASSERT_TRUE(next.ok()) << next.status().to_string();
  EXPECT_EQ(read(*next, "p", "c"), std::nullopt) << "the new table has a number of its own";
  EXPECT_EQ(said((*store)->close()), kFine);
  expect_sound("/repaired", bench);  // No entity names the damaged content any more.
}

TEST_F(DamagedValues, BX41_ARepairWritesAHeadThatWasLost) {
  lose(content_head_key(contents_of_account(1), first_.id()));
  EXPECT_THAT(findings_of(closed()), HasSubstr("it names a content that is not there"));
  const StoreBench bench(9, closed());
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  expect_sound("/repaired", bench);
  const Result<std::unique_ptr<Store>> store = Store::open("/repaired", bench.options());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  Table people = *(*store)->open_table(kAccount, "People");
  const Result<LargeValueReader> reader = (*store)->open_large_value(kAccount, first_.id());
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_TRUE(all_of(*reader) == uneven_bytes(200'000, 1));
  EXPECT_EQ(said(reader->crc64()), kFine);
  EXPECT_EQ(said(people.insert(with_photo("shared", first_))), kFine);
  for (const char* row_key : {"a", "b", "shared"}) {
    EXPECT_TRUE(photo_in(people, row_key) == uneven_bytes(200'000, 1));
    EXPECT_EQ(said(people.remove("p", row_key, ETag::any())), kFine);
  }
  EXPECT_EQ(said((*store)->open_large_value(kAccount, first_.id())), kLargeValueGone) << "the last owner let it go";
}

TEST_F(DamagedValues, BX32_ADropWhoseWorkIsNotDoneIsSoundAndSurvivesARepair) {
  {
    Table people = *bench_.store->open_table(kAccount, "People");
    insert_many(people);
  }
  EXPECT_EQ(said(bench_.store->drop_table(kAccount, "People")), kFine);
  io::SeededRandom random(32);
  io::MemoryDisk disk = bench_.machine.files->process_death(random);
  EXPECT_EQ(findings_of(disk), "");
  EXPECT_TRUE(has_work_of_drop(disk, kStorePath));
  const StoreBench bench(9, std::move(disk));
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  expect_sound("/repaired", bench);
  EXPECT_TRUE(has_work_of_drop(bench.machine.files->snapshot(), "/repaired"));
  io::MemoryDisk repaired = bench.machine.files->snapshot();
  run_outside([&] {
    SettledStore settled(10, std::move(repaired), std::chrono::hours(1), "/repaired");
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), 0U);
    EXPECT_EQ(recount.entities(), 0U);
  });
}

}  // namespace
}  // namespace varve::test::large_value_damage_test
