// Owns: how long a commit waits, before it holds anything, so that compaction keeps up.
// Must never: jump: the delay is a continuous function of every argument, and rises with each.
//
// There are three pressures: memtables that fill the write buffer, flushes in level 0, and debt. Each is zero in the
// range of normal work, and one at its limit. Together they are 1 - (1 - a)(1 - b)(1 - c).
//
// The price of a byte rises with the fourth power of the pressure. So it begins so gently that the first delayed
// commits do not notice it. It covers four decades, so for any disk speed there is a pressure at which writers are as
// fast as compaction. Near its bound the delay flattens smoothly; it is not cut off there.
#pragma once

#include <chrono>
#include <cstdint>

namespace varve::engine {

struct PacingInput {
  std::uint64_t write_buffer_used_bytes = 0;
  std::uint64_t write_buffer_bytes = 0;
  std::uint64_t level0_flush_count = 0;
  std::uint64_t debt_bytes = 0;
};

/// The values at which each pressure begins, and at which it is one.
struct PacingLimits {
  double write_buffer_begin = 0.5;  // as a part of the whole buffer
  std::uint64_t level0_flushes_begin = 12;
  std::uint64_t level0_flushes_full = 48;
  std::uint64_t debt_bytes_begin = std::uint64_t{4} << 30;
  std::uint64_t debt_bytes_full = std::uint64_t{64} << 30;
};

/// Returns the pressure, from 0 to 1; 0 means that no commit waits.
double write_pressure(const PacingInput& input, const PacingLimits& limits) noexcept;
/// Returns the wait of a commit of `commit_bytes` bytes. A caller that cannot sleep so briefly adds up its waits until
/// it can. The longest wait is 10 ms, plus 1 ms for every 64 KiB.
std::chrono::nanoseconds commit_delay(const PacingInput& input, const PacingLimits& limits,
                                      std::uint64_t commit_bytes) noexcept;

}  // namespace varve::engine
