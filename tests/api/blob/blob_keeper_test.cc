// Goal: what a writer left, staged blocks that no writer commits, and contents without an owner go away by themselves, at
// their time and also after a restart; what has an owner stays (BX-04, BX-30 to BX-32).
// Method: time is simulated, and the test waits for the keeper by the wait of a get from an empty queue. Then all rows of
// the store are counted again.
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "varve/blob.h"

namespace varve::test::blob_keeper_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kDay = std::chrono::hours(24);

class BlobKeeping : public testing::Test {
 protected:
  /// Runs `work` with a container, and returns the disk that a process leaves which dies afterwards.
  static io::MemoryDisk left_by(const std::function<void(Store&, Container&)>& work) {
    QueueBench bench(31, OneThreadAtATime{});
    Result<Container> photos = bench.store->create_container(kAccount, "photos");
    EXPECT_TRUE(photos.ok()) << photos.status().to_string();
    work(*bench.store, *photos);
    io::SeededRandom random(32);
    return bench.machine.files->process_death(random);
  }
  static Container photos_of(SettledStore& settled) {
    Result<Container> photos = settled.store().open_container(kAccount, "photos");
    EXPECT_TRUE(photos.ok()) << photos.status().to_string();
    if (!photos.ok()) std::abort();
    return *std::move(photos);
  }
  static std::size_t staged_in(const Container& photos, std::string_view name) {
    const Result<BlockLists> lists = photos.blocks(name);
    return lists.ok() ? lists->staged.size() : 0;
  }
};

TEST_F(BlobKeeping, BX31_AnOpenRemovesWhatADeadProcessLeftAlthoughNoContainerIsUsed) {
  std::vector<BlobWriter> writers;
  io::MemoryDisk disk;
  {
    QueueBench bench(31, OneThreadAtATime{});
    Container photos = *bench.store->create_container(kAccount, "photos");
    EXPECT_EQ(put_blob(photos, "whole", uneven_bytes(20'000)).length, 20'000U);
    for (int i = 0; i < 3; ++i) {
      writers.push_back(*photos.write("abandoned"));
      EXPECT_EQ(said(writers.back().append(uneven_bytes(2'200'000))), kDone);
    }
    io::SeededRandom random(32);
    disk = bench.machine.files->process_death(random);
    writers.clear();
  }
  SettledStore settled(33, std::move(disk));
  settled.wait_for_keeper();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 1U);
  EXPECT_EQ(recount.blobs(), 1U);
}

TEST_F(BlobKeeping, BX31_TheWorkOfADropGoesOnAfterADeath) {
  SettledStore settled(33, left_by([](Store& store, Container& photos) {
                         for (int i = 0; i < 200; ++i) {
                           (void)put_blob(photos, "blob " + std::to_string(i), uneven_bytes(17'000));
                         }
                         EXPECT_EQ(said(store.drop_container(kAccount, "photos")), kDone);
                       }));
  settled.wait_for_keeper();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
  EXPECT_EQ(recount.blobs(), 0U);
}

TEST_F(BlobKeeping, BX04_AnAbandonedWriterLeavesNothingInTheOpenStore) {
  io::MemoryDisk disk;
  {
    QueueBench bench(31, OneThreadAtATime{});
    Container photos = *bench.store->create_container(kAccount, "photos");
    {
      Result<BlobWriter> writer = photos.write("a");
      EXPECT_EQ(said(writer->append(uneven_bytes(2'200'000))), kDone);
    }
    EXPECT_EQ(said(bench.store->create_account("waiter")), kDone);
    Result<Queue> waiting = bench.store->create_queue("waiter", "waiting");
    ASSERT_TRUE(waiting.ok()) << waiting.status().to_string();
    for (int i = 0; i < 3; ++i) (void)waiting->get({.wait = 61s});
    EXPECT_EQ(said(photos.state("a")), kBlobGone);
    EXPECT_EQ(said(bench.store->close()), kDone);
    disk = bench.machine.files->snapshot();
  }
  SettledStore settled(33, std::move(disk));
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
}

TEST_F(BlobKeeping, BX31_ASlowWriterKeepsItsContent) {
  SettledStore settled(33, left_by([](Store&, Container&) {}));
  Container photos = photos_of(settled);
  const std::string part = uneven_bytes(1'500'000);
  Result<BlobWriter> writer = photos.write("slow");
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said(writer->append(part)), kDone);
    settled.settle();
  }
  EXPECT_EQ(said(writer->publish()), kDone);
  settled.settle();
  EXPECT_TRUE(content_in(photos, "slow") == part + part + part);
  expect_settled(settled.recount());
}

TEST_F(BlobKeeping, BX30_BlocksExpireAWeekAfterTheLastOne) {
  SettledStore settled(33, left_by([](Store&, Container& photos) {
                         EXPECT_EQ(stage(photos, "old", "1", uneven_bytes(20'000)), kDone);
                         EXPECT_EQ(stage(photos, "renewed", "1", uneven_bytes(20'000)), kDone);
                         (void)put_blob(photos, "renewed", "text");
                         EXPECT_EQ(stage(photos, "renewed", "2", uneven_bytes(20'000)), kDone);
                       }));
  Container photos = photos_of(settled);
  settled.pass(5 * kDay);
  EXPECT_EQ(stage(photos, "renewed", "3", uneven_bytes(20'000)), kDone);
  settled.settle();
  EXPECT_EQ(staged_in(photos, "old"), 1U);
  settled.pass(2 * kDay - 1h);
  settled.settle();
  EXPECT_EQ(staged_in(photos, "old"), 1U) << "a week has not passed";
  settled.pass(2h);
  settled.settle();
  EXPECT_EQ(staged_in(photos, "old"), 0U);
  EXPECT_EQ(said(photos.blocks("old")), kBlobGone);
  EXPECT_EQ(staged_in(photos, "renewed"), 2U) << "the last block counts";
  EXPECT_EQ(said(photos.commit_blocks("old", std::vector<BlockChoice>{{"1"}})),
            (Said{Code::kInvalidArgument, "InvalidBlockList"}));
  settled.pass(5 * kDay);
  settled.settle();
  EXPECT_EQ(staged_in(photos, "renewed"), 0U);
  EXPECT_EQ(content_in(photos, "renewed"), "text") << "the published blob stays";
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
  EXPECT_EQ(recount.expiries(), 0U);
}

TEST_F(BlobKeeping, BX30_ABlockThatWasStagedAfterTheExpiryOfOthersStays) {
  SettledStore settled(33,
                       left_by([](Store&, Container& photos) { EXPECT_EQ(stage(photos, "a", "1", "first"), kDone); }));
  Container photos = photos_of(settled);
  settled.pass(8 * kDay);
  settled.settle();
  EXPECT_EQ(staged_in(photos, "a"), 0U);
  EXPECT_EQ(stage(photos, "a", "001", "second"), kDone);
  settled.pass(6 * kDay);
  settled.settle();
  EXPECT_EQ(staged_in(photos, "a"), 1U);
  EXPECT_EQ(said(photos.commit_blocks("a", std::vector<BlockChoice>{{"001"}})), kDone);
  settled.pass(8 * kDay);
  settled.settle();
  EXPECT_EQ(content_in(photos, "a"), "second");
  expect_settled(settled.recount());
}

TEST_F(BlobKeeping, BX30_AStoreMayKeepStagedBlocksForAnotherTime) {
  QueueBench bench(31, OneThreadAtATime{});
  StoreOptions options = bench.options();
  options.staged_blocks_age_max = 1h;
  bench.open(options);
  Container photos = *bench.store->create_container(kAccount, "photos");
  Queue waiting = bench.queue("waiting");
  const auto wait = [&] {
    for (int i = 0; i < 3; ++i) (void)waiting.get({.wait = 61s});
  };
  EXPECT_EQ(stage(photos, "a", "1", "first"), kDone);
  bench.pass(50min);
  wait();
  EXPECT_EQ(staged_in(photos, "a"), 1U);
  bench.pass(10min);
  wait();
  EXPECT_EQ(staged_in(photos, "a"), 0U);
}

TEST_F(BlobKeeping, BX11_AReaderThatIsNotUsedForAnHourLosesItsState) {
  const std::string content = uneven_bytes(200'000);
  SettledStore settled(33, left_by([&](Store&, Container& photos) { (void)put_blob(photos, "film", content); }));
  Container photos = photos_of(settled);
  const auto snapshots = [&] {
    const Result<Statistics> figures = settled.store().statistics();
    EXPECT_TRUE(figures.ok());
    return figures.ok() ? figures->open_snapshots : 99;
  };
  const Result<BlobReader> reader = photos.read("film");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(said(photos.remove("film")), kDone);
  std::string piece(1'000, '?');
  for (std::size_t i = 0; i < 3; ++i) {
    settled.pass(50min);
    settled.wait_for_keeper();
    EXPECT_EQ(said(reader->read(i * 50'000, piece)), kDone) << "each read begins a new hour";
    EXPECT_TRUE(piece == content.substr(i * 50'000, 1'000));
  }
  EXPECT_EQ(snapshots(), 1U);
  settled.pass(1h);
  settled.wait_for_keeper();
  EXPECT_EQ(snapshots(), 0U) << "the keeper let go of the state, although the reader exists";
  EXPECT_EQ(said(reader->read(0, piece)), (Said{Code::kClosed, ""}));
  EXPECT_EQ(said(photos.read("film")), kBlobGone);
}

TEST_F(BlobKeeping, BX11_AStoreMayKeepUnusedReadersForAnotherTime) {
  QueueBench bench(31, OneThreadAtATime{});
  StoreOptions options = bench.options();
  options.reader_idle_max = 10min;
  bench.open(options);
  Container photos = *bench.store->create_container(kAccount, "photos");
  Queue waiting = bench.queue("waiting");
  const auto wait = [&] {
    for (int i = 0; i < 3; ++i) (void)waiting.get({.wait = 61s});
  };
  (void)put_blob(photos, "film", uneven_bytes(200'000));
  const Result<BlobReader> reader = photos.read("film");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(said(photos.remove("film")), kDone);
  std::string piece(1'000, '?');
  for (int i = 0; i < 3; ++i) {
    bench.pass(5min);
    wait();
    EXPECT_EQ(said(reader->read(0, piece)), kDone) << "each read begins a new time";
  }
  bench.pass(10min);
  wait();
  EXPECT_EQ(said(reader->read(0, piece)), (Said{Code::kClosed, ""}));
}

TEST_F(BlobKeeping, BX32_TheSpaceOfDeletedContentIsBackWithinAMinuteAtRest) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  QueueBench bench(31, OneThreadAtATime{});
  Container photos = *bench.store->create_container(kAccount, "photos");
  Queue waiting = bench.queue("waiting");
  const auto value_bytes = [&] {
    const Result<Statistics> figures = bench.store->statistics();
    EXPECT_TRUE(figures.ok());
    return figures.ok() ? figures->value_file_bytes : 0;
  };
  (void)put_blob(photos, "film", std::string(40 * kMebibyte, 'x'));  // so much that the store does not wait for more
  for (int i = 0; i < 3; ++i) EXPECT_EQ(said(bench.store->compact()), kDone);
  EXPECT_GT(value_bytes(), 16 * kMebibyte);
  EXPECT_EQ(said(photos.remove("film")), kDone);
  (void)waiting.get({.wait = 59s});
  EXPECT_LT(value_bytes(), 8 * kMebibyte) << "at most one segment of the log is left";
}

TEST_F(BlobKeeping, BX08_ALongListLeavesItsBlocksWhenItGoes) {
  SettledStore settled(33, left_by([](Store&, Container& photos) {
                         std::vector<BlockChoice> blocks;
                         for (int i = 0; i < 150; ++i) {
                           const std::string id = std::to_string(100 + i);
                           EXPECT_EQ(stage(photos, "list", id, "block " + id), kDone);
                           blocks.push_back({id});
                         }
                         EXPECT_EQ(said(photos.commit_blocks("list", blocks)), kDone);
                         EXPECT_EQ(said(photos.copy("copy", photos, "list")), kDone);
                         EXPECT_EQ(said(photos.remove("list")), kDone);
                       }));
  Container photos = photos_of(settled);
  settled.settle();
  EXPECT_EQ(state_in(photos, "copy").length, 150U * 9U);
  EXPECT_EQ(content_in(photos, "copy").substr(0, 18), "block 100block 101");
  EXPECT_EQ(said(photos.remove("copy")), kDone);
  settled.settle();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 0U);
}

}  // namespace
}  // namespace varve::test::blob_keeper_test
