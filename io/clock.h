// Owns: the time and randomness that the layers above may use.
// Must never: decide anything. The engine decides what a jump of the clock means for the order of commits.
#pragma once

#include <chrono>
#include <cstdint>

namespace varve::io {

/// A point of wall-clock time in ticks of 100 ns since 0001-01-01T00:00:00Z. The calendar is proleptic Gregorian
/// without leap seconds.
using Ticks = std::uint64_t;

inline constexpr Ticks kTicksPerSecond = 10'000'000;
inline constexpr Ticks kTicksPerMillisecond = 10'000;
/// The ticks of 1970-01-01T00:00:00Z.
inline constexpr Ticks kUnixEpochTicks = 621'355'968'000'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Returns the wall-clock time, which may jump in either direction.
  virtual Ticks wall() noexcept = 0;
  /// Returns a time that never decreases. Its zero is arbitrary.
  virtual std::chrono::nanoseconds monotonic() noexcept = 0;
  /// Returns a time that never decreases, and that goes on while the machine sleeps: for promises to other machines. Its
  /// zero is arbitrary.
  virtual std::chrono::nanoseconds since_boot() noexcept { return monotonic(); }
};

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// Returns a number that is uniform over all 64-bit numbers: unpredictable in the real source, reproducible in tests.
  virtual std::uint64_t next() noexcept = 0;
};

}  // namespace varve::io
