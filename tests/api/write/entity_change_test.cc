// Goal: an extension of a change sees each operation with the state before and after it, and what it adds to the batch
// is committed with the change or not at all. Damage is reported only of a table that is there.
// Method: changes are made below Table, with an extension that writes a log entity for each operation into a second
// table. An index or a queue would add its entries in the same way.
#include "api/write/entity_change.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/catalog/catalog.h"
#include "api/commit/backend.h"
#include "api/commit/commit.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "api/model/service_error.h"
#include "api/write/entity_write.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "tests/api/store_bench.h"
#include "varve/names.h"

namespace varve::test::entity_change_test {
namespace {

using Kind = WriteOperation::Kind;

/// What an extension got about one operation.
struct Seen {
  Kind kind = Kind::kInsert;
  bool was_read = false;
  bool existed = false;
  std::size_t stored_bytes = 0;
};

/// Adds an entity without properties to the table `log` for each operation, or refuses the operation `refused`.
class Logging final : public Extension {
 public:
  explicit Logging(format::TableId log) : log_(log) {}

  Refusal extend(const engine::Newest* before, const PreparedWrite& after, format::BatchBuilder& batch) override {
    if (seen.size() == refused) return {service_error::entity_already_exists("the value is taken"), 0};
    seen.push_back({after.kind, before != nullptr, before != nullptr && before->value, after.value().size()});
    const std::string row = "row" + std::to_string(seen.size());
    batch.put(*format::encode_sort_key(log_, "log", row), format::EntityBuilder().finish());
    return {};
  }

  std::vector<Seen> seen;
  std::optional<std::size_t> refused;

 private:
  const format::TableId log_;
};

class EntityChanges : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options = bench_.options();
    Result<std::shared_ptr<StoreCore>> opened = StoreCore::open(kStorePath, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    core_ = *std::move(opened);
    ASSERT_EQ(said(core_->catalog().create_account(kAccount)), kFine);
    entities_ = created("Entities");
    log_ = created("Log");
  }
  void TearDown() override {
    if (core_) {
      EXPECT_EQ(said(core_->close()), kFine);
    }
  }

  format::TableId created(const std::string& name) {
    const TableName named{std::string(kAccount), name, lower_case(name)};
    EXPECT_EQ(said(core_->catalog().create_table(named)), kFine);
    return *Catalog::resolve_at(core_->backend().view(), named);
  }

  /// Commits the operations as one change of the table `Entities`, with the extension.
  Result<engine::CommitVersion> change(const std::vector<WriteOperation>& operations, Extension* extension) {
    std::vector<PreparedWrite> writes;
    for (const WriteOperation& operation : operations) {
      Result<PreparedWrite> write = prepare_write(Grant(), operation, core_->limits());
      EXPECT_TRUE(write.ok()) << write.status().to_string();
      writes.push_back(*std::move(write));
    }
    place_writes(writes, {entities_});
    EntityChange made(*core_, {entities_, log_}, writes, WriteOptions(), true, EntityChange::Writes::kUsedUp,
                      extension);
    Result<engine::CommitVersion> version = commit(core_->backend(), made);
    let_go_bytes_ = made.request.let_go_bytes;
    return version;
  }

  /// Returns the version of an entity, or nothing if it does not exist.
  std::optional<engine::CommitVersion> version_of(format::TableId table, std::string_view partition,
                                                  std::string_view row) {
    const engine::ReadView view = core_->backend().view();
    const auto found = view.get(*format::encode_sort_key(table, partition, row));
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return *found ? std::optional((*found)->version) : std::nullopt;
  }

  StoreBench bench_;
  std::shared_ptr<StoreCore> core_;
  format::TableId entities_ = 0;
  format::TableId log_ = 0;
  std::uint64_t let_go_bytes_ = 0;  // of the last change
};

TEST_F(EntityChanges, CountTheBytesOfLargeValuesThatTheyLetGoOf) {
  const std::string large(30'000, 'x');
  Entity more("p", "c");
  more.set("Other", 5);
  for (const bool are_in_value_files : {false, true}) {
    SCOPED_TRACE(are_in_value_files);
    // The values begin a segment of the log. A value file that is half garbage would be given up soon after the flush.
    if (are_in_value_files) {
      ASSERT_EQ(said(core_->engine().flush()), kFine);
    }
    std::vector<WriteOperation> inserts;
    for (const char* const row : {"a", "b", "c"})
      inserts.push_back({Kind::kInsert, with_value("p", row, large), ETag()});
    ASSERT_EQ(said(change(inserts, nullptr)), kFine);
    EXPECT_EQ(let_go_bytes_, 0U);
    if (are_in_value_files) {
      ASSERT_EQ(said(core_->engine().flush()), kFine);
      ASSERT_GE(core_->engine().statistics().value_files, 1U);
    }
    ASSERT_EQ(said(change({{Kind::kRemove, Entity("p", "a"), ETag::any()}}, nullptr)), kFine);
    EXPECT_GE(let_go_bytes_, large.size());
    ASSERT_EQ(said(change({{Kind::kReplace, with_value("p", "b", "small"), ETag::any()},
                           {Kind::kMerge, more, ETag::any()},
                           {Kind::kInsertOrReplace, with_value("p", "d", "small"), ETag()}},
                          nullptr)),
              kFine);
    EXPECT_GE(let_go_bytes_, 2 * large.size());
    EXPECT_LT(let_go_bytes_, 3 * large.size());
    ASSERT_EQ(said(change({{Kind::kRemove, Entity("p", "b"), ETag::any()}}, nullptr)), kFine);
    EXPECT_EQ(let_go_bytes_, 0U) << "it was small";
    ASSERT_EQ(said(change({{Kind::kRemove, Entity("p", "c"), ETag::any()}}, nullptr)), kFine);
  }
  ASSERT_EQ(said(change({{Kind::kInsertOrReplace, with_value("p", "d", large), ETag()}}, nullptr)), kFine);
  EXPECT_GE(let_go_bytes_, large.size()) << "what it replaces is not read, and counts as a value of its size";
}

TEST_F(EntityChanges, WhatAnExtensionAddsIsInTheCommitOfTheChange) {
  Logging logging(log_);
  const Result<engine::CommitVersion> version =
      change({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}, &logging);
  ASSERT_TRUE(version.ok()) << version.status().to_string();
  EXPECT_EQ(version_of(entities_, "p", "a"), *version);
  EXPECT_EQ(version_of(log_, "log", "row1"), *version);
}

TEST_F(EntityChanges, AnExtensionSeesEachOperationWithTheStateBeforeAndAfter) {
  ASSERT_TRUE(change({{Kind::kInsert, with_value("p", "a", "one"), ETag()},
                      {Kind::kInsert, with_value("p", "b", "one"), ETag()}},
                     nullptr)
                  .ok());
  Entity more("p", "a");
  more.set("Other", 5);
  Logging logging(log_);
  const Result<engine::CommitVersion> version = change({{Kind::kMerge, more, ETag::any()},
                                                        {Kind::kRemove, Entity("p", "b"), ETag::any()},
                                                        {Kind::kInsertOrReplace, with_value("p", "c", "x"), ETag()},
                                                        {Kind::kInsertOrMerge, with_value("p", "d", "x"), ETag()}},
                                                       &logging);
  ASSERT_TRUE(version.ok()) << version.status().to_string();
  ASSERT_EQ(logging.seen.size(), 4U);
  EXPECT_TRUE(logging.seen[0].existed);
  EXPECT_GT(logging.seen[0].stored_bytes,
            (*prepare_write(Grant(), {Kind::kMerge, more, ETag::any()}, core_->limits())).value().size())
      << "the merged properties are what the merge stores";
  EXPECT_TRUE(logging.seen[1].existed);
  EXPECT_EQ(logging.seen[1].stored_bytes, 0U);
  EXPECT_FALSE(logging.seen[2].was_read);
  EXPECT_TRUE(logging.seen[3].was_read);
  EXPECT_FALSE(logging.seen[3].existed);
  for (const std::string row : {"row1", "row2", "row3", "row4"}) EXPECT_EQ(version_of(log_, "log", row), *version);
  EXPECT_EQ(version_of(entities_, "p", "b"), std::nullopt);
}

TEST_F(EntityChanges, AnExtensionThatRefusesAnOperationPreventsTheWholeChange) {
  Logging logging(log_);
  logging.refused = 1;
  const Result<engine::CommitVersion> version = change(
      {{Kind::kInsert, with_value("p", "a", "one"), ETag()}, {Kind::kInsert, with_value("p", "b", "one"), ETag()}},
      &logging);
  EXPECT_EQ(said(version), kEntityAlreadyExists);
  EXPECT_EQ(version.status().operation_index(), 1U);
  EXPECT_EQ(version_of(entities_, "p", "a"), std::nullopt);
  EXPECT_EQ(version_of(log_, "log", "row1"), std::nullopt);
  EXPECT_TRUE(change({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}, nullptr).ok()) << "the lock was released";
}

TEST_F(EntityChanges, AChangeThatIsRefusedIsNotExtended) {
  ASSERT_TRUE(change({{Kind::kInsert, with_value("p", "b", "one"), ETag()}}, nullptr).ok());
  Logging logging(log_);
  EXPECT_EQ(said(change({{Kind::kInsert, with_value("p", "a", "one"), ETag()},
                         {Kind::kInsert, with_value("p", "b", "one"), ETag()}},
                        &logging)),
            kEntityAlreadyExists);
  EXPECT_TRUE(logging.seen.empty());
}

// After a drop of the account, the heads of contents go in any order, so their counts may seem to be wrong.
TEST(ReportedFailure, DamageIsReportedUnlessTheTableIsGone) {
  const TableName name{std::string(kAccount), "People", "people"};
  const Status damage = Status::corruption("a content has fewer owners than name it");
  const format::TableId planned = format::make_table_id(1, 5);
  const auto reported = [&](const Result<format::TableId>& now) {
    return reported_failure(damage, name, planned, now, false);
  };
  EXPECT_EQ(reported(planned).code(), Code::kCorruption);
  EXPECT_EQ(said(reported(format::make_table_id(2, 5))), kTableNotFound) << "another table has the name now";
  EXPECT_EQ(said(reported(Status(Code::kNotFound, "gone").with_service_error("TableNotFound"))), kTableNotFound);
}

TEST(ReportedFailure, ABatchThatTheEngineRefusesForItsSizeHasAnErrorString) {
  const TableName name{std::string(kAccount), "People", "people"};
  const format::TableId table = format::make_table_id(1, 5);
  const Status refused = Status::too_large("the commit has 40000000 bytes; at most 33554432 are allowed");
  EXPECT_EQ(said(reported_failure(refused, name, table, table, true)), kRequestBodyTooLarge);
  const Status named = Status::too_large("too many properties").with_service_error("TooManyProperties");
  EXPECT_EQ(said(reported_failure(named, name, table, table, true)), kTooManyProperties);
}

}  // namespace
}  // namespace varve::test::entity_change_test
