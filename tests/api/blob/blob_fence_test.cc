// Goal: no commit reaches a container after its drop, whatever it had planned before (BX-32).
// Method: threads write blobs while another one drops their container. A seeded scheduler runs the threads one at a time,
// in many orders. Afterwards no row may be left.
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_recount.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/blob.h"
#include "varve/store_transaction.h"

namespace varve::test::blob_fence_test {
namespace {

TEST(BlobFence, BX32_NoRowIsWrittenAfterTheDrop) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{60}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      Result<Container> photos = bench.store->create_container(kAccount, "photos");
      ASSERT_TRUE(photos.ok()) << photos.status().to_string();
      const auto put = [&photos](const std::string& name) {
        return std::function<void()>([name, photos = *photos]() mutable {
          for (int i = 0; i < 3; ++i) {
            const Status status = photos.put(name + std::to_string(i), std::string(20'000, 'x')).status();
            if (!status.ok()) {
              EXPECT_EQ(status.service_error(), "ContainerNotFound") << status.to_string();
            }
          }
        });
      };
      const std::function<void()> drop = [&bench] {
        EXPECT_EQ(said(bench.store->drop_container(kAccount, "photos")), kDone);
      };
      run_together(bench, {put("a"), put("b"), drop});
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    SettledStore settled(seed, std::move(disk), std::chrono::hours(1));
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), 0U);
    EXPECT_EQ(recount.blobs(), 0U);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(BlobFence, BX32_NoCopyIsMadeAfterTheDropOfItsSource) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{60}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    std::size_t copies = 0;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      Container photos = *bench.store->create_container(kAccount, "photos");
      const Container others = *bench.store->create_container(kAccount, "others");
      EXPECT_EQ(said(photos.put("a", std::string(20'000, 'x'))), kDone);
      const auto expect_made_or_gone = [&copies](const Status& status) {
        if (status.ok()) ++copies;
        if (!status.ok()) {
          EXPECT_EQ(status.code(), Code::kNotFound) << status.to_string();
        }
      };
      const std::function<void()> copy = [&] {
        Container own = others;
        for (int i = 0; i < 3; ++i) expect_made_or_gone(own.copy(std::to_string(i), photos, "a").status());
      };
      const std::function<void()> transact = [&] {
        for (int i = 3; i < 6; ++i) {
          Result<StoreTransaction> transaction = bench.store->begin_transaction();
          ASSERT_TRUE(transaction.ok());
          transaction->copy(others, std::to_string(i), photos, "a");
          expect_made_or_gone(transaction->commit().status());
        }
      };
      const std::function<void()> drop = [&bench] {
        EXPECT_EQ(said(bench.store->drop_container(kAccount, "photos")), kDone);
      };
      run_together(bench, {copy, transact, drop});
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    SettledStore settled(seed, std::move(disk), std::chrono::hours(1));
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.contents(), copies == 0 ? 0U : 1U);
    EXPECT_EQ(recount.blobs(), copies);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::blob_fence_test
