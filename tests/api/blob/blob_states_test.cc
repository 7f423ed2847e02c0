// Goal: a blob that was acknowledged is there after a crash, as durably as its writer asked; snapshots and checkpoints
// show blobs and entities of one moment (BX-10, BX-22).
// Method: images of the disk after a power cut and after a death of the process; copies of the store.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"

namespace varve::test::blob_states_test {
namespace {

class BlobStates : public testing::Test {
 protected:
  static std::string content_on(io::MemoryDisk disk, std::string_view name) {
    StoreBench bench(41, std::move(disk));
    bench.open();
    const Result<Container> photos = bench.store->open_container(kAccount, "photos");
    return photos.ok() ? content_in(*photos, name) : std::string(photos.status().service_error());
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobStates, BX10_ASyncedBlobSurvivesThePowerAndABufferedOneTheProcess) {
  io::SeededRandom random(42);
  const std::string content = uneven_bytes(1'100'000);
  (void)put_blob(photos_, "synced", content, {.durability = Durability::kSync});
  io::MemoryDisk cut = bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, random);
  EXPECT_TRUE(content_on(std::move(cut), "synced") == content);
  (void)put_blob(photos_, "buffered", content, {.durability = Durability::kBuffered});
  EXPECT_TRUE(content_on(bench_.machine.files->process_death(random), "buffered") == content);
  (void)put_blob(photos_, "second", "text", {.durability = Durability::kSync});
  cut = bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, random);
  EXPECT_TRUE(content_on(std::move(cut), "buffered") == content)
      << "a later synced commit makes the earlier ones durable";
}

TEST_F(BlobStates, BX10_AStagedBlockAndAnAppendAreDurableWhenTheyAreAcknowledged) {
  io::SeededRandom random(42);
  EXPECT_EQ(stage(photos_, "list", "1", "block"), kFine);
  EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
  EXPECT_EQ(said(photos_.append("log", "line")), kFine);
  StoreBench after(41, bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, random));
  after.open();
  Container photos = *after.store->open_container(kAccount, "photos");
  EXPECT_EQ(content_in(photos, "log"), "line");
  EXPECT_EQ(said(photos.commit_blocks("list", std::vector<BlockChoice>{{"1"}})), kFine);
  EXPECT_EQ(content_in(photos, "list"), "block");
}

TEST_F(BlobStates, BX22_ASnapshotShowsEntityAndBlobOfOneMoment) {
  Table employees = bench_.table("Employees");
  const std::string old = uneven_bytes(300'000, 1);
  (void)put_blob(photos_, "photo", old, {.metadata = {{"k", "old"}}});
  EXPECT_EQ(said(employees.insert(with_value("sales", "1", "old"))), kFine);
  const Snapshot then = *bench_.store->snapshot();
  (void)put_blob(photos_, "photo", "new");
  (void)put_blob(photos_, "later", "x");
  EXPECT_EQ(said(employees.replace(with_value("sales", "1", "new"), ETag::any())), kFine);
  EXPECT_EQ(said(bench_.store->compact()), kFine);
  const Result<BlobReader> reader = photos_.read("photo", {.snapshot = then});
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_TRUE(all_of(*reader) == old);
  EXPECT_EQ((*photos_.state("photo", {.snapshot = then})).metadata.front().value, "old");
  EXPECT_EQ(said(photos_.state("later", {.snapshot = then})), kBlobGone);
  EXPECT_EQ((*photos_.list({.snapshot = then})).entries.size(), 1U);
  ReadOptions at;
  at.snapshot = then;
  EXPECT_EQ(value_in(employees, "sales", "1", at), "old");
  EXPECT_EQ(said(bench_.store->drop_container(kAccount, "photos")), kFine);
  EXPECT_EQ(said(photos_.read("photo")), kContainerGone);
  const Result<BlobReader> dropped = photos_.read("photo", {.snapshot = then});
  ASSERT_TRUE(dropped.ok()) << dropped.status().to_string();
  EXPECT_TRUE(all_of(*dropped) == old);
}

TEST_F(BlobStates, BX22_ACheckpointHoldsBlobsAndEntities) {
  Table employees = bench_.table("Employees");
  const std::string content = uneven_bytes(300'000, 1);
  (void)put_blob(photos_, "photo", content);
  EXPECT_EQ(stage(photos_, "list", "1", "block"), kFine);
  EXPECT_EQ(said(employees.insert(with_value("sales", "1", "there"))), kFine);
  EXPECT_EQ(said(bench_.store->checkpoint("/copy")), kFine);
  (void)put_blob(photos_, "photo", "new");
  const Result<std::unique_ptr<Store>> copy = Store::open("/copy", bench_.options());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  Container photos = *(*copy)->open_container(kAccount, "photos");
  EXPECT_TRUE(content_in(photos, "photo") == content);
  EXPECT_EQ(value_in(*(*copy)->open_table(kAccount, "Employees"), "sales", "1"), "there");
  EXPECT_EQ(said(photos.commit_blocks("list", std::vector<BlockChoice>{{"1"}})), kFine);
  EXPECT_EQ(content_in(photos, "list"), "block");
  EXPECT_EQ(content_in(photos_, "list"), "BlobNotFound") << "the stores are apart";
}

}  // namespace
}  // namespace varve::test::blob_states_test
