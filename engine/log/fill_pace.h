// Owns: how far the next log segment is prepared while the current one is used.
// Must never: prepare faster than the log needs it. The zeros share the device with the commits.
//
// The zeros keep the same proportion as the use: when half of the current segment is used, a little more than half of
// the next one is prepared. So an idle log writes no zeros, and a busy one writes them in small steps between commits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/file_scale.h"

namespace varve::engine {

/// Size in bytes of one step. A commit that reaches the device during a step waits for it, and each step wakes a
/// thread.
inline constexpr std::uint64_t kFillStepBytes = (std::uint64_t{128} << 10) / kFileScale;

/// A value. Offsets and sizes are in bytes.
class FillPace {
 public:
  FillPace() noexcept = default;
  /// `current_bytes` is the size of the segment in use.
  explicit FillPace(std::uint64_t current_bytes) noexcept
      : full_at_(std::max<std::uint64_t>(1, current_bytes / 8 * 7)) {}

  /// Returns the offset up to which a next segment of `next_bytes` is due, when `used` bytes of the current one are
  /// used. The next segment is due as a whole when an eighth of the current one is left.
  std::uint64_t due(std::uint64_t used, std::uint64_t next_bytes) const noexcept {
    if (used >= full_at_) return next_bytes;
    const std::uint64_t in_proportion = next_bytes * used / full_at_;  // Segments are far below 4 GiB.
    return in_proportion / kFillStepBytes * kFillStepBytes;
  }

  /// Returns the smallest use at which more than `prepared` is due.
  std::uint64_t use_at(std::uint64_t prepared, std::uint64_t next_bytes) const noexcept {
    const std::uint64_t end = step_end(prepared);
    if (end > next_bytes) return full_at_;
    return std::min(full_at_, (end * full_at_ + next_bytes - 1) / next_bytes);
  }

  /// Returns the offset at which the step that begins at `prepared` ends. Steps end at multiples of their size, so that
  /// a header before the first one does not cut each of them into two writes.
  static std::uint64_t step_end(std::uint64_t prepared) noexcept {
    return (prepared / kFillStepBytes + 1) * kFillStepBytes;
  }

 private:
  std::uint64_t full_at_ = 1;
};

}  // namespace varve::engine
