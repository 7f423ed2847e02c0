// Goal: the check of blobs finds each damage once, and one damage hides no other (BX-41).
// Method: rows are written as a store has them, some of them wrong, and given to the check in the order of their keys.
#include "api/blob/blob_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/blob/work_bench.h"

namespace varve::test::blob_check_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BlobChecks : public testing::Test, protected WorkBench {
 protected:
  /// Checks all rows. Rows in `unread_` are given as rows whose values cannot be read.
  std::vector<std::string> findings() const {
    std::vector<std::string> found;
    const auto add = [&found](const Status& status) {
      if (!status.ok()) found.push_back(status.to_string());
    };
    const engine::ReadView view = engine_->view();
    BlobCheck check(view);
    check.add_container(kContainer);
    engine::Cursor rows = view.cursor({}, {});
    for (rows.seek_to_first(); rows.valid(); rows.next()) {
      const format::TableId table = format::table_id_of(rows.key());
      const bool is_unread = rows.key() == unread_;
      Status before;
      if (table == kWorkTable && is_unread) check.note_unread_work(rows.key());
      if (table == kWorkTable && !is_unread) add(check.visit_work(rows.key(), rows.value()));
      if (table == kContainer && is_unread) check.note_unread_row(rows.key());
      if (table == kContainer && !is_unread) add(check.visit_row(rows.key(), rows.version(), rows.value()));
      if (table != kContents) continue;
      const Status row = is_unread ? Status() : check.visit_content(rows.key(), rows.value(), before);
      add(is_unread ? check.note_unread_content(rows.key()) : before);
      add(row);
    }
    EXPECT_TRUE(rows.status().ok());
    add(check.end_contents());
    check.compare_owners([&](std::uint32_t /*account*/, const Status& status) { add(status); });
    return found;
  }

  std::string unread_;
};

TEST_F(BlobChecks, BX41_WhatIsWholeHasNoFindings) {
  put_content(1, 2);
  put_blob_of("a", {1});
  put_blob_of("b", {1});
  put_content(2, 0);
  put_work(leaving(2));
  EXPECT_THAT(findings(), IsEmpty());
  put_content(1, 3);
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("counts of their owners differ")));
}

TEST_F(BlobChecks, BX41_AMissingContentIsOneFinding) {
  put_content(2, 1);
  put_content(3, 1);
  put_blob_of("a", {1, 2, 3});
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("it names a content that is not there")));
}

TEST_F(BlobChecks, BX41_ARowWhoseNamesCannotBeReadIsOneFinding) {
  put_content(1, 1);
  put(blob_row_key(kContainer, "a"), "no row");
  EXPECT_EQ(findings().size(), 1U);
  put_blob_of("a", {1});
  unread_ = blob_row_key(kContainer, "a");
  EXPECT_THAT(findings(), IsEmpty()) << "the row itself is reported by the walk";
}

TEST_F(BlobChecks, BX41_AContentWhoseWorkRowCannotBeReadIsNoFinding) {
  put_content(1, 0);
  put_work(leaving(1));
  put(content_part_key(kContents, 2, 0), encode_part(2, 0, "text"));
  put_work(filling(2));
  for (const Work& work : {leaving(1), filling(2)}) {
    unread_ = work_key(work);
    EXPECT_THAT(findings(), IsEmpty());
  }
}

TEST_F(BlobChecks, BX41_AGrowingContentThatLostItsEndIsOneFinding) {
  const std::string first = content_part_key(kContents, 1, 0);
  const std::string last = content_part_key(kContents, 1, 2);
  put(content_head_key(kContents, 1), encode_content_head({ContentKind::kGrowing, 1, 0, {}}));
  put(first, encode_part(1, 0, "te"));
  put(last, encode_part(1, 2, "xt"));
  put_blob_of("a", {1});
  EXPECT_THAT(findings(), IsEmpty());
  unread_ = last;
  EXPECT_THAT(findings(), IsEmpty()) << "the row itself is reported by the walk";
  unread_.clear();
  remove(last);
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("it names more bytes than a content that grows has")));
  remove(first);
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("it names more bytes than a content that grows has")));
}

TEST_F(BlobChecks, BX41_AListOfAppendsNamesItsContents) {
  for (const ContentId content : {ContentId{1}, ContentId{2}, ContentId{4}}) put_content(content, 1);
  put_list(3, 1, {1, 2});
  BlobRow row;
  row.kind = BlobKind::kAppend;
  row.pieces = {{3, 8}, {4, 4}};
  row.length = 12;
  row.lists = 1;
  put(blob_row_key(kContainer, "a"), encode_blob_row(row));
  EXPECT_THAT(findings(), IsEmpty());
  put_content(2, 2);
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("counts of their owners differ")));
}

TEST_F(BlobChecks, BX41_AShortContentIsFoundBeforeADamagedOne) {
  put_content(1, 1);
  put_content(2, 1);
  put_blob_of("a", {1});
  put_blob_of("b", {2});
  put(content_head_key(kContents, 1), encode_content_head({ContentKind::kPlain, 1, 10, {}}));
  put(content_head_key(kContents, 2), "no head");
  const std::vector<std::string> found = findings();
  EXPECT_THAT(found, testing::Contains(HasSubstr("a content is not as long as its head says")));
  EXPECT_EQ(found.size(), 3U) << "the blob's length, the content's length, and the head";
  put_content(2, 1);
  unread_ = content_head_key(kContents, 2);
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("a content is not as long as its head says")));
}

}  // namespace
}  // namespace varve::test::blob_check_test
