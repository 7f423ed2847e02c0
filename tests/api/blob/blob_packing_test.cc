// Goal: a content whose parts are compressed reads as one whose parts are not, takes less space, and damage of it is found
// (BX-06, BX-07).
// Method: contents that shrink, and some that do not, are written in each way that writes parts, and read in ranges. The
// stored bytes of their parts are counted. A part is changed in the closed store.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/content_rows.h"
#include "engine/engine.h"
#include "engine/read/cursor.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/blob/work_bench.h"
#include "varve/blob.h"
#include "varve/verify.h"

namespace varve::test::blob_packing_test {
namespace {

/// Lines of a log, which shrink well.
std::string lines(std::size_t bytes) {
  std::string all;
  for (std::uint64_t i = 0; all.size() < bytes; ++i) {
    all += "2026-11-27T10:20:30Z GET /photos/eu/" + std::to_string(i * 2'654'435'761U % 100'000) + " 200 OK\n";
  }
  all.resize(bytes);
  return all;
}

BlobWriteOptions packing() {
  BlobWriteOptions options;
  options.compresses = true;
  return options;
}

constexpr std::size_t kLong = 3'500'000;

class BlobPacking : public testing::Test {
 protected:
  void put_stream(const std::string& name, const std::string& content, const BlobWriteOptions& options) {
    Result<BlobWriter> writer = logs_.write(name, options);
    ASSERT_TRUE(writer.ok()) << writer.status().to_string();
    for (std::size_t at = 0; at < content.size(); at += 300'001) {
      ASSERT_EQ(said(writer->append(std::string_view(content).substr(at, 300'001))), kFine);
    }
    const Result<BlobState> written = writer->publish();
    ASSERT_TRUE(written.ok()) << written.status().to_string();
    EXPECT_EQ(written->length, content.size());
  }
  /// Closes the store, and returns the bytes of the stored parts of all contents.
  std::uint64_t stored_bytes() {
    bench_.store.reset();
    auto engine = bench_.machine.open();
    EXPECT_TRUE(engine.ok()) << engine.status().to_string();
    if (!engine.ok()) return 0;
    const engine::ReadView view = (*engine)->view();
    engine::Cursor rows = view.cursor({}, {});
    std::uint64_t bytes = 0;
    for (rows.seek_to_first(); rows.valid(); rows.next()) {
      const format::TableId id = format::table_id_of(rows.key());
      if (id != contents_of(id) || format::account_of(id) != 1) continue;
      const Result<ContentPlace> place = decode_content_key(rows.key());
      if (place.ok() && place->offset) bytes += rows.value().size();
    }
    EXPECT_TRUE(rows.status().ok()) << rows.status().to_string();
    return bytes;
  }

  BlobBench bench_;
  Container logs_ = bench_.container("logs");
};

void expect_content(const Container& container, const std::string& name, const std::string& content) {
  const Result<BlobReader> reader = container.read(name);
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_TRUE(all_of(*reader) == content);
  for (const std::size_t begin :
       {std::size_t{0}, std::size_t{65'535}, std::size_t{1'048'570}, std::size_t{2'000'000}, content.size() - 10}) {
    std::string range(100, '?');
    const Result<std::size_t> got = reader->read(begin, range);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_EQ(range.substr(0, *got), content.substr(begin, range.size())) << begin;
  }
}

TEST_F(BlobPacking, BX06_AContentThatShrinksTakesLessSpace) {
  const std::string content = lines(kLong);
  put_stream("log", content, packing());
  expect_content(logs_, "log", content);
  EXPECT_LT(stored_bytes(), kLong / 2);
  const VerifyReport report = *Store::verify(kStorePath, bench_.options());
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.content_bytes, kLong);
  expect_content(bench_.reopened("logs"), "log", content);
}

TEST_F(BlobPacking, BX06_WhatDoesNotShrinkOrIsEncodedOrWasNotAskedForIsStoredAsItIs) {
  put_stream("uneven", uneven_bytes(kLong), packing());
  BlobWriteOptions encoded = packing();
  encoded.properties.content_encoding = "gzip";
  put_stream("encoded", lines(kLong), encoded);
  put_stream("plain", lines(kLong), {});
  expect_content(logs_, "uneven", uneven_bytes(kLong));
  expect_content(logs_, "encoded", lines(kLong));
  EXPECT_GE(stored_bytes(), 3 * kLong);
}

TEST_F(BlobPacking, BX06_APartThatDoesNotShrinkIsStoredAsItIsBesideOthers) {
  const std::string content = lines(1'048'576) + uneven_bytes(1'048'576) + lines(1'500'000);
  put_stream("mixed", content, packing());
  expect_content(logs_, "mixed", content);
  const std::uint64_t stored = stored_bytes();
  EXPECT_GT(stored, 1'048'576U);
  EXPECT_LT(stored, 2'500'000U);
}

TEST_F(BlobPacking, BX06_BX08_BlocksAndCopiesArePackedToo) {
  const std::string first = lines(2'100'000);
  const std::string second = lines(900'000);
  EXPECT_EQ(stage(logs_, "blocks", "1", first, packing()), kFine);
  EXPECT_EQ(stage(logs_, "blocks", "2", second, packing()), kFine);
  ASSERT_EQ(said(logs_.commit_blocks("blocks", std::vector<BlockChoice>{{"1"}, {"2"}})), kFine);
  ASSERT_EQ(said(logs_.copy("copy", logs_, "blocks")), kFine);
  ASSERT_EQ(said(logs_.remove("blocks")), kFine);
  expect_content(logs_, "copy", first + second);
  (void)put_blob(logs_, "small", lines(900'000), packing());
  EXPECT_EQ(content_in(logs_, "small"), lines(900'000));
  (void)put_blob(logs_, "tiny", lines(1'000), packing());
  EXPECT_EQ(content_in(logs_, "tiny"), lines(1'000)) << "it lies in the row of the blob";
  EXPECT_LT(stored_bytes(), 2'000'000U);
}

TEST_F(BlobPacking, BX06_BX41_DamageOfAPackedPartIsFound) {
  const std::string content = lines(2'100'000);
  put_stream("log", content, packing());
  bench_.store.reset();
  {
    auto engine = *bench_.machine.open();
    std::string key;
    std::string value;
    {
      const engine::ReadView view = engine->view();
      engine::Cursor rows = view.cursor({}, {});
      for (rows.seek_to_first(); rows.valid(); rows.next()) {
        if (!is_packed_part(rows.value())) continue;
        const Result<ContentPlace> place = decode_content_key(rows.key());
        if (!place.ok() || place->offset != kPartBytes) continue;
        key = rows.key();
        value = rows.value();
      }
    }
    ASSERT_FALSE(key.empty()) << "the second part is packed";
    value[value.size() / 2] = static_cast<char>(value[value.size() / 2] ^ 1);
    format::BatchBuilder batch;
    batch.put(key, value);
    Result<engine::PartitionGuard> guard =
        engine->lock_partitions(std::vector{format::partition_hash(format::partition_of(key))}, std::nullopt);
    ASSERT_TRUE(guard.ok()) << guard.status().to_string();
    engine::CommitRequest request;
    request.batch = batch.finish();
    request.locks = *std::move(guard);
    ASSERT_TRUE(engine->commit(std::move(request)).ok());
    ASSERT_TRUE(engine->close().ok());
  }
  {
    const Container logs = bench_.reopened("logs");
    const Result<BlobReader> reader = logs.read("log");
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    std::string range(100, '?');
    EXPECT_EQ(reader->read(1'100'000, range).code(), Code::kCorruption);
    ASSERT_TRUE(reader->read(0, range).ok());
    EXPECT_EQ(range, content.substr(0, range.size()));
  }
  bench_.store.reset();
  EXPECT_FALSE((*Store::verify(kStorePath, bench_.options())).sound());
}

}  // namespace
}  // namespace varve::test::blob_packing_test
