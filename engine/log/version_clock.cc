// Owns: reading the clocks for the next version (version_clock.h).
// Must never: trust the wall clock alone.
#include "engine/log/version_clock.h"

#include <algorithm>
#include <cassert>

namespace varve::engine {

VersionClock::VersionClock(io::Clock& clock, CommitVersion floor) noexcept
    : clock_(clock),
      wall_at_open_(clock.wall()),
      monotonic_at_open_(clock.monotonic()),
      last_(floor),
      followed_to_(wall_at_open_ + kJumpTicksMax) {}

io::Ticks VersionClock::now() noexcept {
  const io::Ticks wall = clock_.wall();
  if (wall <= followed_to_.load(std::memory_order_relaxed)) [[likely]]
    return wall;
  const auto elapsed_ns = static_cast<std::uint64_t>((clock_.monotonic() - monotonic_at_open_).count());
  const io::Ticks expected = wall_at_open_ + elapsed_ns / 100;
  followed_to_.store(expected + kJumpTicksMax, std::memory_order_relaxed);
  if (wall <= expected + kJumpTicksMax) return wall;
  jump_ignored_.store(true, std::memory_order_relaxed);
  return expected;
}

CommitVersion VersionClock::take(std::uint64_t count) noexcept {
  assert(count > 0);
  const CommitVersion wall = now();
  CommitVersion last = last_.load(std::memory_order_relaxed);
  for (;;) {
    const CommitVersion first = std::max<CommitVersion>(wall, last + 1);
    assert(first > last && first + count - 1 <= format::kCommitVersionMax);
    if (last_.compare_exchange_weak(last, first + count - 1, std::memory_order_relaxed)) return first;
  }
}

CommitVersion VersionClock::time() noexcept {
  return std::max<CommitVersion>(now(), last());
}

void VersionClock::pass(CommitVersion end) noexcept {
  CommitVersion last = last_.load(std::memory_order_relaxed);
  while (last < end && !last_.compare_exchange_weak(last, end, std::memory_order_relaxed)) {
  }
}

}  // namespace varve::engine
