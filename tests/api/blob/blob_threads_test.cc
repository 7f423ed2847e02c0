// Goal: writers beside each other leave a blob that one of them wrote, appends never overlap, and a reader reads one
// state to its end (BC-04, BA-01, BX-43).
// Method: a seeded scheduler runs the threads one at a time, in many orders.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_recount.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/blob.h"

namespace varve::test::blob_threads_test {
namespace {

using BlobBody = std::function<void()>;

/// Runs a test in many orders, and counts all owners again after each.
void for_each_blob_seed(const std::function<void(QueueBench&, Container&)>& test) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{20}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      Result<Container> photos = bench.store->create_container(kAccount, "photos");
      ASSERT_TRUE(photos.ok()) << photos.status().to_string();
      test(bench, *photos);
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    SettledStore settled(seed, std::move(disk), std::chrono::hours(1));
    settled.settle();
    expect_settled(settled.recount());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(BlobThreads, BC04_OfPutsWithOneETagOneWins) {
  for_each_blob_seed([](QueueBench& bench, Container& photos) {
    const Result<BlobState> first = photos.put("a", "first");
    ASSERT_TRUE(first.ok());
    int won = 0;
    const BlobBody put = [&won, &first, photos]() mutable {
      BlobWriteOptions options;
      options.conditions.if_match = first->etag;
      const Result<BlobState> done = photos.put("a", std::string(20'000, 'x'), options);
      if (done.ok()) ++won;
      if (!done.ok()) {
        EXPECT_EQ(done.status().service_error(), "ConditionNotMet");
      }
    };
    run_together(bench, {put, put, put});
    EXPECT_EQ(won, 1);
  });
}

TEST(BlobThreads, BA01_AppendsBesideEachOtherFollowEachOther) {
  for_each_blob_seed([](QueueBench& bench, Container& photos) {
    ASSERT_TRUE(photos.create_append_blob("log").ok());
    std::map<std::uint64_t, std::string> appended;
    const auto appender = [&appended, &photos](char letter) {
      return BlobBody([&appended, letter, photos]() mutable {
        for (std::size_t i = 1; i < 5; ++i) {
          const std::string text(i * 1'000, letter);
          const Result<AppendedBlock> block = photos.append("log", text);
          EXPECT_TRUE(block.ok()) << block.status().to_string();
          if (block.ok()) {
            EXPECT_TRUE(appended.emplace(block->offset, text).second);
          }
        }
      });
    };
    const BlobBody copier = [photos]() mutable {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(said(photos.copy("copy", photos, "log")), kDone);
    };
    run_together(bench, {appender('a'), appender('b'), appender('c'), copier});
    std::string expected;
    for (const auto& [offset, text] : appended) {
      EXPECT_EQ(offset, expected.size());
      expected += text;
    }
    const Result<BlobReader> reader = photos.read("log");
    ASSERT_TRUE(reader.ok());
    std::string content(reader->state().length, '?');
    EXPECT_EQ(said(reader->read(0, content)), kDone);
    EXPECT_TRUE(content == expected);
  });
}

TEST(BlobThreads, BB08_BX08_BlocksBesideListsAndDropsBesideWritersCountTheirOwners) {
  for_each_blob_seed([](QueueBench& bench, Container& photos) {
    const BlobBody stager = [photos]() mutable {
      for (int i = 0; i < 4; ++i) {
        Result<BlobWriter> writer = photos.stage_block("a", std::to_string(i % 2));
        if (!writer.ok() || !writer->append("block").ok()) continue;
        (void)writer->publish();
      }
    };
    const BlobBody committer = [photos]() mutable {
      for (int i = 0; i < 4; ++i) (void)photos.commit_blocks("a", std::vector<BlockChoice>{{"0"}});
    };
    const BlobBody copier = [photos]() mutable {
      for (int i = 0; i < 3; ++i) (void)photos.copy("b", photos, "a");
    };
    const BlobBody remover = [&bench, photos]() mutable {
      (void)photos.remove("a");
      EXPECT_EQ(said(bench.store->drop_container(kAccount, "photos")), kDone);
      EXPECT_EQ(said(bench.store->create_container(kAccount, "photos")), kDone);
    };
    run_together(bench, {stager, committer, copier, remover});
  });
}

TEST(BlobThreads, BX43_AReaderReadsOneStateToItsEnd) {
  for_each_blob_seed([](QueueBench& bench, Container& photos) {
    const std::string old(150'000, 'o');
    ASSERT_TRUE(photos.put("a", old).ok());
    const Result<BlobReader> reader = photos.read("a");
    ASSERT_TRUE(reader.ok());
    const BlobBody read = [&] {
      std::string buffer(10'000, '?');
      for (std::size_t offset = 0; offset < old.size(); offset += buffer.size()) {
        EXPECT_EQ(said(reader->read(offset, buffer)), kDone);
        EXPECT_EQ(buffer, old.substr(offset, buffer.size()));
      }
    };
    const BlobBody change = [&bench, photos]() mutable {
      EXPECT_EQ(said(photos.put("a", std::string(150'000, 'n'))), kDone);
      EXPECT_EQ(said(photos.remove("a")), kDone);
      EXPECT_EQ(said(bench.store->compact()), kDone);
    };
    run_together(bench, {read, change});
  });
}

}  // namespace
}  // namespace varve::test::blob_threads_test
