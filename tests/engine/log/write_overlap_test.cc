// Goal: writes beside each other become usual with a quarter of a window, stay so above an eighth, and a lone write decides
// nothing.
#include "engine/log/write_overlap.h"

#include <gtest/gtest.h>

namespace varve::engine::write_overlap_test {
namespace {

/// Notes a window of writes, of which `beside` begin beside another one.
void note_window(WriteOverlap& overlap, std::uint32_t beside) {
  for (std::uint32_t i = 0; i < kOverlapWindow; ++i) overlap.note(i < beside);
}

TEST(WriteOverlap, AQuarterOfAWindowMakesItUsual) {
  WriteOverlap overlap;
  note_window(overlap, kOverlapWindow / 4 - 1);
  EXPECT_FALSE(overlap.is_usual());
  note_window(overlap, kOverlapWindow / 4);
  EXPECT_TRUE(overlap.is_usual());
}

TEST(WriteOverlap, AnEighthOfAWindowEndsIt) {
  WriteOverlap overlap;
  note_window(overlap, kOverlapWindow);
  note_window(overlap, kOverlapWindow / 8 + 1);
  EXPECT_TRUE(overlap.is_usual());
  note_window(overlap, kOverlapWindow / 8);
  EXPECT_FALSE(overlap.is_usual());
}

TEST(WriteOverlap, OnlyAWholeWindowDecides) {
  WriteOverlap overlap;
  for (std::uint32_t i = 0; i + 1 < kOverlapWindow; ++i) overlap.note(true);
  EXPECT_FALSE(overlap.is_usual());
  overlap.note(true);
  EXPECT_TRUE(overlap.is_usual());
}

}  // namespace
}  // namespace varve::engine::write_overlap_test
