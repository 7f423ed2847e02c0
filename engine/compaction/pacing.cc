// Owns: the curve.
#include "engine/compaction/pacing.h"

#include <algorithm>

namespace varve::engine {
namespace {

constexpr double kDelayBaseNanoseconds = 10e6;
constexpr double kDelayNanosecondsPerByte = 1e6 / 65536;
/// The price of a byte at full pressure, and the cost of a commit in addition to its bytes, expressed in bytes.
constexpr double kPriceNanosecondsPerByte = 20'000;
constexpr double kCommitBytes = 512;

double delay_max(std::uint64_t commit_bytes) noexcept {
  return kDelayBaseNanoseconds + kDelayNanosecondsPerByte * static_cast<double>(commit_bytes);
}

/// Returns zero up to `begin`, one from `full`, and a straight line between.
double ramp(double value, double begin, double full) noexcept {
  return std::clamp((value - begin) / (full - begin), 0.0, 1.0);
}

double ramp_of(std::uint64_t value, std::uint64_t begin, std::uint64_t full) noexcept {
  return ramp(static_cast<double>(value), static_cast<double>(begin), static_cast<double>(full));
}

std::chrono::nanoseconds whole(double nanoseconds) noexcept {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

}  // namespace

double write_pressure(const PacingInput& input, const PacingLimits& limits) noexcept {
  const double fill = input.write_buffer_bytes == 0 ? 0
                                                    : static_cast<double>(input.write_buffer_used_bytes) /
                                                          static_cast<double>(input.write_buffer_bytes);
  const double buffer = ramp(fill, limits.write_buffer_begin, 1);
  const double level0 = ramp_of(input.level0_flush_count, limits.level0_flushes_begin, limits.level0_flushes_full);
  const double debt = ramp_of(input.debt_bytes, limits.debt_bytes_begin, limits.debt_bytes_full);
  return 1 - (1 - buffer) * (1 - level0) * (1 - debt);
}

std::chrono::nanoseconds commit_delay(const PacingInput& input, const PacingLimits& limits,
                                      std::uint64_t commit_bytes) noexcept {
  const double pressure = write_pressure(input, limits);
  const double price = kPriceNanosecondsPerByte * pressure * pressure * pressure * pressure;
  const double asked = price * (static_cast<double>(commit_bytes) + kCommitBytes);
  const double bound = delay_max(commit_bytes);
  return whole(bound * asked / (bound + asked));
}

}  // namespace varve::engine
