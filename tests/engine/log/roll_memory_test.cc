// Goal: if a commit that begins the next log segment gets no memory, it is refused without a change, or succeeds
// without the memory. The process continues.
// Method: each allocation of the committing thread fails in turn, in a separate engine.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/log/log_files.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::roll_memory_test {
namespace {

using test::Change;
using test::Machine;

class RollMemory : public testing::Test {
 protected:
  void SetUp() override { test::exempt_allocations(io::inside_memory_file_system); }
  void TearDown() override { test::exempt_allocations(nullptr); }
};

/// A commit of one row, prepared before the memory ends, so that only the engine's allocations fail.
struct Prepared {
  Prepared(Engine& engine, std::string_view row, std::string_view value) {
    batch.put(test::key_of("p", row), value);
    request.batch = batch.finish();
    request.tables = {test::kTable};
    request.durability = Durability::kSync;
    const std::uint64_t partition = format::partition_hash(*format::encode_partition(test::kTable, "p"));
    Result<PartitionGuard> guard = engine.lock_partitions(std::span(&partition, 1));
    if (guard.ok()) request.locks = *std::move(guard);
  }
  format::BatchBuilder batch;
  CommitRequest request;
};

TEST_F(RollMemory, ACommitThatRollsTheLogWithoutMemoryDoesNotEndTheProcess) {
  // Two of them do not fit into the first segment.
  const std::string value(kSegmentBytesMin * 2 / 3, 'v');
  std::uint64_t refused = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1000u);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Machine machine;
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    ASSERT_TRUE(Change().put("p", "first", value).commit(**engine).ok());
    Prepared second(**engine, "second", value);
    Result<format::CommitVersion> committed = Status(Code::kUnknown);
    bool happened = false;
    {
      const test::AllocationFailure failure(nth);
      committed = (*engine)->commit(std::move(second.request));
      happened = failure.happened();
    }
    if (!committed.ok()) {
      ++refused;
      ASSERT_TRUE(happened) << committed.status().to_string();
      EXPECT_EQ(committed.code(), Code::kOutOfMemory) << committed.status().to_string();
      EXPECT_EQ(test::value_of(**engine, "p", "second"), "-");
      ASSERT_TRUE(Change().put("p", "second", value).commit(**engine).ok()) << "there is memory again";
    }
    EXPECT_EQ(test::value_of(**engine, "p", "second").size(), value.size());
    EXPECT_GE((*engine)->statistics().log_segments, 2u) << "the log did not roll";
    EXPECT_TRUE((*engine)->close().ok());
    if (!happened) break;
  }
  EXPECT_GE(refused, 1u);  // by the log; the memtable has room in its block
}

}  // namespace
}  // namespace varve::engine::roll_memory_test
