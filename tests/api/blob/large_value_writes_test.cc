// Goal: a write of an entity reads and writes only the contents whose owners change, keeps within its limits, and its error
// names the write that failed (BX-20, BX-21).
// Method: a store without a block cache, so that each read of a stored row reads its file. Reads of other rows fail, or
// commits name so many contents that a limit is reached.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/content_rows.h"
#include "api/model/entity_codec.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/api/uneven_text.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"
#include "varve/verify.h"

namespace varve::test::large_value_writes_test {
namespace {

constexpr int kTurns = 2'000;

class LargeValueWrites : public testing::Test {
 protected:
  LargeValueWrites() {
    ResourceOptions resources;
    resources.block_cache_bytes = 0;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
    EXPECT_EQ(said(store().create_account(kAccount)), kFine);
    people_.emplace(value_table(store()));
  }
  /// Verification counts all owners again.
  ~LargeValueWrites() override {
    people_.reset();
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    if (!report.ok()) return;
    for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
  }

  Store& store() { return *bench_.store; }
  Table& people() { return *people_; }
  LargeValue insert(std::string_view row_key, std::size_t bytes, std::uint32_t seed) {
    const Unnamed photo = written(people(), uneven_bytes(bytes, seed));
    EXPECT_EQ(said(people().insert(with_photo(row_key, photo.value))), kFine);
    return photo.value;
  }
  /// Moves all rows into a table, in which the entities "a" and "b" and the heads of contents lie in different blocks.
  void move_to_table() {
    for (const char* around : {"A", "c"}) {
      for (int i = 100; i < 140; ++i) {
        EXPECT_EQ(said(people().insert(
                      with_value("p", around + std::to_string(i), uneven_text(3'000, static_cast<std::uint32_t>(i))))),
                  kFine);
      }
    }
    EXPECT_EQ(said(store().compact()), kFine);
  }
  /// Returns a rule for reads of tables that reading these entities does not need.
  io::FaultRule other_reads_than_of(const std::vector<std::string>& row_keys) {
    known_.clear();
    io::FaultRule noting;  // It matches nothing, but sees all reads.
    noting.kind = io::OperationKind::kRead;
    noting.predicate = [this](const io::Operation& operation) {
      known_.emplace(operation.name, operation.offset);
      return false;
    };
    files().faults().add(noting);
    for (const std::string& row_key : row_keys) EXPECT_TRUE(read(people(), "p", row_key));
    files().faults().clear();
    EXPECT_FALSE(known_.empty());
    io::FaultRule others;
    others.kind = io::OperationKind::kRead;
    others.name_suffix = ".sst";
    others.predicate = [this](const io::Operation& operation) {
      return !known_.contains({std::string(operation.name), operation.offset});
    };
    return others;
  }
  io::MemoryFileSystem& files() { return *bench_.machine.files; }

  StoreBench bench_{41, OneThreadAtATime{}};
  std::optional<Table> people_;
  std::set<std::pair<std::string, std::uint64_t>> known_;
};

TEST_F(LargeValueWrites, BX21_AWriteReadsNoHeadOfAContentThatKeepsItsOwners) {
  const LargeValue photo = insert("a", 30'000, 1);
  {
    const Unnamed scan = written(people(), uneven_bytes(40'000, 2));
    EXPECT_EQ(said(people().merge(Entity("p", "a").set("Scan", scan.value), ETag::any())), kFine);
  }
  EXPECT_EQ(said(people().insert(with_photo("b", photo))), kFine);
  move_to_table();
  io::FaultRule failing = other_reads_than_of({"a", "b"});
  failing.fail_count = io::FaultRule::kFromThenOn;
  files().faults().add(failing);
  EXPECT_EQ(said(people().merge(Entity("p", "a").set("Name", "Ann"), ETag::any())), kFine);
  EXPECT_EQ(said(people().replace(with_photo("b", photo), ETag::any())), kFine) << "it names the same as before";
  EXPECT_EQ(people().remove("p", "b", ETag::any()).code(), Code::kIoError) << "the content loses an owner";
  EXPECT_EQ(people().merge(Entity("p", "a").set("Scan", 1), ETag::any()).code(), Code::kIoError);
  files().faults().clear();
  EXPECT_EQ(said(people().remove("p", "b", ETag::any())), kFine);
  EXPECT_EQ(said(people().merge(Entity("p", "a").set("Scan", 1), ETag::any())), kFine);
  EXPECT_TRUE(photo_in(people(), "a") == uneven_bytes(30'000, 1));
}

TEST_F(LargeValueWrites, BX21_OtherTablesOfATransactionAreNotRead) {
  Table plain = bench_.table("Plain");
  EXPECT_EQ(said(plain.insert(with_value("p", "a", "old"))), kFine);
  for (int i = 100; i < 140; ++i) {  // so that the entity lies in another block than those of the other table
    EXPECT_EQ(
        said(plain.insert(with_value("p", "c" + std::to_string(i), uneven_text(3'000, static_cast<std::uint32_t>(i))))),
        kFine);
  }
  EXPECT_EQ(said(people().insert(with_value("p", "a", "old"))), kFine);
  move_to_table();
  io::FaultRule failing = other_reads_than_of({"a"});
  failing.fail_count = io::FaultRule::kFromThenOn;
  files().faults().add(failing);
  StoreTransaction transaction = *store().begin_transaction();
  transaction.insert_or_replace(plain, with_value("p", "a", "new"))
      .insert_or_replace(people(), with_value("p", "a", "new"));
  EXPECT_EQ(said(transaction.commit()), kFine);
  EXPECT_EQ(value_in(plain, "p", "a"), "new");
  EXPECT_EQ(value_in(people(), "p", "a"), "new");
  EXPECT_FALSE(plain.get("p", "c110").ok()) << "the rows of the table cannot be read";
  files().faults().clear();
}

// The first write holds the locks, and is held up while it reads the heads. Meanwhile the second one is planned.
TEST_F(LargeValueWrites, BX21_AWriteThatWasOvertakenIsPlannedAgain) {
  (void)insert("a", 30'000, 1);
  const LargeValue other = insert("b", 30'000, 2);
  move_to_table();
  io::FaultRule never = other_reads_than_of({"a"});
  never.effect = io::FaultEffect::kNever;
  files().faults().add(never);
  io::Scheduler& scheduler = bench_.machine.scheduler();
  Status first;
  Status second;
  io::Thread holder =
      *scheduler.start("holder", [&] { first = people().replace(with_photo("a", other), ETag::any()).status(); });
  files().await_stuck(1);
  io::Thread waiter = *scheduler.start("waiter", [&] { second = people().remove("p", "a", ETag::any()); });
  for (int i = 0; i < kTurns; ++i) scheduler.yield();
  files().let_go();
  holder.join();
  waiter.join();
  EXPECT_EQ(said(first), kFine);
  EXPECT_EQ(said(second), kFine) << "it let go of the content that the first write gave to the entity";
  EXPECT_EQ(photo_in(people(), "a"), "-");
  EXPECT_TRUE(photo_in(people(), "b") == uneven_bytes(30'000, 2));
}

/// Contents that are all pending in their writers: each has a byte less than a part.
std::vector<Unnamed> written_parts(Table& table, std::size_t count) {
  std::vector<Unnamed> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(written(table, std::string(kPartBytes - 1, 'x')));
  return parts;
}
constexpr std::size_t kPartsMax = limits::kStoreTransactionBytesMax >> 20;

TEST_F(LargeValueWrites, BX20_ACommitWritesOnlySoManyBytesOfNewContents) {
  const std::vector<Unnamed> parts = written_parts(people(), kPartsMax + 1);
  Entity entity("p", "all");
  for (std::size_t i = 0; i < parts.size(); ++i) entity.set("V" + std::to_string(i), parts[i].value);
  EXPECT_EQ(said(people().insert(entity)), kRequestBodyTooLarge);
  EXPECT_EQ(read(people(), "p", "all"), std::nullopt);
  std::vector<WriteOperation> writes{WriteOperation::insert(Entity("p", "plain"))};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    writes.push_back(WriteOperation::insert(with_photo(std::to_string(i), parts[i].value)));
  }
  const Status refused = people().execute(writes).status();
  EXPECT_EQ(said(refused), kRequestBodyTooLarge);
  EXPECT_EQ(refused.operation_index(), kPartsMax + 1);
  EXPECT_EQ(read(people(), "p", "plain"), std::nullopt);
  entity.remove("V0");
  EXPECT_EQ(said(people().insert(entity)), kFine);
}

TEST_F(LargeValueWrites, BX20_FullPartsAreWrittenBeforeTheCommit) {
  Entity entity("p", "all");
  std::vector<Unnamed> values;
  for (std::size_t i = 0; i <= kPartsMax; ++i) {
    values.push_back(written(people(), std::string(kPartBytes, 'x')));
    entity.set("V" + std::to_string(i), values.back().value);
  }
  EXPECT_EQ(said(people().insert(entity)), kFine);
}

TEST_F(LargeValueWrites, BX20_ATransactionCountsItsEntitiesAndNewContentsTogether) {
  const std::vector<Unnamed> parts = written_parts(people(), 1);
  const Unnamed small = written(people(), "small");
  for (const bool fits : {false, true}) {
    StoreTransaction transaction = *store().begin_transaction();
    std::size_t bytes = 0;
    std::size_t writes = 0;
    for (; bytes < limits::kStoreTransactionBytesMax - 100'000; ++writes) {
      const Entity entity = with_value("p", std::to_string(writes), std::string(30'000, 'x'));
      bytes += encoded_size_bytes(entity);
      transaction.insert(people(), entity);
    }
    transaction.insert(people(), with_photo("photo", fits ? small.value : parts.front().value));
    const Status done = transaction.commit().status();
    EXPECT_EQ(said(done), fits ? kFine : kRequestBodyTooLarge);
    if (!fits) {
      EXPECT_EQ(done.operation_index(), writes);
    }
    EXPECT_EQ(read(people(), "p", "0").has_value(), fits);
  }
}

TEST_F(LargeValueWrites, BX20_AnErrorNamesThePlaceOfTheWriteAmongAllWrites) {
  Table plain = bench_.table("Plain");
  Container photos = *store().create_container(kAccount, "photos");
  const LargeValue gone = written(people(), "text").value;  // Its writer ends here.
  StoreTransaction transaction = *store().begin_transaction();
  transaction.insert(plain, Entity("p", "a"))
      .put(photos, "blob", "content")
      .insert(people(), with_photo("b", gone))
      .insert(plain, Entity("p", "c"));
  const Status refused = transaction.commit().status();
  EXPECT_EQ(said(refused), kLargeValueGone);
  EXPECT_EQ(refused.operation_index(), 2U);
  EXPECT_EQ(read(plain, "p", "a"), std::nullopt);
}

TEST_F(LargeValueWrites, BX20_AContentThatAnEntityNamesWritesNoBytesAgain) {
  const std::vector<Unnamed> parts = written_parts(people(), kPartsMax + 1);  // Their writers stay.
  std::vector<WriteOperation> shares;
  Entity all("p", "all");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(said(people().insert(with_photo("first " + number, parts[i].value))), kFine);
    shares.push_back(WriteOperation::insert(with_photo("second " + number, parts[i].value)));
    all.set("V" + number, parts[i].value);
  }
  EXPECT_EQ(said(people().execute(shares)), kFine);
  EXPECT_EQ(said(people().insert(all)), kFine);
}

}  // namespace
}  // namespace varve::test::large_value_writes_test
