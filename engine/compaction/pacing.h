// Owns: how long a commit waits, before it holds anything, so that compaction keeps up.
// Must never: jump: the delay is a smooth function of every argument, and rises with each.
//
// Three things press: memtables that fill the write buffer, files in level 0, and debt. Each is zero up to where normal
// work takes it and one where it has to end; together they are 1 - (1 - a)(1 - b)(1 - c). The price of a byte rises
// with the fourth power of the pressure: it begins so gently that the first commits delayed do not notice, and covers
// four decades, so that for any speed of the disk there is a pressure at which writers are as fast as compaction. The
// delay bends towards its bound instead of being cut off there.
#pragma once

#include <chrono>
#include <cstdint>

namespace varve::engine {

struct PacingInput {
  std::uint64_t write_buffer_used_bytes = 0;
  std::uint64_t write_buffer_bytes = 0;
  std::uint64_t level0_file_count = 0;
  std::uint64_t debt_bytes = 0;
};

/// Where each pressure begins and where it is one.
struct PacingLimits {
  double write_buffer_begin = 0.5;  // of the whole, which is one
  std::uint64_t level0_files_begin = 12;
  std::uint64_t level0_files_full = 48;
  std::uint64_t debt_bytes_begin = std::uint64_t{4} << 30;
  std::uint64_t debt_bytes_full = std::uint64_t{64} << 30;
};

/// No commit waits longer than this: 10 ms, and 1 ms more for every 64 KiB.
std::chrono::nanoseconds commit_delay_max(std::uint64_t commit_bytes) noexcept;
/// From 0 to 1; 0 when nothing presses.
double write_pressure(const PacingInput& input, const PacingLimits& limits) noexcept;
/// What a commit of `commit_bytes` waits. A caller that cannot sleep so shortly adds up what it owes until it can.
std::chrono::nanoseconds commit_delay(const PacingInput& input, const PacingLimits& limits,
                                      std::uint64_t commit_bytes) noexcept;

}  // namespace varve::engine
