// Owns: the promises of snapshots (engine/base/snapshots.h).

#include "engine/base/snapshots.h"

#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace varve::engine::snapshots_test {
namespace {

constexpr std::uint64_t kSeed = 4711;

class SnapshotsTest : public testing::Test {
 protected:
  HeldVersion take(CommitVersion version) {
    return snapshots_.take_visible([version] { return version; });
  }
  std::optional<CommitVersion> lowest_held() const {
    const std::vector<CommitVersion> versions = snapshots_.horizon([] { return format::kCommitVersionMax; });
    return versions.size() == 1 ? std::nullopt : std::optional(versions.front());
  }

  io::Scheduler scheduler_;
  Snapshots snapshots_{scheduler_};
};

TEST_F(SnapshotsTest, NoneIsHeldAtFirst) {
  EXPECT_EQ(lowest_held(), std::nullopt);
  EXPECT_EQ(snapshots_.count(), 0u);
}

TEST_F(SnapshotsTest, KeepsItsVersionUntilItIsDestroyed) {
  {
    const HeldVersion snapshot = take(42);
    EXPECT_EQ(snapshot.version(), 42u);
    EXPECT_EQ(lowest_held(), 42u);
    EXPECT_EQ(snapshots_.count(), 1u);
  }
  EXPECT_EQ(lowest_held(), std::nullopt);
  EXPECT_EQ(snapshots_.count(), 0u);
}

TEST_F(SnapshotsTest, OneVersionIsHeldAsLongAsAnyOfItsSnapshots) {
  HeldVersion first = take(42);
  HeldVersion second = take(42);
  const HeldVersion later = take(43);
  EXPECT_EQ(snapshots_.count(), 3u);
  first.release();
  EXPECT_EQ(lowest_held(), 42u);
  EXPECT_EQ(snapshots_.count(), 2u);
  second.release();
  EXPECT_EQ(lowest_held(), 43u);
}

TEST_F(SnapshotsTest, ReleaseTwiceIsReleaseOnce) {
  HeldVersion first = take(42);
  const HeldVersion second = take(42);
  first.release();
  first.release();
  EXPECT_EQ(first.version(), 0u);
  EXPECT_EQ(snapshots_.count(), 1u);
}

TEST_F(SnapshotsTest, MovesKeepTheVersionHeldOnce) {
  HeldVersion first = take(42);
  HeldVersion second = std::move(first);
  EXPECT_EQ(second.version(), 42u);
  EXPECT_EQ(snapshots_.count(), 1u);

  HeldVersion third = take(50);
  third = std::move(second);  // releases 50
  EXPECT_EQ(third.version(), 42u);
  EXPECT_EQ(snapshots_.count(), 1u);
  EXPECT_EQ(lowest_held(), 42u);

  HeldVersion& same = third;
  third = std::move(same);
  EXPECT_EQ(snapshots_.count(), 1u);
}

TEST_F(SnapshotsTest, TheOldestIsTheLowestHeldInAnyOrder) {
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  std::vector<HeldVersion> held;
  std::multiset<CommitVersion> model;
  for (int step = 0; step < 10'000; ++step) {
    if (held.empty() || random() % 100 < 51) {
      held.push_back(take(1 + random() % 500));
      model.insert(held.back().version());
    } else {
      std::swap(held[random() % held.size()], held.back());
      model.erase(model.find(held.back().version()));
      held.pop_back();
    }
    ASSERT_EQ(snapshots_.count(), model.size());
    ASSERT_EQ(lowest_held(), model.empty() ? std::nullopt : std::optional(*model.begin()));
  }
}

TEST_F(SnapshotsTest, ThreadsTakeAndLetGoWhileOneIsHeld) {
  const HeldVersion oldest = take(7);
  std::vector<io::Thread> threads;
  for (CommitVersion thread = 0; thread < 4; ++thread) {
    Result<io::Thread> started = scheduler_.start("snapshots", [this, thread] {
      for (CommitVersion i = 0; i < 2'000; ++i) {
        const HeldVersion mine = take(8 + thread + i % 16);
        ASSERT_EQ(lowest_held(), 7u);
      }
    });
    ASSERT_TRUE(started.ok());
    threads.push_back(*std::move(started));
  }
  threads.clear();
  EXPECT_EQ(snapshots_.count(), 1u);
}

}  // namespace
}  // namespace varve::engine::snapshots_test
