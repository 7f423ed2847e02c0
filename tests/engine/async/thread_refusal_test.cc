// Goal: if the system refuses a thread, the operation that needs it reports this, nothing stays half begun, and a later
// attempt succeeds.
// Method: the n-th thread is refused, n = 0, 1, ..., until none was. Threads run one at a time.
#include "tests/support/thread_refusal.h"

#include <gtest/gtest.h>

#include "engine/async/async_engine.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::thread_refusal_test {
namespace {

using test::Change;
using test::Machine;
using test::value_of;

struct RefusingMachine {
  Machine machine{1, test::OneThreadAtATime{}};
  test::ThreadRefusal threads{machine.simulation()};
  io::Env env{*machine.files, machine.clock, machine.random, threads.scheduler()};

  Result<std::unique_ptr<Engine>> open() { return Engine::open(env, test::kStorePath, Machine::writable()); }
};

/// Returns the number of refused opens before one succeeded.
std::uint64_t refused_opens(RefusingMachine& on) {
  for (std::uint64_t nth = 0;; ++nth) {
    SCOPED_TRACE("thread " + std::to_string(nth));
    on.threads.refuse(nth);
    const auto opened = on.open();
    if (!on.threads.happened()) {
      EXPECT_TRUE(opened.ok()) << opened.status().to_string();
      return nth;
    }
    EXPECT_EQ(opened.code(), Code::kOutOfMemory) << opened.status().to_string();
    if (testing::Test::HasFailure()) return 0;
  }
}

TEST(ThreadRefusal, AnOpenOfANewStoreSaysSoAndTheNextOneSucceeds) {
  // Each attempt begins with an empty disk.
  for (std::uint64_t nth = 0;; ++nth) {
    SCOPED_TRACE("thread " + std::to_string(nth));
    RefusingMachine on;
    on.threads.refuse(nth);
    const Code code = on.open().code();
    if (!on.threads.happened()) {
      EXPECT_EQ(code, Code::kOk);
      EXPECT_GE(nth, 4U) << "the log's supply, compaction, flushes and the timer each have a thread";
      return;
    }
    ASSERT_EQ(code, Code::kOutOfMemory);
    on.threads.refuse_none();
    const auto engine = on.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    ASSERT_TRUE(Change().put("p", "r", "v").commit(**engine).ok());
    ASSERT_TRUE((*engine)->close().ok());
  }
}

TEST(ThreadRefusal, AnOpenOfAStoreWithContentLosesNothing) {
  RefusingMachine on;
  {
    const auto engine = on.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "in a table", "t").commit(**engine).ok());
    ASSERT_TRUE((*engine)->flush().ok());
    ASSERT_TRUE(Change().put("p", "in the log", "l").commit(**engine).ok());
    ASSERT_TRUE((*engine)->close().ok());
  }
  EXPECT_GE(refused_opens(on), 4U);
  on.threads.refuse_none();
  const auto engine = on.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_EQ(value_of(**engine, "p", "in a table"), "t");
  EXPECT_EQ(value_of(**engine, "p", "in the log"), "l");
}

TEST(ThreadRefusal, TheAsynchronousCallsDoNotBeginAndDoLater) {
  RefusingMachine on;
  const auto engine = on.open();
  ASSERT_TRUE(engine.ok());
  std::uint64_t refused = 0;
  for (;; ++refused) {
    SCOPED_TRACE("thread " + std::to_string(refused));
    on.threads.refuse(refused);
    const auto started = AsyncEngine::start(**engine);
    if (!on.threads.happened()) {
      ASSERT_TRUE(started.ok()) << started.status().to_string();
      break;
    }
    ASSERT_EQ(started.code(), Code::kOutOfMemory) << started.status().to_string();
  }
  EXPECT_GE(refused, 4U) << "leaders, workers, the executor and its helper each have a thread";
  EXPECT_TRUE(Change().put("p", "r", "v").commit(**engine).ok());
}

}  // namespace
}  // namespace varve::engine::thread_refusal_test
