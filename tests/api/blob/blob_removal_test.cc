// Goal: the removal of blobs reads no content (BX-33), and a damaged row or content keeps no other one from being
// removed.
// Method: rows and contents are damaged on the disk or in the engine. Then the keeper works in simulated time, and the
// rows that are left are counted.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/blob_rows.h"
#include "engine/read/cursor.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"

namespace varve::test::blob_removal_test {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;

/// Returns the disk of a store after `fill`, with all values flushed.
io::MemoryDisk disk_after(const std::function<void(Container&)>& fill) {
  BlobBench bench;
  {
    Container photos = bench.container();
    fill(photos);
  }
  EXPECT_EQ(said(bench.store->compact()), kFine);
  bench.store.reset();
  return bench.machine.files->snapshot();
}

/// Changes rows of a store on a disk by commits without rules.
io::MemoryDisk changed(io::MemoryDisk disk,
                       const std::function<void(const engine::Cursor& row, format::BatchBuilder& batch)>& change) {
  Machine machine(1, std::move(disk));
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  if (!engine.ok()) std::abort();
  format::BatchBuilder batch;
  std::vector<std::uint64_t> hashes;
  {
    const engine::ReadView view = (*engine)->view();
    engine::Cursor rows = view.cursor({}, {});
    for (rows.seek_to_first(); rows.valid(); rows.next()) {
      change(rows, batch);
      hashes.push_back(format::partition_hash(format::partition_of(rows.key())));
    }
  }
  engine::CommitRequest request;
  request.locks = *(*engine)->lock_partitions(hashes);
  request.batch = batch.finish();
  EXPECT_TRUE((*engine)->commit(std::move(request)).ok());
  EXPECT_TRUE((*engine)->close().ok());
  return machine.files->snapshot();
}

bool is_blob_row(std::string_view key, std::string_view name) {
  const Result<std::string> found = blob_row_kind(key) == 'B' ? decode_named_key(key) : Status(Code::kNotFound);
  return found.ok() && *found == name;
}

void put_three(Container& photos) {
  for (const char* name : {"a", "b", "c"}) (void)put_blob(photos, name, std::string(20'000, *name));
}

TEST(BlobRemoval, BX33_ALongContentGoesUnread) {
  io::MemoryDisk disk = disk_after([](Container& photos) {
    ASSERT_TRUE(photos.create_append_blob("log").ok());
    for (std::uint32_t i = 0; i < 8; ++i) ASSERT_EQ(said(photos.append("log", uneven_bytes(kPart, i))), kFine);
  });
  SettledStore settled(1, std::move(disk));
  {
    Container photos = *settled.store().open_container(kAccount, "photos");
    EXPECT_EQ(said(photos.remove("log")), kFine);
  }
  settled.settle();
  const Result<Statistics> statistics = settled.store().statistics();
  ASSERT_TRUE(statistics.ok());
  EXPECT_LT(statistics->block_read_bytes, kPart);
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
}

TEST(BlobRemoval, ADamagedRowKeepsNoOtherOne) {
  io::MemoryDisk disk = changed(disk_after(put_three), [](const engine::Cursor& row, format::BatchBuilder& batch) {
    if (is_blob_row(row.key(), "a")) batch.put(row.key(), "no row");
  });
  SettledStore settled(1, std::move(disk));
  EXPECT_EQ(said(settled.store().drop_container(kAccount, "photos")), kFine);
  settled.settle();
  const BlobRecount recount = settled.recount();
  EXPECT_EQ(recount.contents(), 1U) << "that of the damaged row";
  EXPECT_EQ(recount.work(), 1U) << "the damaged row stays, and so does its work";
}

TEST(BlobRemoval, AContentWithoutAHeadKeepsNoBlob) {
  io::MemoryDisk disk = changed(disk_after(put_three), [](const engine::Cursor& row, format::BatchBuilder& batch) {
    const format::TableId id = format::table_id_of(row.key());
    if (format::account_of(id) != 1 || id != contents_of(id)) return;
    const Result<ContentPlace> place = decode_content_key(row.key());
    if (place.ok() && !place->offset) batch.remove(row.key());
  });
  SettledStore settled(1, std::move(disk));
  {
    Container photos = *settled.store().open_container(kAccount, "photos");
    EXPECT_EQ(said(photos.copy("copy", photos, "a")), (Said{Code::kCorruption, ""})) << "a copy would be as damaged";
    EXPECT_EQ(said(photos.remove("a")), kFine);
    EXPECT_EQ(said(photos.put("b", "new")), kFine);
    EXPECT_EQ(said(photos.remove("b")), kFine);
  }
  EXPECT_EQ(said(settled.store().drop_container(kAccount, "photos")), kFine);
  settled.settle();
  const BlobRecount recount = settled.recount();
  EXPECT_EQ(recount.work(), 0U);
  EXPECT_EQ(recount.blobs(), 0U);
}

TEST(BlobRemoval, AnUnknownRowOfWorkKeepsNoOther) {
  const std::string unknown = *format::encode_sort_key(kWorkTable, "A", "?");
  bool is_added = false;
  io::MemoryDisk disk = changed(disk_after(put_three), [&](const engine::Cursor&, format::BatchBuilder& batch) {
    if (!std::exchange(is_added, true)) batch.put(unknown, "?");
  });
  SettledStore settled(1, std::move(disk));
  EXPECT_EQ(said(settled.store().drop_container(kAccount, "photos")), kFine);
  settled.settle();
  const BlobRecount recount = settled.recount();
  EXPECT_EQ(recount.contents(), 0U);
  EXPECT_EQ(recount.work(), 0U) << "of those that can be read";
}

TEST(BlobRemoval, BX30_AnEndedListLeavesNoExpiry) {
  io::MemoryDisk disk = disk_after([](Container& photos) {
    for (const char* name : {"committed", "in part", "replaced", "removed"}) {
      ASSERT_EQ(stage(photos, name, "01", "block"), kFine);
      ASSERT_EQ(stage(photos, name, "02", "block"), kFine);
    }
    ASSERT_EQ(said(photos.commit_blocks("committed", std::vector<BlockChoice>{{"01"}, {"02"}})), kFine);
    ASSERT_EQ(said(photos.commit_blocks("in part", std::vector<BlockChoice>{{"02"}})), kFine);
    ASSERT_EQ(said(photos.put("replaced", "new")), kFine);
    ASSERT_EQ(said(photos.put("removed", "new")), kFine);
    ASSERT_EQ(said(photos.remove("removed")), kFine);
    ASSERT_EQ(stage(photos, "staged", "01", "block"), kFine);
  });
  SettledStore settled(1, std::move(disk));
  settled.settle();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.staged_lists(), 1U);
  EXPECT_EQ(recount.expiries(), 1U) << "of the list that is there";
}

TEST(BlobReads, BX09_ARangeOfALargeAppendReadsLittleOfIt) {
  const std::string bytes = uneven_bytes(4 * kPart);
  io::MemoryDisk disk = disk_after([&](Container& photos) {
    ASSERT_TRUE(photos.create_append_blob("log").ok());
    ASSERT_EQ(said(photos.append("log", bytes)), kFine);
  });
  SettledStore settled(1, std::move(disk));
  Container photos = *settled.store().open_container(kAccount, "photos");
  const Result<BlobReader> reader = photos.read("log");
  ASSERT_TRUE(reader.ok());
  const auto bytes_read = [&] {
    const Result<Statistics> statistics = settled.store().statistics();
    return statistics.ok() ? statistics->block_read_bytes : 0;
  };
  const std::uint64_t before = bytes_read();
  constexpr std::size_t kRange = 1'000;
  for (const std::size_t offset : {kPart / 2, kPart - kRange / 2, 3 * kPart + 70'000}) {
    std::string range(kRange, '?');
    const Result<std::size_t> got = reader->read(offset, range);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_TRUE(range == bytes.substr(offset, kRange)) << offset;
  }
  EXPECT_LT(bytes_read() - before, kPart);
  std::string all(bytes.size(), '?');
  ASSERT_TRUE(reader->read(0, all).ok());
  EXPECT_TRUE(all == bytes);
}

}  // namespace
}  // namespace varve::test::blob_removal_test
