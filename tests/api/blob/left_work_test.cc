// Goal: each part of the work that is left to do for blobs is small, removes nothing that has an owner, and gets past rows
// that cannot be read (BX-08, BX-31, BX-32).
// Method: rows are written as a store has them, some of them wrong, and the parts are done one at a time.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/catalog/catalog_rows.h"
#include "format/keys/entity.h"
#include "tests/api/blob/work_bench.h"

namespace varve::test::left_work_test {
namespace {

class LeftWorkParts : public testing::Test, protected WorkBench {};

TEST_F(LeftWorkParts, OnlyTheEndOfAContainerUsesSpaceThatIsKeptForDrops) {
  put_content(1, 1);
  put_blob_of("a", {1});
  put_work(kDropped);
  put(content_part_key(kContents, 2, 0), encode_part(2, 0, "text"));
  put_work(filling(2));
  for (int part = 0; part < 4; ++part) (void)do_part(filling(2));
  for (const RecordingBackend::Commit& commit : backend_.commits_) EXPECT_FALSE(commit.frees_space);
  backend_.commits_.clear();
  for (int part = 0; part < 4; ++part) (void)do_part(kDropped);
  EXPECT_FALSE(has_work(kDropped));
  EXPECT_FALSE(has_work(filling(2)));
  ASSERT_GE(backend_.commits_.size(), 2U);
  EXPECT_TRUE(backend_.commits_.back().frees_space) << "it retires the id";
  backend_.commits_.pop_back();
  for (const RecordingBackend::Commit& commit : backend_.commits_) EXPECT_FALSE(commit.frees_space);
}

// The work row of a content that was published, or that got an owner again, comes back if a repair loses its deletion.
TEST_F(LeftWorkParts, BX08_AContentThatHasAnOwnerLosesItsWorkRowAlone) {
  for (const Work& work : {filling(1), leaving(1)}) {
    put_content(1, 1);
    put_blob_of("a", {1});
    put_work(work);
    EXPECT_EQ(do_all(work, 10), 1);
    EXPECT_FALSE(has_work(work));
    EXPECT_EQ(owners_of(1), 1U);
    EXPECT_TRUE(has(content_part_key(kContents, 1, 0)));
  }
}

TEST_F(LeftWorkParts, BX08_AListThatHasAnOwnerKeepsItsBlocks) {
  put_content(1, 1);
  put_list(2, 1, {1});
  put_work(leaving(2));
  EXPECT_EQ(do_all(leaving(2), 10), 1);
  EXPECT_FALSE(has_work(leaving(2)));
  EXPECT_EQ(owners_of(1), 1U);
  EXPECT_EQ(owners_of(2), 1U);
}

TEST_F(LeftWorkParts, BX31_AContentWithoutAnOwnerGoesWithItsWorkRow) {
  for (const Work& work : {filling(1), leaving(1)}) {
    put_content(1, 0);
    put_work(work);
    EXPECT_EQ(do_all(work, 10), 1) << "one commit is enough";
    EXPECT_FALSE(has_work(work));
    EXPECT_EQ(count(content_prefix(kContents, 1)), 0U);
  }
}

TEST_F(LeftWorkParts, BX08_ADamagedPartOfAListKeepsNoOtherPart) {
  std::vector<ContentId> blocks;
  for (ContentId content = 1; content <= 3 * kListEntriesOfPart; ++content) blocks.push_back(10 + content);
  for (const ContentId content : {blocks.front(), blocks[kListEntriesOfPart], blocks.back()}) put_content(content, 1);
  put_list(5, 0, blocks, {1});
  put_work(leaving(5));
  do_all(leaving(5), 100);
  EXPECT_TRUE(last_.ok()) << last_.to_string();
  EXPECT_EQ(damage_.code(), Code::kCorruption) << "it is reported";
  EXPECT_FALSE(has_work(leaving(5)));
  EXPECT_EQ(owners_of(blocks.front()), std::nullopt);
  EXPECT_EQ(owners_of(blocks[kListEntriesOfPart]), 1U) << "it cannot be known that the list named it";
  EXPECT_EQ(owners_of(blocks.back()), std::nullopt);
  EXPECT_EQ(count(content_prefix(kContents, 5)), 0U);
}

TEST_F(LeftWorkParts, BX08_ADamagedHeadOfABlockKeepsNoOtherBlock) {
  std::vector<ContentId> blocks;
  for (ContentId content = 11; content <= 210; ++content) {
    blocks.push_back(content);
    put_content(content, content % 70 == 0 ? 0 : 1);  // Three of them have fewer owners than name them.
  }
  put(content_head_key(kContents, 20), "no head");
  put_list(5, 0, blocks);
  put_work(leaving(5));
  do_all(leaving(5), 300);
  EXPECT_TRUE(last_.ok()) << last_.to_string();
  EXPECT_FALSE(damage_.ok()) << "it is reported";
  EXPECT_FALSE(has_work(leaving(5)));
  std::vector<ContentId> kept;
  for (const ContentId content : blocks) {
    if (has(content_head_key(kContents, content))) kept.push_back(content);
  }
  EXPECT_EQ(kept, (std::vector<ContentId>{20, 70, 140, 210}));
}

TEST_F(LeftWorkParts, BX31_APartTriesFewCommitsWhateverIsDamaged) {
  std::vector<std::string> expected;
  for (ContentId content = 1; content <= 400; ++content) {
    const std::string name = "blob " + std::to_string(1000 + content);
    const bool is_damaged = content <= 150 || content % 97 == 0;
    put_content(content, is_damaged ? 0 : 1);
    put_blob_of(name, {content});
    if (is_damaged) expected.push_back(blob_row_key(kContainer, name));
  }
  put_work(kDropped);
  int parts = 0;
  for (bool goes_on = true; goes_on; ++parts) {
    ASSERT_LT(parts, 150);
    backend_.commits_.clear();
    const Result<bool> done = do_part(kDropped);
    ASSERT_TRUE(done.ok()) << done.status().to_string();
    goes_on = *done;
    EXPECT_LE(backend_.commits_.size(), 1U) << "refused tries are no commits";
  }
  EXPECT_LE(parts, 60) << "rows that stay are not tried in each part again";
  EXPECT_EQ(damage_.code(), Code::kCorruption);
  EXPECT_TRUE(has_work(kDropped)) << "while rows stay";
  EXPECT_EQ(blobs(), expected.size());
  for (const std::string& key : expected) EXPECT_TRUE(has(key));

  for (ContentId content = 1; content <= 400; ++content) put_content(content, 1);  // The damage is mended.
  left_.begin_again();
  do_all(kDropped, 100);
  EXPECT_EQ(blobs(), 0U);
  EXPECT_FALSE(has_work(kDropped));
}

TEST_F(LeftWorkParts, BX31_ManyRowsGoInFewParts) {
  for (ContentId content = 1; content <= 300; ++content) {
    put_content(content, 1);
    put_blob_of("blob " + std::to_string(content), {content});
  }
  put_work(kDropped);
  EXPECT_LE(do_all(kDropped, 100), 7) << "64 rows a commit, one more look, and the end";
  EXPECT_EQ(blobs(), 0U);
  EXPECT_EQ(count(format::encode_table(kContents)), 0U);
}

TEST_F(LeftWorkParts, BX30_StagedBlocksGoWithTheirWorkRow) {
  put_content(1, 1);
  put_content(2, 1);
  put(staged_block_key(kContainer, 9, "1"), encode_staged_block({{1, 4}}));
  put(staged_block_key(kContainer, 9, "2"), encode_staged_block({{2, 4}}));
  const Work staged{WorkKind::kStaged, 9, kContainer};
  put_work(staged);
  EXPECT_EQ(do_all(staged, 10), 1) << "one commit is enough";
  EXPECT_FALSE(has_work(staged));
  EXPECT_EQ(blobs(), 0U);
  EXPECT_EQ(owners_of(1), std::nullopt);
}

class LeftWorkOfTables : public testing::Test, protected WorkBench {
 protected:
  static constexpr format::TableId kPeople = with_large_values(format::make_table_id(kAccountNumber, 7));
  static constexpr Work kDroppedTable{WorkKind::kTable, kPeople, table_fence_of(kPeople)};

  static std::string entity_key(int number) {
    return *format::encode_sort_key(kPeople, "p", "row " + std::to_string(1000 + number));
  }
  void put_value(ContentId content) {
    write({{content_head_key(kContents, content), encode_content_head({ContentKind::kValue, 1, 4, 1})},
           {content_part_key(kContents, content, 0), encode_part(content, 0, "text")}});
  }
  void put_entity(int number, ContentId content) {
    format::EntityBuilder builder;
    builder.add_large_value("Photo", {content, 4});
    put(entity_key(number), builder.finish());
  }
  std::size_t entities() const { return count(format::encode_table(kPeople)); }
};

TEST_F(LeftWorkOfTables, BX32_EntitiesGoInFewPartsAndOnlyTheEndUsesSpaceThatIsKeptForDrops) {
  for (int i = 1; i <= 300; ++i) {
    put_value(static_cast<ContentId>(i));
    put_entity(i, static_cast<ContentId>(i));
  }
  put_work(kDroppedTable);
  backend_.commits_.clear();
  EXPECT_LE(do_all(kDroppedTable, 100), 7) << "64 entities a commit, one more look, and the end";
  EXPECT_FALSE(has_work(kDroppedTable));
  EXPECT_EQ(entities(), 0U);
  EXPECT_EQ(count(format::encode_table(kContents)), 0U);
  ASSERT_GE(backend_.commits_.size(), 2U);
  EXPECT_TRUE(backend_.commits_.back().frees_space) << "it retires the id";
  backend_.commits_.pop_back();
  for (const RecordingBackend::Commit& commit : backend_.commits_) EXPECT_FALSE(commit.frees_space);
}

TEST_F(LeftWorkOfTables, BX32_ADamagedEntityKeepsNoOtherOne) {
  for (int i = 1; i <= 200; ++i) {
    put_value(static_cast<ContentId>(i));
    put_entity(i, static_cast<ContentId>(i));
  }
  put(entity_key(50), "no entity");
  put_work(kDroppedTable);
  do_all(kDroppedTable, 100);
  EXPECT_FALSE(damage_.ok()) << "it is reported";
  EXPECT_TRUE(has_work(kDroppedTable)) << "while an entity stays";
  EXPECT_EQ(entities(), 1U);
  EXPECT_EQ(owners_of(50), 1U) << "it cannot be known that the entity named it";
  EXPECT_EQ(owners_of(49), std::nullopt);
  EXPECT_EQ(owners_of(200), std::nullopt);

  put_entity(50, 50);  // The damage is mended.
  left_.begin_again();
  do_all(kDroppedTable, 100);
  EXPECT_EQ(entities(), 0U);
  EXPECT_EQ(owners_of(50), std::nullopt);
  EXPECT_FALSE(has_work(kDroppedTable));
}

TEST_F(LeftWorkOfTables, BX32_AFullDiskChangesNothingAndTheWorkGoesOnAfterwards) {
  for (int i = 1; i <= 100; ++i) {
    put_value(static_cast<ContentId>(i));
    put_entity(i, static_cast<ContentId>(i));
  }
  put_work(kDroppedTable);
  EXPECT_EQ(do_part(kDroppedTable).code(), Code::kOk);
  const std::size_t left = entities();
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, 100U);
  backend_.refused_ = Code::kNoSpace;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(do_part(kDroppedTable).code(), Code::kNoSpace);
  EXPECT_EQ(entities(), left);
  EXPECT_TRUE(damage_.ok()) << damage_.to_string();
  backend_.refused_.reset();
  do_all(kDroppedTable, 100);
  EXPECT_FALSE(has_work(kDroppedTable));
  EXPECT_EQ(entities(), 0U);
  EXPECT_EQ(count(format::encode_table(kContents)), 0U);
}

// A content of 64 parts leaves at once, by a delete of each part.
TEST_F(LeftWorkParts, BX31_ACommitIsBoundedByContentsToo) {
  ContentId content = 0;
  for (int blob = 0; blob < 16; ++blob) {
    std::vector<ContentId> contents;
    Rows heads;
    for (int piece = 0; piece < 256; ++piece) {
      contents.push_back(++content);
      heads.emplace_back(content_head_key(kContents, content),
                         encode_content_head({ContentKind::kPlain, 1, 64 * kPartBytes, {}}));
    }
    write(heads);
    put_blob_of("blob " + std::to_string(100 + blob), contents);
  }
  put_work(kDropped);
  backend_.commits_.clear();
  do_all(kDropped, 200);
  EXPECT_TRUE(last_.ok()) << last_.to_string();
  EXPECT_FALSE(has_work(kDropped));
  EXPECT_EQ(blobs(), 0U);
  std::uint64_t let_go_bytes = 0;
  for (const RecordingBackend::Commit& commit : backend_.commits_) {
    EXPECT_LE(commit.bytes, std::size_t{2} << 20);
    let_go_bytes += commit.let_go_bytes;
  }
  EXPECT_EQ(let_go_bytes, content * 64 * kPartBytes);
}

TEST_F(LeftWorkParts, BX08_TheBytesOfAContentThatWasGivenUpCount) {
  for (std::uint64_t part = 0; part < 3; ++part) {
    put(content_part_key(kContents, 2, part * kPartBytes), encode_part(2, part * kPartBytes, "text"));
  }
  put_work(filling(2));
  backend_.commits_.clear();
  EXPECT_EQ(do_all(filling(2), 10), 1);
  ASSERT_EQ(backend_.commits_.size(), 1U);
  EXPECT_EQ(backend_.commits_.front().let_go_bytes, 3 * kPartBytes);
}

}  // namespace
}  // namespace varve::test::left_work_test
