// Goal: staged blocks, appends and copies hold their rules.
// Method: one example or a few for each rule; time passes by a clock that the test moves.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "varve/limits.h"

namespace varve::test::blob_blocks_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using From = BlockChoice::From;

constexpr Said kNoSuchBlock{Code::kInvalidArgument, "InvalidBlockList"};

class BlobBlocks : public testing::Test {
 protected:
  Said commit(const std::vector<BlockChoice>& blocks, const BlobWriteOptions& options = {}) {
    return said(photos_.commit_blocks("a", blocks, options));
  }
  std::vector<std::string> staged_ids() const {
    std::vector<std::string> ids;
    const Result<BlockLists> lists = photos_.blocks("a");
    if (!lists.ok()) return ids;
    for (const BlockInfo& block : lists->staged) ids.push_back(block.id);
    return ids;
  }
  std::vector<std::string> committed_ids() const {
    std::vector<std::string> ids;
    const Result<BlockLists> lists = photos_.blocks("a");
    if (!lists.ok()) return ids;
    for (const BlockInfo& block : lists->committed) ids.push_back(block.id);
    return ids;
  }
  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobBlocks, BB06_TheSameIdReplacesTheStagedBlock) {
  EXPECT_EQ(stage(photos_, "a", "01", "old"), kFine);
  EXPECT_EQ(stage(photos_, "a", "01", "newer"), kFine);
  const Result<BlockLists> lists = photos_.blocks("a");
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->staged.size(), 1U);
  EXPECT_EQ(lists->staged[0].length, 5U);
  EXPECT_FALSE(lists->blob.has_value());
  EXPECT_EQ(commit({{"01"}}), kFine);
  EXPECT_EQ(content_in(photos_, "a"), "newer");
}

TEST_F(BlobBlocks, BB03_PropertiesAreTextsOfHeaders) {
  constexpr Said kNoHeader{Code::kInvalidArgument, "InvalidHeaderValue"};
  ASSERT_EQ(said(photos_.put("a", "1")), kFine);
  for (std::string BlobProperties::*property :
       {&BlobProperties::content_type, &BlobProperties::content_encoding, &BlobProperties::content_language,
        &BlobProperties::content_disposition, &BlobProperties::cache_control}) {
    BlobWriteOptions options;
    options.properties.*property = "x\r\nSet-Cookie: y";
    EXPECT_EQ(said(photos_.put("a", "2", options)), kNoHeader);
    EXPECT_EQ(said(photos_.write("a", options)), kNoHeader);
    EXPECT_EQ(said(photos_.create_append_blob("a", options)), kNoHeader);
    EXPECT_EQ(commit({}, options), kNoHeader);
    EXPECT_EQ(said(photos_.set_properties("a", options.properties)), kNoHeader);
    BlobCopyOptions copy;
    copy.properties = options.properties;
    EXPECT_EQ(said(photos_.copy("b", photos_, "a", copy)), kNoHeader);
    Result<BlobWriter> writer = photos_.write("a");
    ASSERT_TRUE(writer.ok());
    writer->properties() = options.properties;
    EXPECT_EQ(said(writer->publish()), kNoHeader);
  }
  BlobCopyOptions copy;
  copy.source_address = "http://here/\n";
  EXPECT_EQ(said(photos_.copy("b", photos_, "a", copy)), kNoHeader);
  BlobWriteOptions bytes;
  bytes.properties.content_type = "\xFF";
  EXPECT_EQ(said(photos_.put("a", "3", bytes)), kFine) << "bytes above ASCII are kept as they are given";
}

TEST_F(BlobBlocks, BB06_IdsOfOneBlobHaveOneLength) {
  EXPECT_EQ(stage(photos_, "a", "01", "x"), kFine);
  EXPECT_EQ(stage(photos_, "a", "001", "y"), (Said{Code::kInvalidArgument, "InvalidBlobOrBlock"}));
  EXPECT_EQ(stage(photos_, "b", "001", "y"), kFine);
  const Said bad{Code::kInvalidArgument, "InvalidQueryParameterValue"};
  EXPECT_EQ(stage(photos_, "a", "", "y"), bad);
  EXPECT_EQ(stage(photos_, "a", std::string(65, 'i'), "y"), bad);
  EXPECT_EQ(stage(photos_, "c", std::string("\0\xFF", 2) + std::string(62, 'i'), "y"), kFine);
  EXPECT_THAT(staged_ids(), ElementsAre("01"));
}

TEST_F(BlobBlocks, BB07_StagedBlocksAloneAreNoBlob) {
  EXPECT_EQ(stage(photos_, "a", "01", "x"), kFine);
  EXPECT_EQ(said(photos_.read("a")), kBlobGone);
  EXPECT_EQ(said(photos_.state("a")), kBlobGone);
  EXPECT_EQ(said(photos_.remove("a")), kBlobGone);
  EXPECT_EQ(said(photos_.set_metadata("a", {})), kBlobGone);
  EXPECT_THAT(staged_ids(), ElementsAre("01")) << "a delete that finds no blob changes nothing";
  EXPECT_THAT((*photos_.list()).entries, IsEmpty());
  const Result<BlobPage> page = photos_.list({.with_uncommitted = true});
  ASSERT_EQ(page->entries.size(), 1U);
  EXPECT_TRUE(page->entries[0].blob.is_uncommitted);
  EXPECT_EQ(page->entries[0].blob.length, 0U);
}

TEST_F(BlobBlocks, BB08_AListChoosesFromBothKinds) {
  EXPECT_EQ(stage(photos_, "a", "01", "one"), kFine);
  EXPECT_EQ(stage(photos_, "a", "02", "two"), kFine);
  EXPECT_EQ(commit({{"02"}, {"01"}, {"02", From::kStaged}}), kFine);
  EXPECT_EQ(content_in(photos_, "a"), "twoonetwo");
  EXPECT_THAT(committed_ids(), ElementsAre("02", "01", "02"));
  EXPECT_EQ(stage(photos_, "a", "01", "ONE"), kFine);
  EXPECT_EQ(commit({{"01", From::kCommitted}, {"01", From::kStaged}, {"01"}, {"02"}}), kFine);
  EXPECT_EQ(content_in(photos_, "a"), "oneONEONEtwo");
  EXPECT_EQ(commit({}), kFine);
  EXPECT_EQ(content_in(photos_, "a"), "");
  EXPECT_THAT(committed_ids(), IsEmpty());
}

TEST_F(BlobBlocks, BB08_AMissingBlockChangesNothing) {
  EXPECT_EQ(stage(photos_, "a", "01", "one"), kFine);
  EXPECT_EQ(commit({{"01"}}), kFine);
  const BlobState before = state_in(photos_, "a");
  EXPECT_EQ(stage(photos_, "a", "02", "two"), kFine);
  EXPECT_EQ(commit({{"02"}, {"03"}}), kNoSuchBlock);
  EXPECT_EQ(commit({{"01", From::kStaged}}), kNoSuchBlock);
  EXPECT_EQ(commit({{"02", From::kCommitted}}), kNoSuchBlock);
  EXPECT_EQ(content_in(photos_, "a"), "one");
  EXPECT_EQ(state_in(photos_, "a").etag, before.etag);
  EXPECT_THAT(staged_ids(), ElementsAre("02"));
}

TEST_F(BlobBlocks, BB08_AListHasAtMostFiftyThousandBlocks) {
  EXPECT_EQ(stage(photos_, "a", "01", "x"), kFine);
  std::vector<BlockChoice> blocks(limits::kBlocksMax + 1, BlockChoice{"01"});
  EXPECT_EQ(commit(blocks), (Said{Code::kInvalidArgument, "BlockListTooLong"}));
  EXPECT_THAT(staged_ids(), ElementsAre("01"));
  blocks.resize(3'000);
  EXPECT_EQ(commit(blocks), kFine);
  EXPECT_EQ(content_in(photos_, "a"), std::string(3'000, 'x'));
}

TEST_F(BlobBlocks, BB09_APublishedContentDiscardsTheRest) {
  EXPECT_EQ(stage(photos_, "a", "01", "x"), kFine);
  EXPECT_EQ(stage(photos_, "a", "02", "y"), kFine);
  EXPECT_EQ(commit({{"01"}}), kFine);
  EXPECT_THAT(staged_ids(), IsEmpty());
  EXPECT_EQ(stage(photos_, "a", "03", "z"), kFine);
  (void)put_blob(photos_, "a", "whole");
  EXPECT_THAT(staged_ids(), IsEmpty());
  EXPECT_THAT(committed_ids(), IsEmpty()) << "a put has no blocks";
  EXPECT_EQ(stage(photos_, "a", "003", "z"), kFine) << "the length of ids is free again";
  EXPECT_EQ(said(photos_.remove("a")), kFine);
  EXPECT_EQ(said(photos_.blocks("a")), kBlobGone);
}

TEST_F(BlobBlocks, BB20_ListsAreInOrder) {
  for (const char* const id : {"b", "a", "~", "A"}) EXPECT_EQ(stage(photos_, "a", id, id), kFine);
  EXPECT_THAT(staged_ids(), ElementsAre("A", "a", "b", "~"));
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  EXPECT_EQ(said(photos_.blocks("log")), kWrongBlobKind);
  EXPECT_EQ(said(photos_.blocks("none")), kBlobGone);
}

TEST_F(BlobBlocks, BA01_BA03_AppendsJudgePositionAndLength) {
  EXPECT_EQ(said(photos_.append("log", "x")), kBlobGone);
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  const Result<AppendedBlock> first = photos_.append("log", "one", {.position = 0});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->offset, 0U);
  EXPECT_EQ(first->append_count, 1U);
  EXPECT_EQ(said(photos_.append("log", "two", {.position = 0})),
            (Said{Code::kPreconditionFailed, "AppendPositionConditionNotMet"}));
  EXPECT_EQ(said(photos_.append("log", "two", {.length_max = 5})),
            (Said{Code::kPreconditionFailed, "MaxBlobSizeConditionNotMet"}));
  EXPECT_EQ(state_in(photos_, "log").etag, first->etag);
  const Result<AppendedBlock> second = photos_.append("log", "two", {.position = 3, .length_max = 6});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->offset, 3U);
  EXPECT_EQ(content_in(photos_, "log"), "onetwo");
  EXPECT_EQ(state_in(photos_, "log").append_count, 2U);
}

TEST_F(BlobBlocks, BA05_TheVerbsOfTheOtherKindAreRefused) {
  (void)put_blob(photos_, "a", "text");
  EXPECT_EQ(said(photos_.append("a", "x")), kWrongBlobKind);
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  EXPECT_EQ(stage(photos_, "log", "01", "x"), kWrongBlobKind);
  EXPECT_EQ(said(photos_.set_tier("log", BlobTier::kCool)), kWrongBlobKind);
  EXPECT_EQ(said(photos_.append("log", "")), (Said{Code::kInvalidArgument, "InvalidHeaderValue"}));
  EXPECT_EQ(said(photos_.append("log", std::string(limits::kAppendBytesMax + 1, 'x'))), kRequestBodyTooLarge);
  EXPECT_EQ(content_in(photos_, "a"), "text");
  EXPECT_EQ(content_in(photos_, "log"), "");
}

TEST_F(BlobBlocks, BA06_AReaderSeesThePrefixOfItsBeginning) {
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  const std::string long_part = uneven_bytes(limits::kAppendBytesMax);
  EXPECT_EQ(said(photos_.append("log", long_part)), kFine);
  const Result<BlobReader> reader = photos_.read("log");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(said(photos_.append("log", "tail")), kFine);
  EXPECT_TRUE(all_of(*reader) == long_part);
  EXPECT_TRUE(content_in(photos_, "log") == long_part + "tail");
}

TEST_F(BlobBlocks, BA01_BA03_BA06_AnAppendAsAStreamMayHaveAnyLength) {
  EXPECT_EQ(said(photos_.write_append("log")), kBlobGone);
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  EXPECT_EQ(said(photos_.append("log", "head ")), kFine);
  const std::string long_part = uneven_bytes(2 * limits::kAppendBytesMax + 77);
  Result<BlobWriter> writer = photos_.write_append("log", {.position = 5});
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(said(writer->append(long_part)), kFine);
  EXPECT_EQ(content_in(photos_, "log"), "head ") << "nothing is visible yet";
  Result<BlobWriter> late = photos_.write_append("log", {.position = 5});
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(said(late->append("late")), kFine);
  const Result<BlobState> appended = writer->publish();
  ASSERT_TRUE(appended.ok()) << appended.status().to_string();
  EXPECT_EQ(appended->length, 5 + long_part.size());
  EXPECT_EQ(appended->append_count, 2U);
  EXPECT_EQ(said(late->publish()), (Said{Code::kPreconditionFailed, "AppendPositionConditionNotMet"}));
  const Result<BlobReader> reader = photos_.read("log");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(said(photos_.append("log", " tail")), kFine);
  EXPECT_TRUE(all_of(*reader) == "head " + long_part);
  EXPECT_EQ(said(photos_.copy("copy", photos_, "log")), kFine);
  EXPECT_EQ(said(photos_.append("log", "!")), kFine);
  EXPECT_EQ(said(photos_.remove("log")), kFine);
  EXPECT_TRUE(content_in(photos_, "copy") == "head " + long_part + " tail");
  Result<BlobWriter> empty = photos_.write_append("copy");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(said(empty->publish()), (Said{Code::kInvalidArgument, "InvalidHeaderValue"}));
  (void)put_blob(photos_, "a", "text");
  EXPECT_EQ(said(photos_.write_append("a")), kWrongBlobKind);
}

TEST_F(BlobBlocks, BA04_ABlobHasAtMost50000Appends) {
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  AppendOptions options;
  options.durability = Durability::kBuffered;
  for (std::uint32_t i = 0; i < limits::kAppendsMax; ++i) ASSERT_TRUE(photos_.append("log", "x", options).ok()) << i;
  EXPECT_EQ(said(photos_.append("log", "x", options)), (Said{Code::kConflict, "BlockCountExceedsLimit"}));
  EXPECT_EQ(state_in(photos_, "log").length, limits::kAppendsMax);
}

TEST_F(BlobBlocks, BA04_AStoreMayHaveAnotherLimitOfAppends) {
  StoreBench bench;
  StoreOptions options = bench.options();
  options.limits = StoreLimits{.blob_appends_max = 3};
  bench.open(options);
  ASSERT_EQ(said(bench.store->create_account(kAccount)), kFine);
  Container logs = *bench.store->create_container(kAccount, "logs");
  EXPECT_EQ(said(logs.create_append_blob("log")), kFine);
  const Said too_many{Code::kConflict, "BlockCountExceedsLimit"};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(said(logs.append("log", "x")), kFine) << i;
  EXPECT_EQ(said(logs.append("log", "x")), too_many);
  EXPECT_EQ(said(logs.write_append("log")), too_many);
  bench.open(bench.options());  // The limit is stored.
  EXPECT_EQ(said((*bench.store->open_container(kAccount, "logs")).append("log", "x")), too_many);
  EXPECT_EQ(bench.store->limits().blob_appends_max, 3U);
  options.limits->blob_appends_max = StoreLimits::kBlobAppendsCeiling + 1;
  EXPECT_EQ(Store::open("/other", options).code(), Code::kInvalidArgument);
}

TEST_F(BlobBlocks, BX08_CopiesOfAnAppendBlobGrowApart) {
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  EXPECT_EQ(said(photos_.append("log", "shared ")), kFine);
  EXPECT_EQ(said(photos_.copy("copy", photos_, "log")), kFine);
  EXPECT_EQ(said(photos_.append("log", "mine")), kFine);
  EXPECT_EQ(said(photos_.append("copy", "its")), kFine);
  EXPECT_EQ(said(photos_.append("log", " too")), kFine);
  EXPECT_EQ(content_in(photos_, "log"), "shared mine too");
  EXPECT_EQ(content_in(photos_, "copy"), "shared its");
  EXPECT_EQ(said(photos_.remove("log")), kFine);
  EXPECT_EQ(said(photos_.append("copy", " own")), kFine);
  EXPECT_EQ(content_in(photos_, "copy"), "shared its own");
}

TEST_F(BlobBlocks, BY01_ACopyTakesContentPropertiesAndMetadata) {
  (void)put_blob(photos_, "a", uneven_bytes(100'000),
                 {.properties = {.content_type = "image/jpeg"}, .metadata = {{"k", "v"}}, .tags = {{"t", "1"}}});
  Container others = bench_.container("others");
  const Result<BlobState> copied = others.copy("b", photos_, "a", {.source_address = "http://x/a"});
  ASSERT_TRUE(copied.ok()) << copied.status().to_string();
  EXPECT_EQ(copied->properties.content_type, "image/jpeg");
  EXPECT_THAT(copied->metadata, ElementsAre(MetadataPair{"k", "v"}));
  EXPECT_THAT(copied->tags, IsEmpty());
  EXPECT_EQ(copied->copy_source, "http://x/a");
  EXPECT_TRUE(copied->copy_id.has_value());
  EXPECT_EQ(said(photos_.remove("a")), kFine);
  EXPECT_TRUE(content_in(others, "b") == uneven_bytes(100'000));
  EXPECT_EQ(put_blob(others, "b", "new").copy_source, "") << "BY-03";
  EXPECT_EQ(said(others.copy("c", photos_, "a")), kBlobGone);
}

TEST_F(BlobBlocks, BC06_ConditionsOfACopyAreOnBothSides) {
  const ETag source = put_blob(photos_, "a", "text").etag;
  const ETag other = put_blob(photos_, "b", "old").etag;
  const Said refused{Code::kPreconditionFailed, "SourceConditionNotMet"};
  EXPECT_EQ(said(photos_.copy("b", photos_, "a", {.source_conditions = {.if_match = other}})), refused);
  EXPECT_EQ(said(photos_.copy("b", photos_, "a", {.source_conditions = {.if_none_match = source}})), refused);
  EXPECT_EQ(said(photos_.copy("b", photos_, "a", {.conditions = {.if_match = source}})), kConditionNotMet);
  EXPECT_EQ(said(photos_.copy("b", photos_, "a", {.conditions = {.if_none_match = ETag::any()}})), kBlobExists);
  EXPECT_EQ(content_in(photos_, "b"), "old");
  EXPECT_EQ(said(photos_.copy("b", photos_, "a",
                              {.conditions = {.if_match = other}, .source_conditions = {.if_match = source}})),
            kFine);
  EXPECT_EQ(content_in(photos_, "b"), "text");
}

TEST_F(BlobBlocks, BY06_ACopyOntoItselfAndOfAList) {
  const std::string content = uneven_bytes(200'000);
  EXPECT_EQ(stage(photos_, "a", "01", content), kFine);
  EXPECT_EQ(commit({{"01"}, {"01"}}), kFine);
  EXPECT_EQ(said(photos_.copy("a", photos_, "a", {.metadata = std::vector<MetadataPair>{{"k", "v"}}})), kFine);
  EXPECT_TRUE(content_in(photos_, "a") == content + content);
  EXPECT_EQ(said(photos_.copy("b", photos_, "a")), kFine);
  EXPECT_EQ(said(photos_.remove("a")), kFine);
  EXPECT_TRUE(content_in(photos_, "b") == content + content);
}

}  // namespace
}  // namespace varve::test::blob_blocks_test
