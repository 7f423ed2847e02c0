// Goal: no commit in the log is acknowledged before everything before it is durable. Otherwise a power cut would leave
// a hole and lose the commits after it. A sync commit waits for this, and so does the end of a segment.
// Method: the write of a full slot of the log buffer, for which no commit waits, is slower than all concurrent work.
// Threads run one at a time, by many seeds.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/log/log_files.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::hole_test {
namespace {

using test::Change;
using test::Machine;

/// Makes writes of slots of the log buffer slower than all other runnable work.
io::FaultRule slow_slots() {
  io::FaultRule slow;
  slow.sync_point = std::string(sync_points::kLogBuffer.name);
  slow.fail_count = io::FaultRule::kFromThenOn;
  slow.effect = io::FaultEffect::kDelay;
  return slow;
}

/// Returns whether the slot was being written at or before the acknowledgement of the sync commit.
bool expect_no_hole(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string value(kLogBufferSlotBytes * 2 / 3, 'v');
  Machine machine(seed, test::OneThreadAtATime{});
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(Change().put("p", "brings its ceiling", "v").buffered().commit(**engine).ok());
  EXPECT_TRUE(Change().put("p", "in the slot", value).buffered().commit(**engine).ok());
  machine.files->faults().add(slow_slots());

  Result<io::Thread> beside = machine.scheduler().start("buffered writer", [&] {
    EXPECT_TRUE(Change().put("q", "closes the slot", value).buffered().commit(**engine).ok());
  });
  EXPECT_TRUE(beside.ok());
  EXPECT_TRUE(Change().put("r", "sync", "acknowledged").commit(**engine).ok());
  const bool was_slow = machine.files->faults().hit_count() > 0;
  io::MemoryDisk disk = machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random);
  beside->join();

  Machine after(seed + 1, std::move(disk));
  auto recovered = after.open();
  EXPECT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered.ok() ? test::value_of(**recovered, "r", "sync") : "not opened", "acknowledged");
  return was_slow;
}

/// Opens an engine whose log has brought its ceiling, and whose slots are written slowly from now on.
void open_with_slow_slots(Machine& machine, std::unique_ptr<Engine>& engine) {
  auto opened = machine.open();
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  engine = *std::move(opened);
  ASSERT_TRUE(Change().put("p", "brings its ceiling", "v").buffered().commit(*engine).ok());
  ASSERT_TRUE(engine->sync().ok());
  machine.files->faults().add(slow_slots());
}

/// Makes so many buffered commits, named by their numbers.
void commit_buffered(Engine& engine, std::size_t count, const std::string& value) {
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), value).buffered().commit(engine).ok());
  }
}

/// Expects these commits after a power cut, and an open by a machine of the next seed.
void expect_after_power_cut(Machine& machine, std::uint64_t seed, std::size_t count, const std::string& value) {
  Machine after(seed + 1, machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  auto recovered = after.open();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(test::value_of(**recovered, "p", std::to_string(i)), value) << i;
  }
}

TEST(Hole, ASyncCommitIsAcknowledgedWhenAllThatIsBeforeItIsDurable) {
  int slow = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) slow += expect_no_hole(seed) ? 1 : 0;
  EXPECT_GE(slow, 5) << "hardly ever was there a write to wait for";
}

TEST(Hole, ABufferedCommitDoesNotWaitForTheSlotThatItCloses) {
  const std::string value(kLogBufferSlotBytes * 2 / 3, 'v');
  constexpr std::size_t kCommits = kLogBufferSlots - 1;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine(seed, test::OneThreadAtATime{});
    std::unique_ptr<Engine> engine;
    ASSERT_NO_FATAL_FAILURE(open_with_slow_slots(machine, engine));
    const std::uint64_t writes = engine->statistics().log_writes;
    ASSERT_NO_FATAL_FAILURE(commit_buffered(*engine, kCommits, value));
    EXPECT_EQ(engine->statistics().log_writes, writes) << "a slot was free all the time";
    ASSERT_TRUE(engine->sync().ok());
    EXPECT_GE(engine->statistics().log_writes, writes + kCommits);
    ASSERT_NO_FATAL_FAILURE(expect_after_power_cut(machine, seed, kCommits, value));
  }
}

/// The writes of many full slots are in flight or deferred, and each commit takes the first slot that is free again.
TEST(Hole, ABufferedCommitThatFindsNoFreeSlotGoesOnWithTheFirstOne) {
  const std::string value(kLogBufferSlotBytes * 2 / 3, 'v');
  constexpr std::size_t kCommits = 3 * kLogBufferSlots;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine(seed, test::OneThreadAtATime{});
    std::unique_ptr<Engine> engine;
    ASSERT_NO_FATAL_FAILURE(open_with_slow_slots(machine, engine));
    ASSERT_NO_FATAL_FAILURE(commit_buffered(*engine, kCommits, value));
    ASSERT_TRUE(engine->sync().ok());
    ASSERT_NO_FATAL_FAILURE(expect_after_power_cut(machine, seed, kCommits, value));
  }
}

/// The store is poisoned. It must not wait for a slot that never becomes free.
TEST(Hole, ABufferedCommitFailsIfTheWriteOfNoSlotSucceeds) {
  const std::string value(kLogBufferSlotBytes * 2 / 3, 'v');
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine(seed, test::OneThreadAtATime{});
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    ASSERT_TRUE(Change().put("p", "brings its ceiling", "v").buffered().commit(**engine).ok());
    io::FaultRule failing = slow_slots();
    failing.effect = io::FaultEffect::kError;
    machine.files->faults().add(failing);
    std::size_t committed = 0;
    while (Change().put("p", std::to_string(committed), value).buffered().commit(**engine).ok()) {
      ASSERT_LE(++committed, kLogBufferSlots);
    }
    EXPECT_EQ((*engine)->sync().code(), Code::kPoisoned);
  }
}

TEST(Hole, WhatTakesFullSlotsIsNotFilledWithZerosAhead) {
  const std::string value(kLogBufferSlotBytes / 3, 'v');
  Machine machine(1, test::OneThreadAtATime{});
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  std::uint64_t filled = 0;
  std::uint64_t segments = 0;
  for (int i = 0; segments < 5; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), value).buffered().commit(**engine).ok());
    const Statistics now = (*engine)->statistics();
    // When the log leaves the first segment, its fill determines the size of later ones. The second one was made
    // before.
    if (segments < 3 && now.log_segments >= 3) filled = now.fill_bytes;
    segments = now.log_segments;
  }
  EXPECT_GT(filled, 0u);
  EXPECT_EQ((*engine)->statistics().fill_bytes, filled);
}

TEST(Hole, ASegmentIsLeftWithTheOpenSlotWritten) {
  const std::string value(kLogBufferSlotBytes / 3, 'v');
  constexpr int kCommits = 30;  // more than the first segment holds
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine(seed, test::OneThreadAtATime{});
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    for (int i = 0; i < kCommits; ++i) {
      ASSERT_TRUE(Change().put("p", std::to_string(i), value).buffered().commit(**engine).ok());
    }
    ASSERT_GE((*engine)->statistics().log_segments, 2u);
    ASSERT_TRUE((*engine)->sync().ok());
    Machine after(seed + 1, machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
    auto recovered = after.open();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    for (int i = 0; i < kCommits; ++i) EXPECT_EQ(test::value_of(**recovered, "p", std::to_string(i)), value) << i;
  }
}

/// Commits to the next segment while the write of a full slot is slow. Returns whether it was slow.
bool expect_roll_waits(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string value(kLogBufferSlotBytes * 2 / 3, 'v');
  const std::string rolls(kSegmentBytesMin - 2 * kLogBufferSlotBytes, 'r');
  Machine machine(seed, test::OneThreadAtATime{});
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(Change().put("p", "brings its ceiling", "v").buffered().commit(**engine).ok());
  EXPECT_TRUE(Change().put("r", "first", rolls).commit(**engine).ok());
  EXPECT_TRUE(Change().put("p", "in the slot", value).buffered().commit(**engine).ok());
  machine.files->faults().add(slow_slots());
  Result<io::Thread> beside = machine.scheduler().start("buffered writer", [&] {
    EXPECT_TRUE(Change().put("q", "closes the slot", value).buffered().commit(**engine).ok());
  });
  EXPECT_TRUE(beside.ok());
  EXPECT_TRUE(Change().put("r", "second", rolls).commit(**engine).ok());
  const bool was_slow = machine.files->faults().hit_count() > 0;
  io::MemoryDisk disk = machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random);
  EXPECT_GE((*engine)->statistics().log_segments, 2u);
  beside->join();
  Machine after(seed + 1, std::move(disk));
  auto recovered = after.open();
  EXPECT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered.ok() ? test::value_of(**recovered, "r", "second") : "not opened", rolls);
  return was_slow;
}

TEST(Hole, ASegmentIsSealedWhenNoWriteToItIsUnderWay) {
  int slow = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) slow += expect_roll_waits(seed) ? 1 : 0;
  EXPECT_GE(slow, 5) << "hardly ever was there a write to wait for";
}

}  // namespace
}  // namespace varve::engine::hole_test
