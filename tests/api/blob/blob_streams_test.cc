// Goal: a long stream, whose parts other threads write, is whole or not there, whatever fails, ends or crashes meanwhile.
// Method: seeded threads. A rule fails the n-th write of the log under a stream, for each n. Images of the disk are taken
// while a stream is written, and their contents are counted after the keeper has worked.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

#include "api/blob/content_rows.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/seeded_threads.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"

namespace varve::test::blob_streams_test {
namespace {

/// More parts than one stream has in flight.
constexpr std::size_t kLong = 8 * kPartBytes + 100'000;

/// Writes the content in pieces, and publishes it. Returns what the first call said that failed.
Status write_stream(Container& photos, const std::string& name, std::string_view content,
                    const BlobWriteOptions& options = {}) {
  Result<BlobWriter> writer = photos.write(name, options);
  if (!writer.ok()) return writer.status();
  constexpr std::size_t kPiece = 700'001;
  for (std::size_t at = 0; at < content.size(); at += kPiece) {
    if (Status added = writer->append(content.substr(at, kPiece)); !added.ok()) return added;
  }
  return writer->publish().status();
}

TEST(BlobStreams, BX03_BX04_LongStreamsBesideEachOtherAreWhole) {
  for_each_seed(effort(std::uint64_t{3}), [](StoreBench& bench) {
    bench.open();
    ASSERT_EQ(said(bench.store->create_account(kAccount)), kFine);
    const Container photos = *bench.store->create_container(kAccount, "photos");
    const auto content = [](int number) {
      return uneven_bytes(kLong - static_cast<std::size_t>(number) * 100'000, static_cast<std::uint32_t>(number + 1));
    };
    std::vector<std::function<void()>> bodies;
    for (int number = 0; number < 3; ++number) {
      bodies.emplace_back([&photos, &content, number] {
        Container own = photos;
        const BlobWriteOptions options{.compresses = number == 2};  // Its bytes do not shrink.
        EXPECT_EQ(said(write_stream(own, std::to_string(number), content(number), options)), kFine);
      });
    }
    run_together(bench, bodies);
    for (int number = 0; number < 3; ++number) {
      EXPECT_TRUE(content_in(photos, std::to_string(number)) == content(number)) << number;
    }
  });
}

TEST(BlobStreams, PartsOfOneStreamDoNotWaitForEachOther) {
  for_each_seed(effort(std::uint64_t{5}), [](StoreBench& bench) {
    bench.open();
    ASSERT_EQ(said(bench.store->create_account(kAccount)), kFine);
    Container photos = *bench.store->create_container(kAccount, "photos");
    const std::string content = uneven_bytes(kLong);
    const std::uint64_t before = (*bench.store->statistics()).partition_waits;
    ASSERT_EQ(said(write_stream(photos, "long", content)), kFine);
    EXPECT_EQ((*bench.store->statistics()).partition_waits, before);
    EXPECT_TRUE(content_in(photos, "long") == content);
  });
}

TEST(BlobStreams, BX06_LongStreamsArePackedInTheirOrder) {
  StoreBench bench(1, OneThreadAtATime{});
  bench.open();
  ASSERT_EQ(said(bench.store->create_account(kAccount)), kFine);
  Container photos = *bench.store->create_container(kAccount, "photos");
  std::string content;
  for (int line = 0; content.size() < kLong; ++line) content += "line " + std::to_string(line) + " of a text\n";
  ASSERT_EQ(said(write_stream(photos, "text", content, {.compresses = true})), kFine);
  EXPECT_TRUE(content_in(photos, "text") == content);
}

/// The error of a part in flight comes from a later append, or from the end. Nothing is published.
TEST(BlobStreams, BX04_AFailedPartIsReportedAndNothingIsPublished) {
  const std::string content = uneven_bytes(kLong);
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 0;; ++nth) {
    SCOPED_TRACE("write " + std::to_string(nth));
    QueueBench bench(nth + 1, OneThreadAtATime{});
    Container photos = *bench.store->create_container(kAccount, "photos");
    io::FaultRule rule;
    rule.kind = io::OperationKind::kLogWrite;
    rule.skip_count = nth;
    rule.fail_count = io::FaultRule::kFromThenOn;
    bench.machine.files->faults().add(rule);
    const std::uint64_t hits = bench.machine.files->faults().hit_count();
    Result<BlobWriter> writer = photos.write("a");
    ASSERT_TRUE(writer.ok());
    Status first;
    for (std::size_t at = 0; first.ok() && at < content.size(); at += kPartBytes / 2) {
      first = writer->append(std::string_view(content).substr(at, kPartBytes / 2));
    }
    const Status published = writer->publish().status();
    const bool is_hit = bench.machine.files->faults().hit_count() > hits;
    EXPECT_EQ(published.ok(), !is_hit) << published.to_string();
    if (!first.ok()) {
      EXPECT_EQ(published.code(), first.code());
    }
    if (published.ok()) break;
    ++failed;
    EXPECT_FALSE(writer->publish().ok());
    bench.machine.files->faults().clear();
    EXPECT_EQ(said(photos.read("a")), kBlobGone);
    { const BlobWriter ended = *std::move(writer); }
    bench.store.reset();
    bench.open();
    EXPECT_EQ(said((*bench.store->open_container(kAccount, "photos")).read("a")), kBlobGone);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failed, kLong / kPartBytes);
}

TEST(BlobStreams, BB11_AStreamWhoseAccountIsDroppedSaysSo) {
  QueueBench bench(1, OneThreadAtATime{});
  Container photos = *bench.store->create_container(kAccount, "photos");
  Result<BlobWriter> writer = photos.write("a");
  ASSERT_TRUE(writer.ok());
  ASSERT_EQ(said(writer->append(uneven_bytes(4 * kPartBytes))), kFine);
  ASSERT_EQ(said(bench.store->drop_account(kAccount)), kFine);
  Status last;
  for (int i = 0; last.ok() && i < 8; ++i) last = writer->append(uneven_bytes(kPartBytes));
  if (last.ok()) last = writer->publish().status();
  EXPECT_EQ(said(last), kContainerGone);
  EXPECT_EQ(said(writer->publish()), kContainerGone);
}

TEST(BlobStreams, AStoreThatIsClosedEndsTheStreamsPartsAndRefusesMore) {
  for_each_seed(effort(std::uint64_t{4}), [](StoreBench& bench) {
    bench.open();
    ASSERT_EQ(said(bench.store->create_account(kAccount)), kFine);
    Container photos = *bench.store->create_container(kAccount, "photos");
    std::optional<BlobWriter> writer = *photos.write("a");
    ASSERT_EQ(said(writer->append(uneven_bytes(5 * kPartBytes))), kFine);
    EXPECT_EQ(said(bench.store->close()), kFine);
    EXPECT_EQ(writer->append("more").code(), Code::kClosed);
    EXPECT_EQ(writer->publish().code(), Code::kClosed);
    writer.reset();
  });
}

/// Flushes and merges have answers of their own to a lack of memory.
bool is_no_worker() noexcept {
  std::array<char, 16> name{};
  return ::pthread_getname_np(::pthread_self(), name.data(), name.size()) != 0 ||
         std::string_view(name.data()) != "varve-call";
}

/// Workers of the store have no memory for a part: the stream says so, and the next one is written.
TEST(BlobStreams, BX04_APartForWhichThereIsNoMemoryFailsItsStreamAlone) {
  const io::TemporaryDirectory directory;  // The in-memory file system would allocate too.
  StoreOptions options;
  options.create_if_absent = true;
  const std::unique_ptr<Store> store = *Store::open(directory.path() + "/store", options);
  ASSERT_EQ(said(store->create_account(kAccount)), kFine);
  Container photos = *store->create_container(kAccount, "photos");
  const std::string content = uneven_bytes(kLong);
  ASSERT_EQ(said(write_stream(photos, "before", content)), kFine);  // starts the threads
  bool has_failed = false;
  exempt_allocations(is_no_worker);
  const auto end_exemption = [](void*) { exempt_allocations(nullptr); };
  const std::unique_ptr<void, decltype(end_exemption)> exemption(&has_failed, end_exemption);
  for (std::uint64_t nth = 1; nth < 25; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Status written;
    {
      const OtherThreadsAllocationFailure failure(nth, false);
      written = write_stream(photos, "a", content);
    }
    has_failed = has_failed || !written.ok();
    EXPECT_TRUE(written.ok() || written.code() == Code::kOutOfMemory) << written.to_string();
    EXPECT_TRUE(content_in(photos, "a") == (written.ok() ? content : "BlobNotFound"));
    if (written.ok()) (void)photos.remove("a");
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(has_failed);
  EXPECT_EQ(said(write_stream(photos, "a", content)), kFine);
  EXPECT_TRUE(content_in(photos, "a") == content);
}

struct StreamImage {
  io::MemoryDisk disk;
  bool is_published = false;
  std::string where;
};

/// The third write of the log from the beginning of the stream on, and each third one after it.
TEST(BlobStreams, BX12_BX31_AfterACrashAStreamIsWholeOrItsPartsLeave) {
  const std::string content = uneven_bytes(6 * kPartBytes + 5);
  std::vector<StreamImage> images;
  {
    QueueBench bench(31, OneThreadAtATime{});
    Container photos = *bench.store->create_container(kAccount, "photos");
    io::SeededRandom picks(32);
    bool is_published = false;
    std::size_t steps = 0;
    bench.machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
      if (moment == io::Moment::kBefore || ++steps % 3 != 0) return;
      const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name);
      for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 1)) {
        images.push_back({std::move(disk), is_published, where});
      }
    });
    ASSERT_EQ(said(write_stream(photos, "a", content)), kFine);
    is_published = true;
    ASSERT_EQ(said(photos.put("b", "after")), kFine);
    bench.machine.files->set_observer({});
  }
  EXPECT_GT(images.size(), 4U);
  std::size_t lost = 0;
  for (StreamImage& image : images) {
    SCOPED_TRACE(image.where);
    SettledStore after(33, std::move(image.disk), std::chrono::hours(1));
    const std::string found = content_in(*after.store().open_container(kAccount, "photos"), "a");
    EXPECT_TRUE(found == content || (!image.is_published && found == "BlobNotFound"));
    if (found != content) ++lost;
    after.settle();
    expect_settled(after.recount());
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lost, 0U);
}

}  // namespace
}  // namespace varve::test::blob_streams_test
