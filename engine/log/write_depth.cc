// Owns: the windows of a trial, and the decision after each (write_depth.h).
// Must never: compare windows that are not neighbours.
#include "engine/log/write_depth.h"

#include <algorithm>
#include <utility>

namespace varve::engine {

namespace {

/// A window has at least this many ends, so that a slow write does not decide it.
constexpr std::uint64_t kWindowEnds = 64;
/// A window of a trial takes at least this long, so that a pause of the device or of a thread does not decide it.
constexpr WriteDepth::Time kWindowTime = std::chrono::milliseconds(20);
/// Number of windows at the tried depth that must be faster than both neighbours.
constexpr std::uint64_t kWinsWanted = 4;
/// The least gain: a sixteenth.
constexpr double kGain = 1.0 + 1.0 / 16;
/// Most windows between two trials: half a million ends. A trial that gains nothing has two windows.
constexpr std::uint64_t kRestMax = 8'192;

}  // namespace

void WriteDepth::note_end(std::uint64_t bytes, bool has_more, Time now) noexcept {
  const bool was_held = std::exchange(is_held_, false);
  if (phase_ == Phase::kRest) return rest(was_held);
  const std::optional<Time> since = std::exchange(busy_since_, has_more ? std::optional<Time>(now) : std::nullopt);
  if (!since) return;  // The device was idle before these writes began.
  if (ends_to_skip_ > 0) {
    --ends_to_skip_;
    return;
  }
  ++window_.ends;
  if (was_held) ++window_.held_ends;
  window_.bytes += bytes;
  window_.busy += now - *since;
  if (window_.ends >= kWindowEnds && window_.busy >= kWindowTime) end_window();
}

void WriteDepth::rest(bool was_held) noexcept {
  ++window_.ends;
  if (was_held) ++window_.held_ends;
  if (window_.ends < kWindowEnds) return;
  if (window_.is_held()) ++held_windows_;
  window_ = Window();
  if (held_windows_ >= held_windows_wanted_) begin_trial();
}

void WriteDepth::begin_trial() noexcept {
  const std::size_t higher = std::min(2 * depth_, kLogWritesInFlightMax);
  const std::size_t lower = std::max(depth_ / 2, kLogWritesInFlightMin);
  if (goes_up_ ? higher == depth_ : lower == depth_) goes_up_ = !goes_up_;
  tried_depth_ = goes_up_ ? higher : lower;
  phase_ = Phase::kTrial;
  busy_since_.reset();
  tried_.reset();
  wins_ = 0;
  begin_window(depth_);
}

/// Begins a window. As many ends are skipped as writes may have begun at the other depth.
void WriteDepth::begin_window(std::size_t limit) noexcept {
  limit_ = limit;
  window_ = Window();
  ends_to_skip_ = std::max(depth_, tried_depth_);
}

bool WriteDepth::is_faster(const Window& tried, const Window& present) noexcept {
  return tried.speed() > present.speed() * kGain;
}

/// The windows of a trial are: present, tried, present, tried, and so on.
void WriteDepth::end_window() noexcept {
  if (limit_ == tried_depth_) {
    if (!is_faster(window_, present_)) return refuse();
    tried_ = window_;
    return begin_window(depth_);
  }
  if (!window_.is_held()) return end_trial();  // Too few commits come for a comparison.
  if (tried_) {
    if (!is_faster(*tried_, window_)) return refuse();
    if (++wins_ == kWinsWanted) {
      depth_ = tried_depth_;
      held_windows_wanted_ = kRestMin;
      return end_trial();
    }
  }
  present_ = window_;
  begin_window(tried_depth_);
}

/// Ends a trial without a gain. The next trial is of the other side.
void WriteDepth::refuse() noexcept {
  goes_up_ = !goes_up_;
  held_windows_wanted_ = std::min(2 * held_windows_wanted_, kRestMax);
  end_trial();
}

void WriteDepth::end_trial() noexcept {
  limit_ = depth_;
  tried_depth_ = depth_;
  phase_ = Phase::kRest;
  window_ = Window();
  held_windows_ = 0;
}

}  // namespace varve::engine
