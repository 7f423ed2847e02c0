// Owns: the waiting of commits that come faster than compaction works (pacing.h has the curve).
// Must never: be called by who holds a lock, or make anybody wait after stop().
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

/// Any thread.
class Pacer {
 public:
  /// Both outlive the pacer.
  Pacer(io::Scheduler& scheduler, WriteShare& share) noexcept;

  /// The tables are these now.
  void look_at(const Levels& levels) noexcept;

  /// Waits as long as a commit of so many bytes must. Waits too short to be slept are added up, over all threads, and
  /// slept by the commit that completes a fair one.
  void pace(std::uint64_t commit_bytes) noexcept;
  /// Whether commits have to wait at all now.
  bool is_pacing() const noexcept;

  /// Nobody waits from now on.
  void stop() noexcept;

  /// What compaction was behind when the tables were last looked at.
  std::uint64_t debt_bytes() const noexcept { return debt_bytes_.load(std::memory_order_relaxed); }
  /// What commits have waited so far, all together.
  std::chrono::nanoseconds waited() const noexcept {
    return std::chrono::nanoseconds(waited_nanoseconds_.load(std::memory_order_relaxed));
  }

 private:
  std::chrono::nanoseconds delay_of(std::uint64_t commit_bytes) const noexcept;
  void wait_out(std::chrono::nanoseconds duration) noexcept;

  WriteShare& share_;
  const PacingLimits limits_;
  const TreeShape shape_;
  std::atomic<std::uint64_t> level0_file_count_{0};
  std::atomic<std::uint64_t> debt_bytes_{0};
  std::atomic<std::int64_t> owed_nanoseconds_{0};
  std::atomic<std::int64_t> waited_nanoseconds_{0};

  io::Mutex mutex_;
  io::Condition stopped_;
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
};

}  // namespace varve::engine
