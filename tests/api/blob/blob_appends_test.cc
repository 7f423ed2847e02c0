// Goal: an append blob takes its 50,000 appends, whatever is copied meanwhile and however its contents were written (BA-04),
// and a change of its state costs nothing for its contents.
// Method: a blob gets more contents than its row names, because each copy ends the content that grows. All owners are
// counted again afterwards.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "varve/blob.h"

namespace varve::test::blob_appends_test {
namespace {

/// More than one row names, so that most of them are in a list.
constexpr int kContents = 520;

/// Appends numbers, each to a content of its own. Returns the whole content.
std::string append_between_copies(Container& logs, std::string& kept) {
  const AppendOptions buffered{.durability = Durability::kBuffered};
  BlobCopyOptions copying;
  copying.durability = Durability::kBuffered;
  std::string expected;
  for (int i = 0; i < kContents; ++i) {
    EXPECT_EQ(said(logs.copy("copy", logs, "log", copying)), kFine) << i;
    const std::string record = std::to_string(i) + "\n";
    EXPECT_EQ(said(logs.append("log", record, buffered)), kFine) << i;
    expected += record;
    if (i != kContents - 4) continue;
    EXPECT_EQ(said(logs.copy("kept", logs, "log", copying)), kFine);
    kept = expected;
  }
  return expected;
}

void expect_ranges(const Container& logs, const std::string& expected) {
  const Result<BlobReader> reader = logs.read("log");
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  for (std::size_t begin = 0; begin < expected.size(); begin += 97) {
    std::string range(101, '?');
    const Result<std::size_t> got = reader->read(begin, range);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_EQ(range.substr(0, *got), expected.substr(begin, range.size())) << begin;
  }
  const Result<BlobTail> tail = logs.tail("log", {.offset = 1'000});
  ASSERT_TRUE(tail.ok()) << tail.status().to_string();
  EXPECT_EQ(tail->bytes, expected.substr(1'000));
}

TEST(BlobAppends, BA04_BX08_CopiesBetweenAppendsDoNotEndALog) {
  io::MemoryDisk disk;
  std::string kept;
  {
    QueueBench bench;
    Container logs = *bench.store->create_container(kAccount, "logs");
    ASSERT_EQ(said(logs.create_append_blob("log")), kFine);
    const std::string expected = append_between_copies(logs, kept);
    EXPECT_EQ(content_in(logs, "log"), expected);
    EXPECT_EQ(content_in(logs, "kept"), kept);
    expect_ranges(logs, expected);
    EXPECT_EQ(state_in(logs, "log").append_count, static_cast<std::uint32_t>(kContents));
    EXPECT_EQ(said(logs.set_metadata("log", {{"a", "b"}})), kFine);
    EXPECT_EQ(said(logs.remove("copy")), kFine);
    EXPECT_EQ(said(logs.remove("log")), kFine);
    bench.store.reset();
    disk = bench.machine.files->snapshot();
  }
  SettledStore settled(1, std::move(disk), std::chrono::hours(1));
  settled.settle();
  {
    Container logs = *settled.store().open_container(kAccount, "logs");
    EXPECT_EQ(content_in(logs, "kept"), kept) << "its list owns the contents";
    EXPECT_EQ(said(logs.remove("kept")), kFine);
  }
  settled.settle();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
  EXPECT_EQ(recount.blobs(), 0U);
}

TEST(BlobAppends, BA04_AnAppendAddsToTheContentOfALargeOne) {
  QueueBench bench;
  Container logs = *bench.store->create_container(kAccount, "logs");
  ASSERT_EQ(said(logs.create_append_blob("log")), kFine);
  const std::string large = uneven_bytes(2 * (std::size_t{1} << 20) + 5);
  std::string expected;
  for (int i = 0; i < 3; ++i) {
    Result<BlobWriter> writer = logs.write_append("log");
    ASSERT_EQ(said(writer), kFine);
    ASSERT_EQ(said(writer->append(large)), kFine);
    ASSERT_EQ(said(writer->publish()), kFine);
    ASSERT_EQ(said(logs.append("log", "small")), kFine);
    expected += large + "small";
  }
  EXPECT_TRUE(content_in(logs, "log") == expected);
  EXPECT_EQ(said(logs.remove("log")), kFine);
  bench.store.reset();
  SettledStore settled(1, bench.machine.files->snapshot(), std::chrono::hours(1));
  settled.settle();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
}

}  // namespace
}  // namespace varve::test::blob_appends_test
