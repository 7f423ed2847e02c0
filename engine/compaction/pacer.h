// Owns: the waits of commits that are faster than compaction (pacing.h defines the curve).
// Must never: be called by a thread that holds a lock, or let a commit wait after stop().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/compaction/pacing.h"
#include "engine/levels/levels.h"
#include "engine/levels/tree_shape.h"
#include "engine/memory/write_room.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Thread-safe.
class Pacer {
 public:
  /// `scheduler` and `share` outlive the pacer.
  Pacer(io::Scheduler& scheduler, WriteShare& share) noexcept;

  /// Updates the figures from the current levels.
  void look_at(const Levels& levels) noexcept;

  /// Waits as long as a commit of `commit_bytes` bytes must wait. Waits too short for a sleep are added up over all
  /// threads. The commit that completes a sufficient wait sleeps for all of it.
  void pace(std::uint64_t commit_bytes) noexcept;
  /// Returns whether commits must wait at all now.
  bool is_pacing() const noexcept;

  /// Ends all waits, and prevents later ones.
  void stop() noexcept;

  /// Returns the debt of compaction in bytes, as of the last look_at().
  std::uint64_t debt_bytes() const noexcept { return debt_bytes_.load(std::memory_order_relaxed); }
  /// Returns the total time that commits have waited so far.
  std::chrono::nanoseconds waited() const noexcept {
    return std::chrono::nanoseconds(waited_nanoseconds_.load(std::memory_order_relaxed));
  }

 private:
  std::chrono::nanoseconds delay_of(std::uint64_t commit_bytes) const noexcept;
  void wait_out(std::chrono::nanoseconds duration) noexcept;

  WriteShare& share_;
  const PacingLimits limits_;
  const TreeShape shape_ = tree_shape();
  std::atomic<std::uint64_t> level0_flush_count_{0};
  std::atomic<std::uint64_t> debt_bytes_{0};
  std::atomic<std::int64_t> owed_nanoseconds_{0};
  std::atomic<std::int64_t> waited_nanoseconds_{0};

  io::Mutex mutex_;
  io::Condition stopped_;
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
};

}  // namespace varve::engine
