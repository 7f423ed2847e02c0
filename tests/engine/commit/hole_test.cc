// Goal: a sync commit is acknowledged when everything before it in the log is durable, not when its own write is: else
// a power cut leaves a hole before it, and takes it. Method: the write of a full slot of the log buffer, which nobody
// waits for, takes longer than all that can go on beside it; one thread at a time, by many seeds.
#include <string>

#include <gtest/gtest.h>

#include "engine/files/log_files.h"
#include "engine/sync_points.h"
#include "tests/support/engine_bench.h"

namespace varve::engine {
namespace {

using test::Change;
using test::Machine;

/// True if the write of the slot was under way when the sync commit was acknowledged or before.
bool expect_no_hole(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string value(kLogBufferSlotBytes * 2 / 3, 'v');
  Machine machine(seed, test::OneThreadAtATime{});
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(Change().put("p", "brings its ceiling", "v").buffered().commit(**engine).ok());
  EXPECT_TRUE(Change().put("p", "in the slot", value).buffered().commit(**engine).ok());
  io::FaultRule slow;
  slow.sync_point = std::string(sync_points::kLogBuffer.name);
  slow.effect = io::FaultEffect::kDelay;
  machine.files->faults().add(slow);

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
  if (recovered.ok()) EXPECT_EQ(test::value_of(**recovered, "r", "sync"), "acknowledged");
  return was_slow;
}

TEST(Hole, ASyncCommitIsAcknowledgedWhenAllThatIsBeforeItIsDurable) {
  int slow = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) slow += expect_no_hole(seed) ? 1 : 0;
  EXPECT_GE(slow, 5) << "hardly ever was there a write to wait for";
}

}  // namespace
}  // namespace varve::engine
