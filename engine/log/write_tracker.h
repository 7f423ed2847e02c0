// Owns: the log writes in flight, and the position up to which the log is durable without a gap.
// Must never: call a position durable while any write below it is in flight or has failed.
//
// W1  writes begin in the order of their positions and may complete in any order.
// W2  durable() <= the end of every write that has not completed with success.
// W3  the mark moves only on the one path that completes a write, and only if the write succeeded.
//
// Positions count the log's bytes across segments, in this process only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "format/keys/internal_key.h"
#include "io/scheduler.h"

namespace varve::engine {

using format::CommitVersion;
using LogPosition = std::uint64_t;

/// Most device writes in flight, besides deferred ones. A store has fewer unless its device gains from more
/// (write_depth.h), because a crash may leave all of them in doubt.
inline constexpr std::size_t kLogWritesInFlightMax = 32;

class WriteTracker {
 public:
  WriteTracker(io::Scheduler& scheduler, LogPosition durable, CommitVersion durable_ceiling) noexcept;

  /// Records that a write of bytes that end at `end` is about to be submitted. When it is durable, so is `ceiling`.
  void begin(LogPosition end, CommitVersion ceiling) noexcept;
  /// Records that the write that ends at `end` is durable, or has failed. After a failure, the mark never passes it.
  void complete(LogPosition end, bool success) noexcept;

  LogPosition durable() const noexcept { return durable_.load(std::memory_order_acquire); }
  /// Returns the ceiling: versions at or below it need not wait for a ceiling.
  CommitVersion durable_ceiling() const noexcept { return durable_ceiling_.load(std::memory_order_acquire); }
  /// Returns the number of writes from the oldest one that is not durable, including completed ones after it. A crash
  /// may leave them in doubt.
  std::size_t in_flight() const noexcept { return in_flight_.load(std::memory_order_acquire); }
  /// Returns the start of the first failed write. No position above it will ever be durable.
  std::optional<LogPosition> failed_above() const noexcept;

  void wait_until_idle() noexcept;
  /// Waits until a write ends. Returns false at once if none is in flight. Only the thread that begins writes calls it.
  bool wait_for_end() noexcept;
  /// Moves the log to another place (a new segment). No write may be in flight, and none may have failed.
  void move_to(LogPosition position) noexcept;

 private:
  struct Write {
    LogPosition end = 0;
    CommitVersion ceiling = 0;
    bool completed = false;
    bool failed = false;
  };
  // A leader may have two writes (a closed buffer slot and its own record), and a thread becomes leader only below the
  // limit, to which the few deferred writes do not count.
  static constexpr std::size_t kWritesMax = 2 * kLogWritesInFlightMax;

  void advance() VARVE_REQUIRES(mutex_);

  mutable io::Mutex mutex_;
  io::Condition ended_;
  std::array<Write, kWritesMax> writes_ VARVE_GUARDED_BY(mutex_);  // a ring in order of position
  std::size_t first_ VARVE_GUARDED_BY(mutex_) = 0;
  std::size_t count_ VARVE_GUARDED_BY(mutex_) = 0;
  std::size_t running_ VARVE_GUARDED_BY(mutex_) = 0;
  bool failed_ VARVE_GUARDED_BY(mutex_) = false;
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<LogPosition> durable_;
  std::atomic<CommitVersion> durable_ceiling_;
};

}  // namespace varve::engine
