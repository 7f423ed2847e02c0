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

#include "tests/api/blob/large_value_bench.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"
#include "varve/verify.h"

namespace varve::test::large_value_writes_test {
namespace {

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
  /// Lets reads of tables fail, but for those that reading these entities needs.
  void allow_reads_of(const std::vector<std::string>& row_keys) {
    io::MemoryFileSystem& files = *bench_.machine.files;
    known_.clear();
    files.set_observer([this](const io::Operation& operation, io::Moment) {
      if (operation.kind == io::OperationKind::kRead) known_.emplace(operation.name, operation.offset);
    });
    for (const std::string& row_key : row_keys) EXPECT_TRUE(read(people(), "p", row_key));
    files.set_observer({});
    io::FaultRule others;
    others.kind = io::OperationKind::kRead;
    others.name_suffix = ".sst";
    others.predicate = [this](const io::Operation& operation) {
      return !known_.contains({std::string(operation.name), operation.offset});
    };
    others.fail_count = io::FaultRule::kFromThenOn;
    files.faults().add(others);
  }
  void allow_all_reads() { bench_.machine.files->faults().clear(); }

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
  // Entities between these two and the heads of their contents, so that they lie in different blocks.
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(said(people().insert(with_value("p", "c" + std::to_string(100 + i), std::string(10'000, 'x')))), kFine);
  }
  EXPECT_EQ(said(store().compact()), kFine);
  allow_reads_of({"a", "b"});
  EXPECT_EQ(said(people().merge(Entity("p", "a").set("Name", "Ann"), ETag::any())), kFine);
  EXPECT_EQ(said(people().replace(with_photo("b", photo), ETag::any())), kFine) << "it names the same as before";
  EXPECT_EQ(people().remove("p", "b", ETag::any()).code(), Code::kIoError) << "the content loses an owner";
  EXPECT_EQ(people().merge(Entity("p", "a").set("Scan", 1), ETag::any()).code(), Code::kIoError);
  allow_all_reads();
  EXPECT_EQ(said(people().remove("p", "b", ETag::any())), kFine);
  EXPECT_EQ(said(people().merge(Entity("p", "a").set("Scan", 1), ETag::any())), kFine);
  EXPECT_TRUE(photo_in(people(), "a") == uneven_bytes(30'000, 1));
}

/// Contents that are all pending in their writers: each has as many bytes as a part.
std::vector<Unnamed> written_parts(Table& table, std::size_t count) {
  std::vector<Unnamed> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(written(table, std::string(std::size_t{1} << 20, 'x')));
  return parts;
}
constexpr std::size_t kPartsMax = limits::kStoreTransactionBytesMax >> 20;

TEST_F(LargeValueWrites, BX20_ACommitWritesOnlySoManyBytesOfNewContents) {
  const std::vector<Unnamed> parts = written_parts(people(), kPartsMax + 1);
  Entity entity("p", "all");
  for (std::size_t i = 0; i < parts.size(); ++i) entity.set("V" + std::to_string(i), parts[i].value);
  EXPECT_EQ(said(people().insert(entity)), kRequestBodyTooLarge);
  EXPECT_EQ(read(people(), "p", "all"), std::nullopt);
  entity.remove("V0");
  EXPECT_EQ(said(people().insert(entity)), kFine);
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
