// Goal: a store on a file system without shared memory works with a log buffer of its own memory. The death of the
// process then loses at most the buffered commits at the end of the order, and leaves no hole.
// Method: the in-memory file system refuses shared memory. Images of its disk are opened.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::private_log_buffer_test {
namespace {

using test::Change;
using test::Machine;

void refuse_shared_memory(Machine& machine) {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kCreateSharedMemory;
  rule.fail_count = io::FaultRule::kFromThenOn;
  rule.code = Code::kUnsupported;
  machine.files->faults().add(rule);
}

bool has_buffer_file(const io::MemoryDisk& disk) {
  const std::vector<std::string> names = disk.file_names(test::kStorePath);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".buf"); });
}

TEST(PrivateLogBuffer, CommitsOfBothClassesAreThereAfterACleanClose) {
  Machine machine;
  refuse_shared_memory(machine);
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    EXPECT_FALSE(has_buffer_file(machine.files->snapshot()));
    ASSERT_TRUE(Change().put("p", "a", "1").commit(**engine).ok());
    ASSERT_TRUE(Change().put("p", "b", "2").buffered().commit(**engine).ok());
    EXPECT_EQ(test::value_of(**engine, "p", "b"), "2");
    ASSERT_EQ((*engine)->close().to_string(), "Ok");
  }
  auto again = machine.open();
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(test::value_of(**again, "p", "a"), "1");
  EXPECT_EQ(test::value_of(**again, "p", "b"), "2");
}

TEST(PrivateLogBuffer, TheDeathOfTheProcessLosesNothingBeforeASyncCommit) {
  Machine machine;
  refuse_shared_memory(machine);
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), "v").buffered().commit(**engine).ok());
  }
  ASSERT_TRUE(Change().put("p", "synced", "v").commit(**engine).ok());
  ASSERT_TRUE(Change().put("p", "last", "v").buffered().commit(**engine).ok());

  Machine after(2, machine.files->process_death(machine.random));
  auto found = after.open();
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(test::value_of(**found, "p", std::to_string(i)), "v");
  EXPECT_EQ(test::value_of(**found, "p", "synced"), "v");
}

TEST(PrivateLogBuffer, AStoreChangesBetweenBothKindsOfBuffers) {
  Machine machine;
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "a", "1").buffered().commit(**engine).ok());
    EXPECT_TRUE(has_buffer_file(machine.files->snapshot()));
  }
  refuse_shared_memory(machine);
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    EXPECT_FALSE(has_buffer_file(machine.files->snapshot())) << "the old buffer is a stray file now";
    EXPECT_EQ(test::value_of(**engine, "p", "a"), "1");
    ASSERT_TRUE(Change().put("p", "b", "2").buffered().commit(**engine).ok());
  }
  machine.files->faults().clear();
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE(has_buffer_file(machine.files->snapshot()));
  EXPECT_EQ(test::value_of(**engine, "p", "a"), "1");
  EXPECT_EQ(test::value_of(**engine, "p", "b"), "2");
}

}  // namespace
}  // namespace varve::engine::private_log_buffer_test
