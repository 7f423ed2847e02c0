// Owns: the promises of pacing (engine/compaction/pacing.h).
#include "engine/compaction/pacing.h"

#include <array>

#include <gtest/gtest.h>

namespace varve::engine::pacing_test {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::array<std::uint64_t, 6> kCommitSizes = {0, 100, 300, 4096, 65'536, 4 << 20};

/// Returns a store without pressure except for one of the three inputs, which is at `part` thousandths of its limit.
PacingInput pressed(int which, std::uint64_t part) {
  const PacingLimits limits;
  PacingInput input{kGiB / 4, kGiB, 2, 0};
  if (which == 0) input.write_buffer_used_bytes = kGiB / 1000 * part;
  if (which == 1) input.level0_flush_count = limits.level0_flushes_full * part / 1000;
  if (which == 2) input.debt_bytes = limits.debt_bytes_full / 1000 * part;
  return input;
}

TEST(Pacing, NothingWaitsWhereNothingPresses) {
  const PacingLimits limits;
  const PacingInput at_begin{kGiB / 2, kGiB, limits.level0_flushes_begin, limits.debt_bytes_begin};
  for (const std::uint64_t bytes : kCommitSizes) {
    EXPECT_EQ(commit_delay({}, limits, bytes), nanoseconds(0));
    EXPECT_EQ(commit_delay(at_begin, limits, bytes), nanoseconds(0));
  }
}

TEST(Pacing, RisesWithEachPressure) {
  for (int which = 0; which < 3; ++which) {
    for (const std::uint64_t bytes : kCommitSizes) {
      nanoseconds last(0);
      for (std::uint64_t part = 0; part <= 1500; ++part) {
        const nanoseconds delay = commit_delay(pressed(which, part), {}, bytes);
        ASSERT_GE(delay, last) << which << " at " << part;
        last = delay;
      }
      EXPECT_GT(last, nanoseconds(1'000'000));
    }
  }
}

TEST(Pacing, RisesWithTheSizeOfTheCommit) {
  for (std::uint64_t part = 0; part <= 1000; part += 50) {
    nanoseconds last(0);
    for (std::uint64_t bytes = 0; bytes < (4 << 20); bytes += 10'007) {
      const nanoseconds delay = commit_delay(pressed(1, part), {}, bytes);
      ASSERT_GE(delay, last);
      last = delay;
    }
  }
}

// The longest wait of a commit: 10 ms, plus 1 ms for every 64 KiB.
nanoseconds longest_wait(std::uint64_t commit_bytes) {
  return std::chrono::milliseconds(10) +
         std::chrono::nanoseconds(std::chrono::milliseconds(1)) * commit_bytes / (64 << 10);
}

TEST(Pacing, StaysBelowItsBound) {
  PacingInput worst{~std::uint64_t{0}, 1, ~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(write_pressure(worst, {}), 1);
  for (const std::uint64_t bytes : kCommitSizes) {
    EXPECT_LE(commit_delay(worst, {}, bytes), longest_wait(bytes));
  }
  EXPECT_LE(commit_delay(worst, {}, 4096), std::chrono::milliseconds(10));
}

TEST(Pacing, HasNoStepInDebtOrBuffer) {
  // A thousandth of pressure never costs more than one fiftieth of the bound.
  for (const int which : {0, 2}) {
    for (const std::uint64_t bytes : kCommitSizes) {
      nanoseconds last = commit_delay(pressed(which, 0), {}, bytes);
      for (std::uint64_t part = 1; part <= 1500; ++part) {
        const nanoseconds delay = commit_delay(pressed(which, part), {}, bytes);
        ASSERT_LE(delay - last, longest_wait(bytes) / 50) << which << " at " << part;
        last = delay;
      }
    }
  }
}

TEST(Pacing, BeginsBelowAMicrosecondForASmallCommit) {
  const PacingLimits limits;
  PacingInput input;
  input.level0_flush_count = limits.level0_flushes_begin + 1;
  EXPECT_LT(commit_delay(input, limits, 300), nanoseconds(1'000));
  input.level0_flush_count = limits.level0_flushes_begin + 8;
  EXPECT_GT(commit_delay(input, limits, 300), nanoseconds(10'000));
}

TEST(Pacing, PressuresAddUp) {
  PacingInput both = pressed(1, 600);
  both.debt_bytes = pressed(2, 600).debt_bytes;
  EXPECT_GT(write_pressure(both, {}), write_pressure(pressed(1, 600), {}));
  EXPECT_GT(write_pressure(both, {}), write_pressure(pressed(2, 600), {}));
}

TEST(Pacing, AStoreWithoutAWriteBufferIsNotDividedByZero) {
  EXPECT_EQ(write_pressure({0, 0, 0, 0}, {}), 0);
}

}  // namespace
}  // namespace varve::engine::pacing_test
