// Goal: the state of a blob has the CRC-64 of its whole content, whichever writes made it (BB-04, BX-07).
// Method: each kind of write, and after each the sum is compared with that of the bytes that are read.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/content_rows.h"
#include "format/bytes/crc64.h"
#include "tests/api/blob/blob_bench.h"
#include "varve/verify.h"

namespace varve::test::blob_sums_test {
namespace {

class BlobSums : public testing::Test {
 protected:
  void expect_sum(std::string_view blob, const std::string& content) {
    SCOPED_TRACE(blob);
    EXPECT_TRUE(content_in(photos_, blob) == content);
    const BlobState state = state_in(photos_, blob);
    ASSERT_TRUE(state.crc64.has_value());
    EXPECT_EQ(*state.crc64, format::crc64(content));
  }
  void stream(const std::string& blob, const std::string& content, const BlobWriteOptions& options = {}) {
    BlobWriter writer = *photos_.write(blob, options);
    for (std::size_t at = 0; at < content.size(); at += 300'001) {
      ASSERT_EQ(said(writer.append(std::string_view(content).substr(at, 300'001))), kFine);
    }
    ASSERT_EQ(said(writer.publish()), kFine);
    expect_sum(blob, content);
  }
  void TearDown() override {
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobSums, BB04_BX07_APutAndAStreamKeepTheSum) {
  for (const std::size_t size : {0U, 10U, 20'000U, 1'048'576U, 4'500'000U}) {
    const std::string content = uneven_bytes(size);
    put_blob(photos_, "put", content);
    expect_sum("put", content);
    stream("stream", content);
  }
  stream("packed", std::string(3'000'000, 'p'), {.compresses = true});
  ASSERT_EQ(said(photos_.copy("copy", photos_, "packed")), kFine);
  expect_sum("copy", std::string(3'000'000, 'p'));
}

TEST_F(BlobSums, BA01_BX07_AppendsJoinTheirSums) {
  ASSERT_EQ(said(photos_.create_append_blob("log")), kFine);
  std::string content;
  for (const std::size_t size : {3U, 70'000U, 1'200'000U}) {
    const std::string more = uneven_bytes(size, static_cast<std::uint32_t>(size));
    ASSERT_EQ(said(photos_.append("log", more)), kFine);
    content += more;
    expect_sum("log", content);
  }
  for (const std::size_t size : {5U, 2'200'000U}) {
    const std::string more = uneven_bytes(size, static_cast<std::uint32_t>(size));
    BlobWriter writer = *photos_.write_append("log");
    ASSERT_EQ(said(writer.append(more)), kFine);
    ASSERT_EQ(said(writer.publish()), kFine);
    content += more;
    expect_sum("log", content);
  }
  ASSERT_EQ(said(photos_.copy("copy", photos_, "log")), kFine);
  ASSERT_EQ(said(photos_.append("copy", "after")), kFine);
  expect_sum("copy", content + "after");
  expect_sum("log", content);
}

TEST_F(BlobSums, BB08_BX07_AListJoinsTheSumsOfItsBlocks) {
  const std::string a = uneven_bytes(100, 1);
  const std::string b = uneven_bytes(90'000, 2);
  const std::string c = uneven_bytes(3'300'000, 3);
  using From = BlockChoice::From;
  EXPECT_EQ(stage(photos_, "list", "a", a), kFine);
  EXPECT_EQ(stage(photos_, "list", "b", b), kFine);
  ASSERT_EQ(said(photos_.commit_blocks("list", std::vector<BlockChoice>{{"b"}, {"a"}, {"b"}})), kFine);
  expect_sum("list", b + a + b);
  EXPECT_EQ(stage(photos_, "list", "c", c), kFine);
  EXPECT_EQ(stage(photos_, "list", "a", c), kFine);
  ASSERT_EQ(said(photos_.commit_blocks(
                "list", std::vector<BlockChoice>{{"a", From::kCommitted}, {"c"}, {"b"}, {"c"}, {"a", From::kStaged}})),
            kFine);
  expect_sum("list", a + c + b + c + c);
  ASSERT_EQ(said(photos_.commit_blocks("list", std::vector<BlockChoice>{})), kFine);
  expect_sum("list", "");
}

}  // namespace
}  // namespace varve::test::blob_sums_test
