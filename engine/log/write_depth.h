// Owns: the choice of how many log writes are in flight at once, from what the device showed.
// Must never: leave the first depth without a measured gain, or keep a depth that is being tried after its trial ended.
//
// A device may complete more bytes a second with more writes in flight, or fewer. No commit can know which, so the depth
// is tried out. It matters only if groups wait because of it, so nothing is measured otherwise.
//
// After a time in which groups waited, a *trial* of twice the depth begins, or else of half of it. A trial is a row of
// windows, in which the present depth and the tried one take turns. The tried depth replaces the present one if each of
// its windows was faster than both its neighbours. So a device that becomes faster or slower meanwhile decides nothing.
// The first window that was not faster ends the trial, and the time before the next trial doubles.
//
// For example, a device that serves 16 writes at once: 8 becomes 16, then 32 is no faster, then 8 is slower.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/log/write_tracker.h"

namespace varve::engine {

inline constexpr std::size_t kLogWritesInFlightMin = 1;
/// The depth of a store that was just opened.
inline constexpr std::size_t kLogWritesInFlightFirst = 8;
static_assert(kLogWritesInFlightMin <= kLogWritesInFlightFirst);
static_assert(kLogWritesInFlightFirst <= kLogWritesInFlightMax);

/// A value without I/O and clocks. One thread at a time may use it.
class WriteDepth {
 public:
  using Time = std::chrono::nanoseconds;

  /// Returns how many writes may be in flight now.
  std::size_t limit() const noexcept { return limit_; }
  /// Returns whether a trial is in progress. note_end() needs the time only then.
  bool is_trying() const noexcept { return phase_ == Phase::kTrial; }

  /// Records that a group waits only because limit() writes are in flight.
  void note_held() noexcept { is_held_ = true; }
  /// Records that groups with `bytes` of batches became durable at the time `now`. `has_more` means that other groups
  /// are on their way to the device, so the time until the next call counts as time in which it works.
  void note_end(std::uint64_t bytes, bool has_more, Time now) noexcept;

 private:
  /// Windows before the first trial, and after a gain.
  static constexpr std::uint64_t kRestMin = 4;

  enum class Phase : std::uint8_t { kRest, kTrial };

  /// The counts of a time at one depth. `busy` is the time in which the device worked.
  struct Window {
    std::uint64_t ends = 0;
    std::uint64_t held_ends = 0;
    std::uint64_t bytes = 0;
    Time busy{0};

    bool is_held() const noexcept { return held_ends * 4 >= ends * 3; }
    double speed() const noexcept { return static_cast<double>(bytes) / static_cast<double>(busy.count()); }
  };

  static bool is_faster(const Window& tried, const Window& present) noexcept;
  void rest(bool was_held) noexcept;
  void begin_trial() noexcept;
  void begin_window(std::size_t limit) noexcept;
  void end_window() noexcept;
  void end_trial() noexcept;
  void refuse() noexcept;

  std::size_t depth_ = kLogWritesInFlightFirst;  // the best one known
  std::size_t tried_depth_ = kLogWritesInFlightFirst;
  std::size_t limit_ = kLogWritesInFlightFirst;  // one of these two
  bool goes_up_ = true;
  bool is_held_ = false;  // since the last end
  Phase phase_ = Phase::kRest;
  Window window_;

  // While it rests: windows in which groups waited, and the number of them before the next trial.
  std::uint64_t held_windows_ = 0;
  std::uint64_t held_windows_wanted_ = kRestMin;

  // In a trial.
  std::uint64_t ends_to_skip_ = 0;  // of writes that began at the other depth
  std::optional<Time> busy_since_;
  Window present_;               // the last whole window at the present depth
  std::optional<Window> tried_;  // the last whole window at the tried depth
  std::uint64_t wins_ = 0;
};

}  // namespace varve::engine
