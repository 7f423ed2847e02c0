// Owns: time and randomness under a test's control: a clock that moves only when a test moves it, and numbers that
// follow from a seed.
// Must never: read the machine's clocks or entropy. Two runs with the same seed and moves are equal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "io/clock.h"

namespace varve::io {

/// Both clocks move only when the test moves them. Any thread may use them.
class ManualClock final : public Clock {
 public:
  /// The default wall time: noon of 2026-01-01. The monotonic clock begins at one second, so that zero is in the past.
  static constexpr Ticks kDefaultWall = 639'028'656'000'000'000;

  explicit ManualClock(Ticks wall = kDefaultWall) noexcept : wall_(wall) {}

  Ticks wall() noexcept override { return wall_.load(std::memory_order_acquire); }
  std::chrono::nanoseconds monotonic() noexcept override {
    return std::chrono::nanoseconds(monotonic_ns_.load(std::memory_order_acquire));
  }

  /// Sets the wall clock, forward or back. The monotonic clock does not change.
  void set_wall(Ticks wall) noexcept { wall_.store(wall, std::memory_order_release); }

  /// Moves both clocks forward. Less than 100 ns moves only the monotonic clock. A negative duration does nothing.
  void advance(std::chrono::nanoseconds duration) noexcept {
    if (duration.count() <= 0) return;
    monotonic_ns_.fetch_add(duration.count(), std::memory_order_acq_rel);
    wall_.fetch_add(static_cast<Ticks>(duration.count() / 100), std::memory_order_acq_rel);
  }

 private:
  std::atomic<Ticks> wall_;
  std::atomic<std::int64_t> monotonic_ns_{1'000'000'000};
};

/// A sequence of numbers that follows from its seed: SplitMix64, whose state is one atomic word. Any thread may use it;
/// concurrent threads share one sequence.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept override {
    std::uint64_t z = state_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;
  std::atomic<std::uint64_t> state_;
};

/// Returns a number below `bound`, which is not zero. Uniform enough for tests.
inline std::uint64_t random_below(RandomSource& random, std::uint64_t bound) noexcept {
  return random.next() % bound;
}

/// Returns true once in `n` calls on average.
inline bool one_in(RandomSource& random, std::uint64_t n) noexcept {
  return random_below(random, n) == 0;
}

}  // namespace varve::io
