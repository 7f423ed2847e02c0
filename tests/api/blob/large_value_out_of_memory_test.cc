// Goal: if any single allocation of a write or read of large values fails, the error is reported, nothing is half done, and
// the store goes on.
// Method: each verb is repeated with its 1st, 2nd, 3rd... allocation failing, until it needs no more. After each failure the
// entities are read and compared. At the end all owners of contents are verified. It uses this machine's own files, because
// the in-memory file system would allocate too.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/allocation_sweep.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/io/temporary_directory.h"
#include "varve/verify.h"

namespace varve::test::large_value_out_of_memory_test {
namespace {

class LargeValuesOutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.create_if_absent = true;
    Result<std::unique_ptr<Store>> opened = Store::open(path_, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->create_account(kAccount).ok());
    people_.emplace(value_table(*store_));
  }
  void TearDown() override {
    people_.reset();
    store_.reset();
    const Result<VerifyReport> report = Store::verify(path_);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
  }
  Table& people() { return *people_; }
  void expect_photo(std::string_view row_key, const std::string& content) {
    const std::string found = photo_in(people(), row_key);
    EXPECT_TRUE(found == content) << row_key << " has " << found.size() << " bytes: " << found.substr(0, 40);
  }

  const io::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/store";
  std::unique_ptr<Store> store_;
  std::optional<Table> people_;
  const std::string small_ = uneven_bytes(70'000, 1);
  const std::string large_ = uneven_bytes(1'200'000, 2);
};

TEST_F(LargeValuesOutOfMemory, AWriteChangesNothing) {
  for (const std::string& content : {small_, large_}) {
    const Unnamed photo = written(people(), content);
    const Entity entity = with_photo("a RowKey that is longer than a short string", photo.value);
    const std::string row_key = entity.row_key();
    sweep([&] { return people().insert(entity).status(); }, [&](std::uint64_t) { expect_photo(row_key, "-"); });
    expect_photo(row_key, content);
    const Unnamed other = written(people(), "other");
    const Entity next = with_photo(row_key, other.value);
    sweep([&] { return people().insert_or_replace(next).status(); },
          [&](std::uint64_t) { expect_photo(row_key, content); });
    expect_photo(row_key, "other");
    const Entity text = Entity("p", row_key).set("Photo", "a String that is longer than a short string");
    sweep([&] { return people().merge(text, ETag::any()).status(); },
          [&](std::uint64_t) { expect_photo(row_key, "other"); });
    sweep([&] { return people().remove("p", row_key, ETag::any()); },
          [&](std::uint64_t) { EXPECT_TRUE(read(people(), "p", row_key)); });
  }
}

TEST_F(LargeValuesOutOfMemory, ATransactionChangesNothing) {
  const Unnamed first = written(people(), large_);
  ASSERT_TRUE(people().insert(with_photo("a", first.value)).ok());
  const Unnamed second = written(people(), small_);
  sweep(
      [&]() -> Status {
        Result<StoreTransaction> transaction = store_->begin_transaction();
        if (!transaction.ok()) return transaction.status();
        try {
          transaction->insert(people(), with_photo("b", first.value))
              .replace(people(), with_photo("a", second.value), ETag::any());
        } catch (const std::bad_alloc&) {
          return Status(Code::kOutOfMemory, "as the verb says");
        }
        return transaction->commit().status();
      },
      [&](std::uint64_t) {
        expect_photo("a", large_);
        expect_photo("b", "-");
      });
  expect_photo("a", small_);
  expect_photo("b", large_);
}

TEST_F(LargeValuesOutOfMemory, AWriterThatFailedFinishesNothing) {
  const std::string part = uneven_bytes(700'000, 4);
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1'000U);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<LargeValueWriter> writer = people().write_large_value();
    ASSERT_TRUE(writer.ok());
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      for (int i = 0; i < 3 && status.ok(); ++i) status = writer->append(part);
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    EXPECT_EQ(writer->append("more").code(), Code::kOutOfMemory) << "it may have taken a part of the bytes";
    EXPECT_EQ(writer->finish().code(), Code::kOutOfMemory);
  }
  Result<LargeValueWriter> writer = people().write_large_value();
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->append(large_).ok());
  sweep([&] { return writer->finish().status(); }, [&](std::uint64_t) {});
  ASSERT_TRUE(people().insert(with_photo("a", *writer->finish())).ok());
  expect_photo("a", large_);
}

TEST_F(LargeValuesOutOfMemory, AReadReportsIt) {
  const Unnamed photo = written(people(), large_);
  ASSERT_TRUE(people().insert(with_photo("a", photo.value)).ok());
  ASSERT_TRUE(store_->compact().ok());
  const std::vector<std::string> names{"Photo", "a name that is longer than a short string"};
  for (std::uint64_t nth = 1; nth < 10'000; ++nth) {
    const AllocationFailure failure(nth);
    const Result<std::optional<OpenedEntity>> opened = people().get_opened("p", "a", names);
    const bool failed = failure.happened();
    // A read may do without memory that only saves time, for example that of the block cache.
    ASSERT_TRUE(opened.ok() || (failed && opened.code() == Code::kOutOfMemory)) << opened.status().to_string();
    if (!failed) break;
  }
  expect_photo("a", large_);
}

TEST_F(LargeValuesOutOfMemory, ADropChangesNothing) {
  const Unnamed photo = written(people(), small_);
  ASSERT_TRUE(people().insert(with_photo("a", photo.value)).ok());
  sweep([&] { return store_->drop_table(kAccount, "People"); }, [&](std::uint64_t) { expect_photo("a", small_); });
  sweep([&] { return store_->create_table(kAccount, "People", {.has_large_values = true}).status(); },
        [&](std::uint64_t) { EXPECT_EQ(said(store_->open_table(kAccount, "People")), kTableNotFound); });
  expect_photo("a", "-");
}

}  // namespace
}  // namespace varve::test::large_value_out_of_memory_test
