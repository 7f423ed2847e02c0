// Goal: the log's promises about time. Buffered commits reach the device by themselves, without a write for each, and
// their versions are never reused. An idle log marks its end, so that damage to its last record is distinguished from a
// torn record.
// Method: threads run one at a time in simulated time, which passes at once.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "engine/commit/commit_queue.h"
#include "format/bytes/bytes.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::log_timer_test {
namespace {

using test::Change;
using test::Machine;

void let_time_pass(Machine& machine, std::chrono::nanoseconds time) {
  io::Mutex mutex(machine.scheduler());
  io::Condition nothing(machine.scheduler());
  const io::MutexGuard guard(mutex);
  while (nothing.wait_for(mutex, time)) continue;
}

io::MemoryDisk after_power_cut(Machine& machine) {
  return machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random);
}

TEST(LogTimer, BufferedCommitsBelowTheCeilingMakeNoWriteEach) {
  Machine machine(1, test::OneThreadAtATime{});
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  constexpr int kCommits = 1'000;
  const std::uint64_t before = (*engine)->statistics().log_writes;
  for (int i = 0; i < kCommits; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), "value").buffered().commit(**engine).ok());
  }
  EXPECT_LT((*engine)->statistics().log_writes - before, kCommits / 10) << "the first waits for its ceiling";
}

TEST(LogTimer, AVersionThatWasShownIsNeverGivenAgainThoughAPowerCutTookItsCommit) {
  Machine machine(6, test::OneThreadAtATime{});
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  format::CommitVersion shown = 0;
  for (int i = 0; i < 100; ++i) {
    const auto committed = Change().put("p", "r", std::to_string(i)).buffered().commit(**engine);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
    shown = *committed;
  }
  ASSERT_EQ((*engine)->statistics().visible_version.ticks, shown);
  Machine after(7, after_power_cut(machine));  // Its clock is as early as that of the first machine.
  auto recovered = after.open();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  ASSERT_LT((*recovered)->statistics().visible_version.ticks, shown) << "no commit was lost";
  const auto committed = Change().put("p", "r", "later").commit(**recovered);
  ASSERT_TRUE(committed.ok()) << committed.status().to_string();
  EXPECT_GT(*committed, shown);
}

TEST(LogTimer, ABufferedCommitIsOnTheDeviceAfterTheIntervalByItself) {
  Machine machine(2, test::OneThreadAtATime{});
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  ASSERT_TRUE(Change().put("p", "first", "brings its ceiling").buffered().commit(**engine).ok());
  ASSERT_TRUE(Change().put("p", "second", "value").buffered().commit(**engine).ok());
  let_time_pass(machine, 2 * kBufferedInterval);
  Machine after(3, after_power_cut(machine));
  auto recovered = after.open();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::value_of(**recovered, "p", "second"), "value");
}

TEST(LogTimer, AnIdleLogTellsDamageToItsLastCommitFromATornOne) {
  const std::string needle = "acknowledged long ago";
  Machine machine(4, test::OneThreadAtATime{});
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  ASSERT_TRUE(Change().put("p", "r", needle).commit(**engine).ok());
  let_time_pass(machine, 2 * kIdleInterval);
  io::MemoryDisk disk = after_power_cut(machine);
  int damaged = 0;
  for (const std::string& name : disk.file_names(test::kStorePath)) {
    if (!name.ends_with(".wal")) continue;
    const std::string path = std::string(test::kStorePath) + "/" + name;
    const std::size_t at = std::string(format::as_text(*disk.read_file(path))).find(needle);
    if (at == std::string::npos) continue;
    ASSERT_TRUE(disk.flip_bit(path, at, std::byte{1}).ok());
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  Machine after(5, std::move(disk));
  EXPECT_EQ(after.open().code(), Code::kCorruption) << "the commit was durable, and is not missing in silence";
}

}  // namespace
}  // namespace varve::engine::log_timer_test
