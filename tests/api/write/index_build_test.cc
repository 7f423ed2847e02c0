// Goal: a build gives each entity its entry, whatever writers do meanwhile, and can be stopped, continued and overtaken (I4).
// Method: writes between the parts of a build, from the function that it calls there.
#include "api/write/index_build.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/write/index_bench.h"
#include "varve/verify.h"

namespace varve::test::index_build_test {
namespace {

using Kind = WriteOperation::Kind;

class IndexBuild : public IndexBench {
 protected:
  /// Inserts entities in the partitions p0 to p4.
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string partition = "p" + std::to_string(i % 5);
      ASSERT_TRUE(
          write({{Kind::kInsert, with_value(partition, std::to_string(i), "v" + std::to_string(i % 3)), ETag()}}).ok());
    }
  }
  Status build(const TableIndex& index, const std::function<bool(const IndexBuildProgress&)>& goes_on = {}) {
    return build_index(*core_, orders_, index.id, goes_on);
  }
  IndexState state() { return (*Catalog::find_indexes(core_->backend().view(), orders_)).all.front().state; }
};

TEST_F(IndexBuild, GivesTheEntitiesFromBeforeTheirEntries) {
  fill(300);
  ASSERT_TRUE(write({{Kind::kInsert, with_values("q", "without V", 1, "x"), ETag()}}).ok());
  const TableIndex index = add_index("ByValue", by_value(), false);
  IndexBuildProgress last;
  ASSERT_EQ(said(build(index,
                       [&](const IndexBuildProgress& progress) {
                         EXPECT_GE(progress.entities, last.entities);  // equal while the entries are installed
                         last = progress;
                         return true;
                       })),
            kFine);
  EXPECT_EQ(last.entities, 301U);
  EXPECT_EQ(last.entries, 300U);
  EXPECT_EQ(state(), IndexState::kReady);
  EXPECT_EQ(entries_in(core_->backend().view()).size(), 300U);
  expect_whole();
  EXPECT_EQ(said(build(index)), kFine) << "it is ready";
  close();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 0U) << (report->findings.empty() ? "" : report->findings.front());
}

TEST_F(IndexBuild, AnEmptyTableIsReadyAtOnce) {
  ASSERT_EQ(said(build(add_index("ByValue", by_value(), false))), kFine);
  EXPECT_EQ(state(), IndexState::kReady);
}

TEST_F(IndexBuild, WritesBetweenItsPartsAreInTheIndex) {
  fill(300);
  const TableIndex index = add_index("ByValue", by_value(), false);
  int part = 0;
  ASSERT_EQ(
      said(build(
          index,
          [&](const IndexBuildProgress& /*progress*/) {
            const std::string row = std::to_string(part * 10);
            const std::string partition = "p" + std::to_string(part * 10 % 5);
            EXPECT_TRUE(write({{Kind::kInsertOrReplace, with_value(partition, row, "changed"), ETag()}}).ok());
            EXPECT_TRUE(write({{Kind::kInsert, with_value("p0", "new" + row, "v"), ETag()}}).ok());
            EXPECT_TRUE(write({{Kind::kInsert, with_value("p9", "new" + row, "v"), ETag()}}).ok());
            EXPECT_TRUE(write({{Kind::kRemove, with_value("p4", std::to_string(4 + 5 * part), ""), ETag::any()}}).ok());
            ++part;
            return true;
          })),
      kFine);
  EXPECT_GE(part, 3);
  expect_whole();
}

TEST_F(IndexBuild, EndsBesideWritersThatAreFasterThanItself) {
  fill(300);
  const TableIndex index = add_index("ByValue", by_value(), false);
  int added = 0;
  IndexBuildProgress last;
  ASSERT_EQ(
      said(build(
          index,
          [&](const IndexBuildProgress& progress) {
            last = progress;
            for (int i = 0; i < 300 && added < 6'000; ++i, ++added) {
              EXPECT_TRUE(write({{Kind::kInsert, with_value("z", std::to_string(10'000 + added), "v"), ETag()}}).ok());
            }
            return true;
          })),
      kFine);
  EXPECT_EQ(last.entities, 300U) << "those from before";
  EXPECT_LT(added, 6'000) << "parts of the build";
  expect_whole();
}

TEST_F(IndexBuild, AStoppedBuildIsContinuedAfterAnotherOpen) {
  fill(300);
  const TableIndex index = add_index("ByValue", by_value(), false);
  EXPECT_EQ(build(index, [](const IndexBuildProgress&) { return false; }).code(), Code::kCancelled);
  EXPECT_EQ(state(), IndexState::kBuilding);
  close();
  open();
  ASSERT_TRUE(write({{Kind::kInsertOrReplace, with_value("p0", "0", "changed"), ETag()}}).ok());
  ASSERT_EQ(said(build(index)), kFine);
  EXPECT_EQ(state(), IndexState::kReady);
  expect_whole();
}

TEST_F(IndexBuild, ADropOfTheIndexOrTheTableEndsTheBuild) {
  fill(200);
  const TableIndex index = add_index("ByValue", by_value(), false);
  EXPECT_EQ(said(build(index,
                       [&](const IndexBuildProgress&) {
                         EXPECT_EQ(said(core_->catalog().drop_index(orders_, "ByValue")), kFine);
                         return true;
                       })),
            kResourceNotFound);
  const TableIndex second = add_index("ByValue", by_value(), false);
  EXPECT_EQ(said(build(second,
                       [&](const IndexBuildProgress&) {
                         EXPECT_EQ(said(core_->catalog().drop_table(orders_.account, orders_.lower)), kFine);
                         return true;
                       })),
            kTableNotFound);
}

TEST_F(IndexBuild, AnotherIndexThatIsDeclaredMeanwhileDoesNotStopIt) {
  fill(200);
  const TableIndex index = add_index("ByValue", by_value(), false);
  bool has_second = false;
  ASSERT_EQ(said(build(index,
                       [&](const IndexBuildProgress&) {
                         if (!has_second) add_index("ByRow", {{{format::IndexSource::kRowKey, ""}}}, false);
                         has_second = true;
                         return true;
                       })),
            kFine);
  EXPECT_EQ(state(), IndexState::kReady);
  const TableIndexes now = *Catalog::find_indexes(core_->backend().view(), orders_);
  ASSERT_EQ(said(build(*now.find("ByRow"))), kFine);
  expect_whole();
}

TEST_F(IndexBuild, AUniqueIndexIsBuiltBesideWritersAndOtherIndexes) {
  fill(300);
  format::IndexDefinition unique{{{format::IndexSource::kRowKey, ""}}};
  unique.is_unique = true;
  const TableIndex index = add_index("ByRow", unique, false);
  int part = 0;
  ASSERT_EQ(
      said(build(index,
                 [&](const IndexBuildProgress& /*progress*/) {
                   if (part == 0) add_index("ByValue", by_value());
                   const std::string row = std::to_string(part * 10);
                   const std::string partition = "p" + std::to_string(part * 10 % 5);
                   EXPECT_TRUE(write({{Kind::kInsertOrReplace, with_value(partition, row, "changed"), ETag()}}).ok());
                   EXPECT_TRUE(write({{Kind::kInsert, with_value("p9", "new" + row, "v"), ETag()}}).ok());
                   ++part;
                   return true;
                 })),
      kFine);
  EXPECT_GE(part, 3);
  const engine::ReadView view = core_->backend().view();
  const std::string prefix = format::encode_table(index.id);
  engine::Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
  int entries = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++entries;
  EXPECT_EQ(entries, 300 + part);
}

TEST_F(IndexBuild, TwoBuildsOfOneIndexBothSucceed) {
  fill(200);
  const TableIndex index = add_index("ByValue", by_value(), false);
  bool is_inner = false;
  EXPECT_EQ(said(build(index,
                       [&](const IndexBuildProgress&) {
                         if (!std::exchange(is_inner, true)) {
                           EXPECT_EQ(said(build(index)), kFine);
                         }
                         return true;
                       })),
            kFine);
  expect_whole();
}

TEST_F(IndexBuild, I3_AVerificationReportsAValueThatTwoEntitiesHave) {
  format::IndexDefinition unique = by_value();
  unique.is_unique = true;
  const TableIndex index = add_index("ByValue", unique);
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "1", "x"), ETag()}}).ok());
  // A second entity with its entry, past every check.
  const format::TableId table = *Catalog::resolve_at(core_->backend().view(), orders_);
  PreparedWrite second = prepared({{Kind::kInsert, with_value("q", "2", "x"), ETag()}}).front();
  second.set_table(format::encode_table(table));
  const format::EncodedEntity properties = *format::EncodedEntity::open(second.value());
  const std::string components = *format::index_components(unique, second.sort_key(), 0, properties);
  format::BatchBuilder batch;
  batch.add(second.operation());
  batch.put(format::encode_index_key(index.id, components, second.sort_key()),
            format::encode_index_value(unique, properties));
  engine::CommitRequest request;
  request.batch = batch.finish();
  ASSERT_EQ(said(core_->backend().commit(std::move(request))), kFine);
  expect_whole();
  close();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  ASSERT_EQ(report->finding_count, 1U);
  EXPECT_NE(report->findings.front().find("'p', '1'"), std::string::npos) << report->findings.front();
  EXPECT_NE(report->findings.front().find("'q', '2'"), std::string::npos) << report->findings.front();
}

}  // namespace
}  // namespace varve::test::index_build_test
