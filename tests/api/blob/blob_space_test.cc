// Goal: each byte of content takes space once, deleted content gives its space back, a collection reads only content that
// it moves, and a cold range reads little more than itself (BX-05, BX-08, BX-09, BX-11, BX-32, BX-33).
// Method: figures of the store and of the disk, before and after deletes and compactions. The reads of a collection are
// counted by the file system.
#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "format/log/file_header.h"
#include "io/simulated/fault_plan.h"
#include "tests/api/blob/blob_bench.h"

namespace varve::test::blob_space_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class BlobSpace : public testing::Test {
 protected:
  std::uint64_t live_bytes() {
    const Result<Statistics> figures = bench_.store->statistics();
    EXPECT_TRUE(figures.ok());
    return figures.ok() ? figures->value_file_live_bytes : 0;
  }
  /// Closes and opens the store, because an open log keeps some segments for their next use.
  std::uint64_t used_bytes() {
    photos_ = bench_.reopened();
    return bench_.machine.files->used_bytes();
  }
  void compact() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(said(bench_.store->compact()), kFine);
  }
  void fill(int blobs, int first = 0) {
    for (int i = first; i < first + blobs; ++i) {
      (void)put_blob(photos_, std::to_string(i), uneven_bytes(kMiB, static_cast<std::uint32_t>(i)));
    }
    compact();
  }
  void remove(int blob) { EXPECT_EQ(said(photos_.remove(std::to_string(blob))), kFine); }
  /// Compacts, and returns the bytes that were read of segments of the log meanwhile. Value files are such segments.
  std::uint64_t content_read_by_compaction() {
    std::uint64_t bytes = 0;
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.predicate = [&bytes](const io::Operation& read) {  // under the lock of the fault plan
      const Result<format::FileId> file = format::parse_file_name(read.name);
      if (file.ok() && file->type == format::FileType::kLogSegment) bytes += read.size_bytes;
      return false;
    };
    bench_.machine.files->faults().add(std::move(rule));
    compact();
    bench_.machine.files->faults().clear();
    return bytes;
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobSpace, BX05_BX32_ValueFilesShrinkAfterDeletesAndCompaction) {
  const std::uint64_t empty = used_bytes();
  fill(24);
  EXPECT_GE(live_bytes(), 24 * kMiB);
  EXPECT_LE(live_bytes(), 25 * kMiB) << "BX-05: each byte is stored once";
  const std::uint64_t full = used_bytes();
  for (int i = 0; i < 24; ++i) {
    if (i % 4 != 0) {
      EXPECT_EQ(said(photos_.remove(std::to_string(i))), kFine);
    }
  }
  compact();
  EXPECT_LE(live_bytes(), 7 * kMiB);
  EXPECT_LT(used_bytes(), full - 12 * kMiB);
  for (int i = 0; i < 24; i += 4) {
    EXPECT_TRUE(content_in(photos_, std::to_string(i)) == uneven_bytes(kMiB, static_cast<std::uint32_t>(i)));
    EXPECT_EQ(said(photos_.remove(std::to_string(i))), kFine);
  }
  compact();
  EXPECT_EQ(live_bytes(), 0U);
  EXPECT_LT(used_bytes(), empty + 4 * kMiB);
}

constexpr std::uint64_t kUnread = 65'536;  // less than one hashed piece of a content

TEST_F(BlobSpace, BX33_ACollectionReadsNoContentThatItDoesNotMove) {
  fill(12);
  fill(12, 12);
  const std::uint64_t full = used_bytes();
  for (int i = 0; i < 12; ++i) remove(i);  // all in the first value file, which is dead then
  remove(12);                              // a twelfth of the second one, which stays where it is
  EXPECT_LT(content_read_by_compaction(), kUnread);
  EXPECT_LT(used_bytes(), full - 8 * kMiB) << "the dead value file is gone";
  EXPECT_GE(live_bytes(), 11 * kMiB) << "the contents of the other one did not move";
  for (int i = 13; i < 24; ++i) {
    EXPECT_TRUE(content_in(photos_, std::to_string(i)) == uneven_bytes(kMiB, static_cast<std::uint32_t>(i))) << i;
  }
}

TEST_F(BlobSpace, BX33_ACollectionReadsLittleMoreThanTheContentThatItMoves) {
  fill(12);
  const std::uint64_t full = used_bytes();
  for (int i = 0; i < 12; ++i) {
    if (i != 5) remove(i);
  }
  EXPECT_LT(content_read_by_compaction(), kMiB + 4 * kUnread) << "one of twelve contents is moved";
  EXPECT_LT(used_bytes(), full - 8 * kMiB);
  EXPECT_TRUE(content_in(photos_, "5") == uneven_bytes(kMiB, 5));
}

TEST_F(BlobSpace, BX08_BY06_CopiesTakeNoSpaceAndKeepWhatTheyShare) {
  fill(8);
  const std::uint64_t before = live_bytes();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(said(photos_.copy("copy " + std::to_string(i), photos_, std::to_string(i))), kFine);
  }
  compact();
  EXPECT_EQ(live_bytes(), before);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(said(photos_.remove(std::to_string(i))), kFine);
  compact();
  EXPECT_EQ(live_bytes(), before);
  EXPECT_TRUE(content_in(photos_, "copy 3") == uneven_bytes(kMiB, 3));
  for (int i = 0; i < 8; ++i) (void)put_blob(photos_, "copy " + std::to_string(i), "overwritten");
  compact();
  EXPECT_EQ(live_bytes(), 0U);
}

TEST_F(BlobSpace, BX11_AReaderHoldsItsContentUntilItIsClosed) {
  fill(1);
  {
    const Result<BlobReader> reader = photos_.read("0");
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(said(photos_.remove("0")), kFine);
    compact();
    EXPECT_GE(live_bytes(), kMiB);
    EXPECT_TRUE(all_of(*reader) == uneven_bytes(kMiB, 0));
  }
  compact();
  EXPECT_EQ(live_bytes(), 0U);
}

TEST_F(BlobSpace, BX12_ARecoveryReadsNoContent) {
  fill(8);
  photos_ = bench_.reopened();  // so that no content is in the last segment of the log
  (void)put_blob(photos_, "tail", "text");
  io::SeededRandom random(3);
  const io::MemoryDisk disk = bench_.machine.files->process_death(random);
  std::set<std::string> files;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const auto places = places_of(disk, uneven_bytes(kMiB, i).substr(1'000, 64));
    ASSERT_EQ(places.size(), 1U);
    files.insert(places.begin()->first);
  }
  StoreBench killed(9, disk);
  std::atomic<std::uint64_t> bytes{0};
  io::FaultRule rule;
  rule.kind = io::OperationKind::kRead;
  rule.predicate = [&](const io::Operation& read) {  // under the lock of the fault plan
    if (files.contains(std::string(read.name))) bytes += read.size_bytes;
    return false;
  };
  killed.machine.files->faults().add(std::move(rule));
  killed.open();
  EXPECT_LT(bytes.load(), kUnread);
  const Container photos = *killed.store->open_container(kAccount, "photos");
  EXPECT_EQ(content_in(photos, "tail"), "text");
  EXPECT_TRUE(content_in(photos, "3") == uneven_bytes(kMiB, 3));
  EXPECT_GE(bytes.load(), kMiB) << "reads of a content are counted";
  killed.machine.files->faults().clear();
}

TEST_F(BlobSpace, BX09_AColdRangeReadsLittleMoreThanItself) {
  const std::string content = uneven_bytes(std::size_t{6} << 20);
  (void)put_blob(photos_, "short", content.substr(0, std::size_t{2} << 20));
  (void)put_blob(photos_, "long", content);
  EXPECT_EQ(said(bench_.store->compact()), kFine);
  constexpr std::uint64_t kRange = 65'536;
  // The range rounded out on both sides, a sector of hashes for each of two
  // parts, and index blocks.
  constexpr std::uint64_t kMost = 3 * kRange + 2 * 4'096 + 4 * 16'384;
  for (const std::string_view name : {"short", "long"}) {
    for (const std::uint64_t offset :
         {std::uint64_t{1'000'000}, std::uint64_t{1'048'576 - 7}, std::uint64_t{2'000'000}}) {
      photos_ = bench_.reopened();
      const Result<BlobReader> reader = photos_.read(name);
      ASSERT_TRUE(reader.ok());
      const std::uint64_t before = (*bench_.store->statistics()).block_read_bytes;
      std::string buffer(kRange, '?');
      ASSERT_TRUE(reader->read(offset, buffer).ok());
      EXPECT_TRUE(buffer == content.substr(offset, kRange));
      EXPECT_LE((*bench_.store->statistics()).block_read_bytes - before, kMost) << name << " at " << offset;
    }
  }
}

}  // namespace
}  // namespace varve::test::blob_space_test
