// Owns: the time and randomness that the layers above may know of.
// Must never: decide anything. What a clock that jumps means for the order of commits is the engine's affair.
#pragma once

#include <chrono>
#include <cstdint>

namespace varve::io {

/// A point of wall-clock time: ticks of 100 ns since 0001-01-01T00:00:00Z, proleptic Gregorian calendar, no leap
/// seconds.
using Ticks = std::uint64_t;

inline constexpr Ticks kTicksPerSecond = 10'000'000;
inline constexpr Ticks kTicksPerMillisecond = 10'000;
/// 1970-01-01T00:00:00Z.
inline constexpr Ticks kUnixEpochTicks = 621'355'968'000'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  /// May jump either way.
  virtual Ticks wall() noexcept = 0;
  /// Never goes back; its zero is arbitrary.
  virtual std::chrono::nanoseconds monotonic() noexcept = 0;
};

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// Uniform over all 64-bit numbers. Unpredictable in the real source, reproducible in tests.
  virtual std::uint64_t next() noexcept = 0;
};

}  // namespace varve::io
