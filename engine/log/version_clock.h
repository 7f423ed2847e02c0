// Owns: the next commit version: a hybrid logical clock, max(wall clock, last + 1), in ticks of 100 ns since year 1.
// Must never: return a value twice or go back, whatever the wall clock does.
//
// If the wall clock gains more than kJumpTicksMax on the monotonic clock since the store was opened, it is not followed
// until the store is reopened. Versions that were given cannot be taken back.
// Source: S. Kulkarni et al., "Logical Physical Clocks" (2014), with the logical part folded into the ticks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "format/keys/internal_key.h"
#include "io/clock.h"

namespace varve::engine {

using format::CommitVersion;

inline constexpr io::Ticks kJumpTicksMax = 3600 * io::kTicksPerSecond;
/// The distance in ticks from a version to the durable ceiling that its record sets.
inline constexpr io::Ticks kCeilingTicks = 100 * io::kTicksPerMillisecond;

class VersionClock {
 public:
  /// Every returned version will be above `floor`.
  VersionClock(io::Clock& clock, CommitVersion floor) noexcept;

  // Any thread may call these.
  /// Returns the first of `count` consecutive values, which no other call returns.
  CommitVersion take(std::uint64_t count) noexcept;
  CommitVersion last() const noexcept { return last_.load(std::memory_order_relaxed); }
  /// Returns the present time: the clock's, or the last value if that is greater.
  CommitVersion time() noexcept;
  /// Called when `end`, which is at or below time(), was judged as passed. No time and no value is below it afterwards.
  void pass(CommitVersion end) noexcept;
  bool jump_ignored() const noexcept { return jump_ignored_.load(std::memory_order_relaxed); }

 private:
  io::Ticks now() noexcept;

  io::Clock& clock_;
  io::Ticks wall_at_open_;
  std::chrono::nanoseconds monotonic_at_open_;
  std::atomic<CommitVersion> last_;
  /// The limit of a followed wall clock, by the last time that was asked of the monotonic clock. That clock never goes
  /// back, so a time up to here needs no question to it. It is asked once in about kJumpTicksMax.
  std::atomic<io::Ticks> followed_to_;
  std::atomic<bool> jump_ignored_{false};
};

}  // namespace varve::engine
