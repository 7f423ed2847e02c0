// Goal: only segments that this opening made and filled are kept for a second life, the largest ones, and few.
#include "engine/log/released_segments.h"

#include <gtest/gtest.h>

namespace varve::engine::released_segments_test {
namespace {

class ReleasedSegmentsTest : public testing::Test {
 protected:
  /// Makes a segment and leaves it with this size.
  void use(std::uint64_t number, std::uint64_t allocated, std::uint64_t closed) {
    released_.begin(number, allocated);
    released_.close(number, closed);
  }
  ReleasedSegments released_;
};

TEST_F(ReleasedSegmentsTest, AFileOfAnotherOpeningIsNotKept) {
  EXPECT_EQ(released_.release(7), 7u);
  EXPECT_TRUE(released_.empty());
}

TEST_F(ReleasedSegmentsTest, AFilledSegmentIsKeptOnce) {
  use(7, kRecycledBytesMin, kRecycledBytesMin - 4096);
  EXPECT_EQ(released_.release(7), 0u);
  EXPECT_EQ(released_.release(7), 7u);
  const auto taken = released_.take(kRecycledBytesMin);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->number, 7u);
  EXPECT_EQ(taken->allocated_bytes, kRecycledBytesMin);
  EXPECT_FALSE(released_.take(0).has_value());
}

TEST_F(ReleasedSegmentsTest, SmallAndHalfEmptySegmentsAreNotKept) {
  use(1, kRecycledBytesMin - 4096, kRecycledBytesMin - 4096);
  EXPECT_EQ(released_.release(1), 1u);
  use(2, 2 * kRecycledBytesMin, kRecycledBytesMin - 4096);
  EXPECT_EQ(released_.release(2), 2u);
  released_.begin(3, kRecycledBytesMin);  // never closed
  EXPECT_EQ(released_.release(3), 3u);
}

TEST_F(ReleasedSegmentsTest, TheLargestOfManyAreKeptAndTakenFirst) {
  std::uint64_t removed = 0;
  for (std::uint64_t number = 1; number <= kReleasedSegmentsMax + 2; ++number) {
    // Sizes fall, so that every file after the first four is the smallest itself.
    const std::uint64_t bytes = (20 - number) * kRecycledBytesMin;
    use(number, bytes, bytes);
    if (const std::uint64_t not_kept = released_.release(number); not_kept != 0) {
      EXPECT_EQ(not_kept, number);
      ++removed;
    }
  }
  EXPECT_EQ(removed, 2u);
  use(50, 30 * kRecycledBytesMin, 30 * kRecycledBytesMin);
  EXPECT_EQ(released_.release(50), kReleasedSegmentsMax) << "the smallest one leaves";
  EXPECT_FALSE(released_.take(31 * kRecycledBytesMin).has_value());
  EXPECT_EQ(released_.take(0)->number, 50u);
  EXPECT_EQ(released_.take(0)->number, 1u);
}

TEST_F(ReleasedSegmentsTest, ASegmentThatStayedAsAValueFileIsForgotten) {
  use(1, kRecycledBytesMin, kRecycledBytesMin);
  use(2, kRecycledBytesMin, kRecycledBytesMin);
  EXPECT_EQ(released_.release(2), 0u);
  EXPECT_EQ(released_.release(1), 1u) << "it left the log before the other one, so the store still has it";
}

}  // namespace
}  // namespace varve::engine::released_segments_test
