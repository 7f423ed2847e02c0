// Goal: a writer publishes its content whole, or not at all, whatever happens to its account, and writers beside each
// other need no more memory than the write buffer has.
// Method: examples, and seeded threads with a small write buffer.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/content_rows.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"

namespace varve::test::blob_writers_test {
namespace {

constexpr Said kNoContainer{Code::kNotFound, "ContainerNotFound"};

void drop_and_make_again(Store& store) {
  EXPECT_EQ(said(store.drop_account(kAccount)), kDone);
  EXPECT_EQ(said(store.create_account(kAccount)), kDone);
  EXPECT_EQ(said(store.create_container(kAccount, "photos")), kDone);
}

TEST(BlobWriters, BB11_APublishAfterTheDropOfTheAccountChangesNothing) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{100'000}}) {
    SCOPED_TRACE(size);
    QueueBench bench(1, OneThreadAtATime{});
    Container photos = *bench.store->create_container(kAccount, "photos");
    Result<BlobWriter> writer = photos.write("a");
    Result<BlobWriter> block = photos.stage_block("b", "01");
    ASSERT_EQ(said(photos.create_append_blob("log")), kDone);
    Result<BlobWriter> appending = photos.write_append("log");
    ASSERT_TRUE(writer.ok() && block.ok() && appending.ok());
    for (BlobWriter* each : {&*writer, &*block, &*appending}) {
      ASSERT_EQ(said(each->append(std::string(size, 'x'))), kDone);
    }
    drop_and_make_again(*bench.store);
    EXPECT_EQ(said(writer->publish()), kNoContainer);
    EXPECT_EQ(said(block->publish()), kNoContainer);
    EXPECT_EQ(said(appending->publish()), kNoContainer);
    const Result<BlobPage> page = photos.list();
    ASSERT_TRUE(page.ok());
    EXPECT_TRUE(page->entries.empty());
    EXPECT_EQ(photos.blocks("b").code(), Code::kNotFound);
  }
}

std::uint64_t commits_of(const StoreBench& bench) {
  return (*bench.store->statistics()).commits;
}

/// A writer that waits for its next bytes has none of the bytes before.
TEST(BlobWriters, BX03_AFullPartIsWrittenBeforeTheNextByteComes) {
  QueueBench bench;
  Container photos = *bench.store->create_container(kAccount, "photos");
  for (const std::size_t parts : {1U, 2U}) {
    SCOPED_TRACE(parts);
    const std::string content = uneven_bytes(parts * kPartBytes);
    const std::string name = std::to_string(parts);
    BlobWriter writer = *photos.write(name);
    const std::uint64_t before = commits_of(bench);
    EXPECT_EQ(said(writer.append(std::string_view(content).substr(0, content.size() - 1))), kDone);
    EXPECT_EQ(commits_of(bench), before + parts - 1);
    EXPECT_EQ(said(writer.append(std::string_view(content).substr(content.size() - 1))), kDone);
    EXPECT_EQ(commits_of(bench), before + parts);
    EXPECT_EQ(said(writer.publish()), kDone);
    EXPECT_TRUE(content_in(photos, name) == content);
  }
  Container logs = photos;
  EXPECT_EQ(said(logs.create_append_blob("log")), kDone);
  BlobWriter appending = *logs.write_append("log");
  const std::string part = uneven_bytes(kPartBytes);
  EXPECT_EQ(said(appending.append(part)), kDone);
  EXPECT_EQ(said(appending.publish()), kDone);
  EXPECT_EQ(said(logs.append("log", "more")), kDone);
  EXPECT_TRUE(content_in(logs, "log") == part + "more");
}

TEST(BlobWriters, BX03_ManyLargePutsBesideEachOtherWaitForRoom) {
  constexpr int kWriters = 24;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{4}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StoreBench bench(seed, OneThreadAtATime{});
    ResourceOptions resources;
    resources.write_buffer_bytes = std::uint64_t{8} << 20;
    StoreOptions options = bench.options();
    options.resources = *Resources::create(resources);
    bench.open(options);
    ASSERT_EQ(said(bench.store->create_account(kAccount)), kDone);
    const Container photos = *bench.store->create_container(kAccount, "photos");
    const auto put = [&photos](int number) {
      return [&photos, number] {
        Container own = photos;
        const std::string content(1'000'000, static_cast<char>('a' + number % 26));
        for (int i = 0; i < 3; ++i) EXPECT_EQ(said(own.put(std::to_string(number), content)), kDone);
      };
    };
    std::vector<std::function<void()>> bodies;
    for (int number = 0; number < kWriters; ++number) bodies.emplace_back(put(number));
    run_together(bench, bodies);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::blob_writers_test
