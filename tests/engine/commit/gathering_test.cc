// Goal: commits whose clients wait for the device are grouped into few writes. A group begins when it is as large as
// all groups in flight, or when none is in flight. It does not wait for a client that cannot join.
// Method: writes of the log do not end until the test releases them. Threads run one at a time, by many seeds.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/commit/commit_queue.h"
#include "engine/log/write_depth.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::gathering_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint64_t kSeeds = 20;
/// A number of yields after which every runnable thread has run as far as possible.
constexpr int kTurns = 2'000;

class Gathering : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    auto engine = machine_.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    engine_ = *std::move(engine);
    ASSERT_TRUE(Change().put("p", "first", "v").commit(*engine_).ok());
    hold_writes(io::FaultEffect::kNever, io::FaultRule::kFromThenOn);
  }

  void hold_writes(io::FaultEffect effect, std::uint64_t count) {
    io::FaultRule held;
    held.sync_point = std::string(sync_points::kLogGroup.name);
    held.fail_count = count;
    held.effect = effect;
    machine_.files->faults().add(std::move(held));
  }

  /// Starts clients of separate partitions with one commit each. Afterwards every client is blocked or finished.
  void begin(int clients, std::size_t value_bytes = 1) {
    for (int i = 0; i < clients; ++i) {
      begin_one([this, value_bytes, partition = "q" + std::to_string(clients_.size())] {
        EXPECT_TRUE(Change().put(partition, "r", std::string(value_bytes, 'v')).commit(*engine_).ok());
      });
    }
  }
  void begin_one(std::function<void()> commit) {
    Result<io::Thread> client = machine_.scheduler().start("client", std::move(commit));
    ASSERT_TRUE(client.ok());
    clients_.push_back(*std::move(client));
  }
  /// Returns the number of writes in flight when no thread can continue.
  std::size_t writes_under_way() {
    for (int i = 0; i < kTurns; ++i) machine_.scheduler().yield();
    return machine_.files->stuck_count();
  }
  void let_go() {
    machine_.files->faults().clear();
    machine_.files->let_go();
    clients_.clear();
  }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
  std::vector<io::Thread> clients_;
};

TEST_P(Gathering, AGroupBeginsWhenItIsAsLargeAsAllThatAreUnderWay) {
  const std::uint64_t groups = engine_->statistics().groups;
  begin(1);
  EXPECT_EQ(writes_under_way(), 1u);
  begin(1);
  EXPECT_EQ(writes_under_way(), 2u);
  begin(1);
  EXPECT_EQ(writes_under_way(), 2u) << "it waits for a second one";
  begin(1);
  EXPECT_EQ(writes_under_way(), 3u);
  begin(3);
  EXPECT_EQ(writes_under_way(), 3u);
  EXPECT_EQ(engine_->statistics().groups, groups + 3);
  let_go();
  EXPECT_EQ(engine_->statistics().groups, groups + 4) << "and began when no other was left";
  EXPECT_EQ(engine_->statistics().commits, 8u);
}

TEST_P(Gathering, AFlushWaitsLikeACommitAndEnds) {
  begin(1);
  EXPECT_EQ(writes_under_way(), 1u);
  begin_one([this] { EXPECT_TRUE(engine_->sync().ok()); });
  EXPECT_EQ(writes_under_way(), 1u);
  let_go();
  EXPECT_EQ(test::value_of(*engine_, "q0", "r"), "v");
}

TEST_P(Gathering, ValuesOf64KiBShareAWrite) {
  constexpr std::size_t kValueBytes = std::size_t{64} << 10;
  begin(1, kValueBytes);
  EXPECT_EQ(writes_under_way(), 1u);
  begin(1, kValueBytes);
  EXPECT_EQ(writes_under_way(), 2u);
  begin(1, kValueBytes);
  EXPECT_EQ(writes_under_way(), 2u) << "it waits for a second one";
  begin(1, kValueBytes);
  EXPECT_EQ(writes_under_way(), 3u);
  let_go();
}

TEST_P(Gathering, ManyBytesAreWrittenAtOnce) {
  begin(4);
  const std::size_t before = writes_under_way();
  begin(1, kGatheredBytesMax);
  EXPECT_EQ(writes_under_way(), before + 1);
  let_go();
}

TEST_P(Gathering, WhoHoldsALockThatOthersWaitForWaitsForNobody) {
  begin(1);
  EXPECT_EQ(writes_under_way(), 1u);
  begin(1);
  EXPECT_EQ(writes_under_way(), 2u);
  // The first client of a partition can be alone in its group, because no other client can join before its commit is
  // inserted.
  Result<PartitionGuard> held =
      engine_->lock_partitions(std::vector{format::partition_hash(*format::encode_partition(test::kTable, "hot"))});
  ASSERT_TRUE(held.ok());
  constexpr int kClients = 4;
  for (int i = 0; i < kClients; ++i) {
    begin_one([this, row = std::to_string(i)] { EXPECT_TRUE(Change().put("hot", row, "v").commit(*engine_).ok()); });
  }
  EXPECT_EQ(writes_under_way(), 2u);
  held->release();
  // All but the last, whose lock no client waits for.
  EXPECT_EQ(writes_under_way(), 2u + kClients - 1);
  let_go();
  for (int i = 0; i < kClients; ++i) EXPECT_EQ(test::value_of(*engine_, "hot", std::to_string(i)), "v");
}

TEST_P(Gathering, AWaitingGroupEndsIfTheOldestOfAsManyWritesAsMayBeInFlightFails) {
  constexpr std::size_t kWaiting = 3;
  machine_.files->faults().clear();
  // Segments grow until one has room for all writes in flight.
  while (engine_->statistics().log_segments < 6) {
    ASSERT_TRUE(Change().put("p", "large", std::string(kGatheredBytesMax, 'v')).commit(*engine_).ok());
  }
  hold_writes(io::FaultEffect::kNeverThenError, 1);
  hold_writes(io::FaultEffect::kNever, io::FaultRule::kFromThenOn);
  std::vector<Code> ends(kLogWritesInFlightFirst + kWaiting, Code::kOk);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    begin_one([this, i, &ends] {
      const std::string many_bytes(kGatheredBytesMax, 'v');
      ends[i] = Change().put("q" + std::to_string(i), "r", many_bytes).commit(*engine_).code();
    });
    if (i < kLogWritesInFlightFirst) machine_.files->await_stuck(i + 1);
  }
  EXPECT_EQ(writes_under_way(), kLogWritesInFlightFirst);
  let_go();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i], i < kLogWritesInFlightFirst ? Code::kUnknown : Code::kPoisoned) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Gathering, testing::Range<std::uint64_t>(1, 1 + kSeeds));

}  // namespace
}  // namespace varve::engine::gathering_test
