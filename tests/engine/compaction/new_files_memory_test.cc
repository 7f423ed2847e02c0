// Goal: background work that lacks memory between the end of a file and its edit leaves no file.
// Method: one allocation of the store's own threads fails during a flush and a merge, each in turn. Once the work is done, the
// directory has the table files that the levels have.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::new_files_memory_test {
namespace {

using test::Change;
using test::Machine;

std::size_t table_files(const Machine& machine) {
  const std::vector<std::string> names = machine.files->snapshot().file_names(test::kStorePath);
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); }));
}

std::size_t files_in_levels(const Engine& engine) {
  std::size_t files = 0;
  const Statistics figures = engine.statistics();
  for (const LevelStatistics& level : figures.levels) files += level.files;
  return files;
}

class NewFilesMemory : public testing::Test {
 protected:
  void SetUp() override { test::exempt_allocations(io::inside_memory_file_system); }
  void TearDown() override { test::exempt_allocations(nullptr); }
};

TEST_F(NewFilesMemory, ThatOneAllocationLacksLeavesNoFile) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  int failed = 0;
  for (std::uint64_t nth = 1;; nth += 3 * test::kStride) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    ASSERT_LT(nth, 20'000U);
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(Change().put("p", std::to_string(i), "value").commit(**engine).ok());
    bool happened = false;
    {
      const test::OtherThreadsAllocationFailure failure(nth, false);
      const Status compacted = (*engine)->compact();
      happened = failure.happened();
      if (!compacted.ok()) ++failed;
      EXPECT_TRUE(compacted.ok() || compacted.code() == Code::kOutOfMemory) << compacted.to_string();
    }
    Status compacted = (*engine)->compact();
    // The running attempt began while there was no memory.
    if (compacted.code() == Code::kOutOfMemory) compacted = (*engine)->compact();
    ASSERT_TRUE(compacted.ok()) << compacted.to_string();
    const std::size_t files = files_in_levels(**engine);
    // A thread that just finished a merge may hold its inputs for a moment. A close waits for it, and an open would hide a
    // file that nothing needs.
    ASSERT_TRUE((*engine)->close().ok());
    ASSERT_EQ(table_files(machine), files);
    if (!happened) break;
    engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  }
  EXPECT_GT(failed, 20 / test::kEffortDivisor);
}

}  // namespace
}  // namespace varve::engine::new_files_memory_test
