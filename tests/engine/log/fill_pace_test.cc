// Goal: the next segment is prepared in steps, in proportion to the use of the current one, and completely before it is
// needed.
#include "engine/log/fill_pace.h"

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"

namespace varve::engine::fill_pace_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(FillPace, NothingIsDueBeforeTheLogIsUsed) {
  const FillPace pace(kMiB);
  EXPECT_EQ(pace.due(0, 2 * kMiB), 0u);
  EXPECT_EQ(pace.due(4096, 2 * kMiB), 0u);
}

TEST(FillPace, TheWholeSegmentIsDueWhenAnEighthOfTheCurrentOneIsLeft) {
  const FillPace pace(64 * kMiB);
  EXPECT_EQ(pace.due(56 * kMiB, 64 * kMiB), 64 * kMiB);
  EXPECT_LT(pace.due(56 * kMiB - 4096, 64 * kMiB), 64 * kMiB);
}

TEST(FillPace, AStepEndsWhereAWriteOfItsSizeEnds) {
  EXPECT_EQ(FillPace::step_end(4096), kFillStepBytes) << "a header was written";
  EXPECT_EQ(FillPace::step_end(kFillStepBytes), 2 * kFillStepBytes);
  EXPECT_EQ(FillPace::step_end(2 * kFillStepBytes - 4096), 2 * kFillStepBytes);
}

TEST(FillPace, DueFollowsUseAtAnyPoint) {
  io::SeededRandom random(1);
  for (int round = 0; round < 10'000; ++round) {
    const std::uint64_t current = 4096 * (1 + io::random_below(random, 16'384));
    const std::uint64_t next = 4096 * (1 + io::random_below(random, 16'384));
    const std::uint64_t used = io::random_below(random, current + 1);
    SCOPED_TRACE(testing::Message() << current << " " << next << " " << used);
    const FillPace pace(current);
    const std::uint64_t due = pace.due(used, next);
    ASSERT_LE(due, next);
    // At most in proportion to the use of seven eighths.
    ASSERT_TRUE(due == next || due <= next * used / (current / 8 * 7));
    if (due == next) continue;
    const std::uint64_t at = pace.use_at(due, next);
    ASSERT_GT(at, used);
    ASSERT_LE(at, current);
    ASSERT_GT(pace.due(at, next), due);
    ASSERT_EQ(pace.due(at - 1, next), due);
  }
}

}  // namespace
}  // namespace varve::engine::fill_pace_test
