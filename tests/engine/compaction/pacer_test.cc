// Goal: commits wait only under pressure, and a closing store delays no commit.
// Method: a seeded scheduler, whose clock advances by the time that threads wait for.
#include "engine/compaction/pacer.h"

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/seeded_scheduler.h"

namespace varve::engine::pacer_test {
namespace {

class PacerTest : public testing::Test {
 protected:
  io::ManualClock clock_;
  io::SeededScheduler simulation_{1, clock_};
  io::MemoryFileSystem files_;
  io::SeededRandom random_{1};
  std::shared_ptr<WriteBudget> shared_ = std::make_shared<WriteBudget>(simulation_.scheduler(), 1 << 20);
  WriteBudget& budget_ = *shared_;
  WriteShare share_{shared_, io::Env{files_, clock_, random_, simulation_.scheduler()}, "/store"};
  Pacer pacer_{simulation_.scheduler(), share_};
};

TEST_F(PacerTest, NobodyWaitsWhileNothingPresses) {
  for (int i = 0; i < 1000; ++i) pacer_.pace(4096);
  EXPECT_EQ(pacer_.waited().count(), 0);
}

TEST_F(PacerTest, CommitsWaitAsLongAsTheCurveSays) {
  ASSERT_TRUE(budget_.take(budget_.bytes_max() * 7 / 10));
  const auto before = clock_.monotonic();
  for (int i = 0; i < 1000; ++i) pacer_.pace(300);
  PacingInput input;
  input.write_buffer_used_bytes = budget_.used_bytes();
  input.write_buffer_bytes = budget_.bytes_max();
  const auto expected = 1000 * commit_delay(input, {}, 300);
  EXPECT_GT(pacer_.waited(), expected * 9 / 10);
  EXPECT_LE(pacer_.waited(), expected);
  EXPECT_GT(clock_.monotonic(), before);
}

TEST_F(PacerTest, NobodyWaitsOnceItIsStopped) {
  ASSERT_TRUE(budget_.take(budget_.bytes_max(), BudgetPart::kAll));
  pacer_.stop();
  const auto before = clock_.monotonic();
  for (int i = 0; i < 100; ++i) pacer_.pace(4096);
  EXPECT_LT(clock_.monotonic() - before, std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace varve::engine::pacer_test
