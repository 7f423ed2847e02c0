// Goal: background work without memory fails with a report, and is retried when memory is available. The process
// continues.
// Method: every allocation of the store's own threads fails from the n-th on, during a requested flush.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::background_memory_test {
namespace {

using test::Change;
using test::Machine;

class Sink final : public EventSink {
 public:
  void on_health(Health, const Status&) noexcept override {}
  void on_log(std::string_view) noexcept override { lines.fetch_add(1); }
  std::atomic<int> lines{0};
};

class BackgroundMemory : public testing::Test {
 protected:
  void SetUp() override { test::exempt_allocations(io::inside_memory_file_system); }
  void TearDown() override { test::exempt_allocations(nullptr); }
};

TEST_F(BackgroundMemory, ThatCannotBeHadFromAnyMomentOnIsToldAndTheWorkIsDoneLater) {
  int failed = 0;
  for (std::uint64_t nth = 1; nth < 400; nth += 7) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Machine machine;
    Sink sink;
    EngineOptions options = Machine::writable();
    options.events = &sink;
    auto engine = machine.open(options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(Change().put("p", std::to_string(i), "value").commit(**engine).ok());
    {
      const test::OtherThreadsAllocationFailure failure(nth, true);
      const Status compacted = (*engine)->compact();
      if (!compacted.ok()) {
        ++failed;
        EXPECT_EQ(compacted.code(), Code::kOutOfMemory) << compacted.to_string();
      }
      EXPECT_EQ(test::value_of(**engine, "p", "7"), "value");
    }
    Status compacted = (*engine)->compact();
    // The running attempt began while there was no memory.
    if (compacted.code() == Code::kOutOfMemory) compacted = (*engine)->compact();
    EXPECT_TRUE(compacted.ok()) << compacted.to_string();
    EXPECT_EQ(test::value_of(**engine, "p", "7"), "value");
    EXPECT_TRUE((*engine)->close().ok());
  }
  EXPECT_GT(failed, 5);
}

// After a drop a compaction ends the log's segment, and its flush waits until the log's own thread has recorded that. The
// thread may be the one that gets no memory: then it must rest, and let the flush go on. One thread runs at a time. The
// seed decides who asks first; a thread that never rests ends the simulation.
TEST_F(BackgroundMemory, ThatTheLogCannotHaveLetsAFlushThatWaitsForItEnd) {
  constexpr std::uint64_t kSeeds = 5;
  for (std::uint64_t run = 0; run < kSeeds * 20; ++run) {
    const std::uint64_t seed = 1 + run / 20;
    const std::uint64_t nth = 80 + run % 20;  // by then a flush has what it needs
    SCOPED_TRACE("seed " + std::to_string(seed) + ", allocation " + std::to_string(nth));
    Machine machine(seed, test::OneThreadAtATime{});
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    ASSERT_TRUE(Change().put("p", "r", "value").commit(**engine).ok());
    ASSERT_TRUE(Change().retire(test::kTable + 1).commit(**engine).ok());
    {
      const test::OtherThreadsAllocationFailure failure(nth, true);
      (void)(*engine)->compact();
    }
    EXPECT_EQ(test::value_of(**engine, "p", "r"), "value");
    // An edit that the thread had taken and could not record ends the store; whatever it says, nothing is lost.
    (void)(*engine)->close();
    engine = Status(Code::kUnknown);
    auto again = machine.open();
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(test::value_of(**again, "p", "r"), "value");
    EXPECT_TRUE((*again)->compact().ok());
  }
}

TEST_F(BackgroundMemory, ThatAnOpenCannotHaveAtAnyAllocationIsToldAndEndsNoLaterOpen) {
  Machine machine;
  for (const bool is_new : {true, false}) {
    std::uint64_t failed = 0;
    for (std::uint64_t nth = 1;; ++nth) {
      ASSERT_LT(nth, 5000u);
      SCOPED_TRACE((is_new ? "new, allocation " : "old, allocation ") + std::to_string(nth));
      Machine copy(1, is_new ? io::MemoryDisk() : machine.files->snapshot());
      bool happened = false;
      Result<std::unique_ptr<Engine>> engine = Status(Code::kUnknown);
      {
        const test::AllocationFailure failure(nth);
        engine = copy.open();
        happened = failure.happened();
      }
      if (!happened) {
        ASSERT_TRUE(engine.ok()) << engine.status().to_string();
        break;
      }
      if (!engine.ok()) {
        ++failed;
        ASSERT_EQ(engine.code(), Code::kOutOfMemory) << engine.status().to_string();
        auto again = copy.open();
        ASSERT_TRUE(again.ok()) << again.status().to_string();
      }
    }
    EXPECT_GT(failed, 50u);
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "r", "v").commit(**engine).ok());
    ASSERT_TRUE((*engine)->compact().ok());
    ASSERT_TRUE(Change().put("p", "s", "v").commit(**engine).ok());
  }
}

}  // namespace
}  // namespace varve::engine::background_memory_test
