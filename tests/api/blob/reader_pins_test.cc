// Goal: a reader keeps its snapshot while it is used, and no longer than the store's option says without a read (BX-11).
// Method: a clock that only the test moves. The store counts the snapshots that exist.
#include "api/blob/reader_pins.h"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::test::reader_pins_test {
namespace {

using namespace std::chrono_literals;

class ReaderPinsOfAStore : public testing::Test {
 protected:
  ReaderPinsOfAStore() { bench_.open(); }

  std::unique_ptr<ReaderPin> pin() { return std::make_unique<ReaderPin>(pins_, *bench_.store->snapshot()); }
  std::uint64_t snapshots() const { return (*bench_.store->statistics()).open_snapshots; }
  void pass(std::chrono::nanoseconds time) { bench_.machine.clock.advance(time); }
  static Said use(ReaderPin& pin) { return said(ReaderPin::Use(pin).snapshot()); }

  StoreBench bench_;
  ReaderPins pins_{bench_.env, 1h};
};

constexpr Said kLetGo{Code::kClosed, ""};

TEST_F(ReaderPinsOfAStore, BX11_ASnapshotIsHeldForTheTimeAfterTheLastUse) {
  const std::unique_ptr<ReaderPin> reader = pin();
  pass(1h - 1ns);
  pins_.release_idle();
  EXPECT_EQ(use(*reader), kFine);
  pass(1h - 1ns);
  pins_.release_idle();
  EXPECT_EQ(snapshots(), 1U);
  pass(1ns);
  pins_.release_idle();
  EXPECT_EQ(snapshots(), 0U);
  EXPECT_EQ(use(*reader), kLetGo);
}

TEST_F(ReaderPinsOfAStore, BX11_AUseAfterTheTimeIsRefusedBeforeTheSnapshotIsReleased) {
  const std::unique_ptr<ReaderPin> reader = pin();
  pass(1h);
  EXPECT_EQ(use(*reader), kLetGo);
  EXPECT_EQ(use(*reader), kLetGo) << "a refusal is no use";
  pins_.release_idle();
  EXPECT_EQ(snapshots(), 0U);
}

TEST_F(ReaderPinsOfAStore, BX11_ALongUseKeepsTheSnapshot) {
  const std::unique_ptr<ReaderPin> reader = pin();
  {
    const ReaderPin::Use slow(*reader);
    pass(2h);
    pins_.release_idle();
    EXPECT_EQ(snapshots(), 1U);
    EXPECT_EQ(said(slow.snapshot()), kFine);
    EXPECT_EQ(use(*reader), kFine) << "another thread reads beside it";
    pass(2h);
  }
  EXPECT_EQ(use(*reader), kFine) << "the time begins with the end of the use";
  pass(1h);
  EXPECT_EQ(use(*reader), kLetGo);
}

TEST_F(ReaderPinsOfAStore, BX11_AllIdleSnapshotsAreReleasedTogetherAndNoOther) {
  std::vector<std::unique_ptr<ReaderPin>> readers;
  for (int i = 0; i < 40; ++i) readers.push_back(pin());
  pass(1h - 1ns);
  for (std::size_t i = 0; i < readers.size(); i += 4) EXPECT_EQ(use(*readers[i]), kFine);
  pass(1ns);
  pins_.release_idle();
  EXPECT_EQ(snapshots(), 10U);
  readers.clear();
  EXPECT_EQ(snapshots(), 0U);
  pass(1h);
  pins_.release_idle();
}

// A refused reader is never admitted again, and an admitted one has the snapshot, however the release meets its reads.
TEST_F(ReaderPinsOfAStore, BX11_ReadsBesideAReleaseAreAdmittedOrRefusedForGood) {
  ASSERT_EQ(said(bench_.store->create_account(kAccount)), kFine);  // Without a commit, the version would be zero.
  for (int round = 0; round < 100; ++round) {
    const std::unique_ptr<ReaderPin> reader = pin();
    std::thread reading([&reader] {
      bool was_refused = false;
      for (int i = 0; i < 100; ++i) {
        const ReaderPin::Use read(*reader);
        const Result<Snapshot> snapshot = read.snapshot();
        EXPECT_FALSE(snapshot.ok() && was_refused);
        EXPECT_TRUE(!snapshot.ok() || snapshot->version().ticks != 0) << "it was released under the read";
        was_refused = was_refused || !snapshot.ok();
      }
    });
    for (int i = 0; i < 100; ++i) {
      pass(20min);
      pins_.release_idle();
    }
    reading.join();
  }
  EXPECT_EQ(snapshots(), 0U);
}

TEST(ReaderIdleTimes, BX11_TimesThatNoStoreCanHaveAreRefused) {
  StoreBench bench;
  for (const auto time : {0ms, -1ms, std::chrono::milliseconds::max()}) {
    StoreOptions options = bench.options();
    options.reader_idle_max = time;
    EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kInvalidArgument);
    options = bench.options();
    options.staged_blocks_age_max = time;
    EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace varve::test::reader_pins_test
