// Goal: if the disk is full, verbs of blobs are refused and change nothing, an upload that is under way leaves nothing,
// drops work, and all goes on when there is room (BX-04, BX-12).
// Method: the disk in memory gets a capacity, and rows fill the rest. Afterwards all rows are counted again.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/full_disk.h"

namespace varve::test::blob_full_disk_test {
namespace {

class BlobsOnAFullDisk : public testing::Test {
 protected:
  /// Closes the store, lets the keeper work, and expects so many contents, all of which have their owners.
  void expect_contents(std::size_t contents) {
    EXPECT_EQ(said(bench_.store->close()), kFine);
    bench_.store.reset();
    SettledStore settled(33, bench_.machine.files->snapshot());
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), contents);
  }
  std::vector<std::string> staged() const {
    std::vector<std::string> ids;
    const Result<BlockLists> lists = photos_.blocks("list");
    EXPECT_TRUE(lists.ok()) << lists.status().to_string();
    if (!lists.ok()) return ids;
    for (const BlockInfo& block : lists->staged) ids.push_back(block.id);
    return ids;
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

constexpr std::size_t kPiece = 1'500'000;

TEST_F(BlobsOnAFullDisk, BX04_BX12_AnUploadInWhoseMiddleTheDiskFillsLeavesNothing) {
  const std::string film = uneven_bytes(40'000);
  (void)put_blob(photos_, "film", film);
  FullDisk disk(bench_);
  {
    Result<BlobWriter> writer = photos_.write("film");
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(said(writer->append(uneven_bytes(kPiece))), kFine);
    disk.fill();
    Status refused;
    for (int i = 0; i < 8 && refused.ok(); ++i) refused = writer->append(uneven_bytes(kPiece));
    EXPECT_EQ(refused.code(), Code::kNoSpace) << refused.to_string();
    EXPECT_EQ(writer->append("more").code(), Code::kNoSpace) << "the writer cannot be used any more";
    EXPECT_EQ(writer->publish().code(), Code::kNoSpace);
    EXPECT_TRUE(content_in(photos_, "film") == film) << "reads go on, and nothing was published";
  }
  disk.give_room();
  const std::string next = uneven_bytes(50'000, 2);
  EXPECT_EQ(said_with_patience([&] { return photos_.put("film", next); }), kFine);
  Result<BlobWriter> writer = photos_.write("long");
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(said(writer->append(uneven_bytes(kPiece))), kFine);
  EXPECT_EQ(said(writer->publish()), kFine);
  EXPECT_TRUE(content_in(photos_, "film") == next);
  EXPECT_EQ(state_in(photos_, "long").length, 3 * kPiece);
  expect_contents(2);
}

TEST_F(BlobsOnAFullDisk, BX12_RefusedVerbsChangeNothing) {
  const std::string content = uneven_bytes(40'000);
  (void)put_blob(photos_, "a", content);
  EXPECT_EQ(stage(photos_, "list", "1", uneven_bytes(20'000)), kFine);
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  EXPECT_EQ(said(photos_.append("log", "first")), kFine);
  FullDisk disk(bench_);
  disk.fill();
  const std::string large = uneven_bytes(60'000, 2);
  EXPECT_EQ(photos_.put("a", large).code(), Code::kNoSpace);
  EXPECT_EQ(photos_.put("new", large).code(), Code::kNoSpace);
  EXPECT_EQ(photos_.append("log", large).code(), Code::kNoSpace);
  Result<BlobWriter> appender = photos_.write_append("log");
  ASSERT_TRUE(appender.ok());
  EXPECT_EQ(said(appender->append(large)), kFine) << "it is still in memory";
  EXPECT_EQ(appender->publish().code(), Code::kNoSpace);
  EXPECT_EQ(stage(photos_, "list", "2", large).code, Code::kNoSpace);
  EXPECT_TRUE(content_in(photos_, "a") == content);
  EXPECT_EQ(said(photos_.state("new")), kBlobGone);
  EXPECT_EQ(content_in(photos_, "log"), "first");
  EXPECT_EQ(state_in(photos_, "log").append_count, 1U);
  EXPECT_EQ(staged(), std::vector<std::string>{"1"});
  disk.give_room();
  EXPECT_EQ(said_with_patience([&] { return photos_.append("log", large); }), kFine);
  EXPECT_EQ(stage(photos_, "list", "2", large), kFine);
  EXPECT_EQ(said(photos_.commit_blocks("list", std::vector<BlockChoice>{{"1"}, {"2"}})), kFine);
  EXPECT_TRUE(content_in(photos_, "log") == "first" + large);
  expect_contents(5);  // a, log, the list and its two blocks
}

TEST_F(BlobsOnAFullDisk, BX12_SmallChangesAreMadeOrRefusedAndDropsAreMade) {
  const std::string content = uneven_bytes(40'000);
  (void)put_blob(photos_, "a", content);
  (void)put_blob(photos_, "b", content);
  Container others = bench_.container("others");
  (void)put_blob(others, "c", content);
  {
    FullDisk disk(bench_);
    disk.fill();
    const Status copied = photos_.copy("copy", photos_, "a").status();
    EXPECT_TRUE(is_done_or_refused(copied)) << copied.to_string();
    EXPECT_TRUE(content_in(photos_, "copy") == (copied.ok() ? content : "BlobNotFound"));
    const Status removed = photos_.remove("b");
    EXPECT_TRUE(is_done_or_refused(removed)) << removed.to_string();
    EXPECT_TRUE(content_in(photos_, "b") == (removed.ok() ? "BlobNotFound" : content));
    EXPECT_EQ(said(bench_.store->drop_container(kAccount, "others")), kFine);
  }
  EXPECT_EQ(said(others.state("c")), kContainerGone);
  const Said removed = said_with_patience([&] { return photos_.remove("b"); });
  EXPECT_TRUE(removed == kFine || removed == kBlobGone);
  const Said copied = said_with_patience([&] { return photos_.copy("copy", photos_, "a"); });
  EXPECT_EQ(copied, kFine);
  expect_contents(1);  // of a and of its copy
}

}  // namespace
}  // namespace varve::test::blob_full_disk_test
