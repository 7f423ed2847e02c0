// Owns: the snapshots that readers of contents keep, and the release of those that no read has used for long (BX-11).
// Must never: release a snapshot while a read uses it.
#pragma once

#include <atomic>
#include <chrono>
#include <unordered_set>

#include "io/env.h"
#include "io/posix/posix_process.h"
#include "varve/result.h"
#include "varve/snapshot.h"

namespace varve {

class ReaderPin;

/// Any thread.
class ReaderPins {
 public:
  /// Clock and scheduler outlive it. `idle_max` is StoreOptions::reader_idle_max.
  ReaderPins(const io::Env& env, std::chrono::milliseconds idle_max)
      : clock_(env.clock), idle_max_(idle_max), mutex_(env.scheduler) {}

  /// Releases each snapshot that no read has used for the longest allowed time.
  void release_idle() noexcept;

 private:
  friend class ReaderPin;
  void enter(ReaderPin& pin);
  void leave(ReaderPin& pin) noexcept;

  io::Clock& clock_;
  const std::chrono::milliseconds idle_max_;
  const io::OwnerProcess owner_ = io::OwnerProcess::current();  // A fork of this process releases nothing.
  io::Mutex mutex_;
  std::unordered_set<ReaderPin*> held_ VARVE_GUARDED_BY(mutex_);  // those with a snapshot
};

/// The snapshot of one reader. Any thread may read.
class ReaderPin {
 public:
  /// The board outlives the pin.
  ReaderPin(ReaderPins& board, Snapshot snapshot);
  ~ReaderPin();
  ReaderPin(const ReaderPin&) = delete;
  ReaderPin& operator=(const ReaderPin&) = delete;

  /// One read. The snapshot stays as long as the object exists.
  class Use {
   public:
    explicit Use(ReaderPin& pin) noexcept : pin_(pin), begun_(pin.begin()) {}
    ~Use() {
      if (begun_) pin_.end();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    /// Returns the snapshot. Errors: kClosed (no read has used it for the longest allowed time).
    Result<Snapshot> snapshot() const;

   private:
    ReaderPin& pin_;
    const bool begun_;
  };

 private:
  friend class ReaderPins;
  static constexpr int kReleased = -1;

  bool begin() noexcept;
  void end() noexcept;
  bool is_idle(std::chrono::nanoseconds now) const noexcept;
  /// Returns true if the snapshot may be released, which no read can use afterwards.
  bool give_up(std::chrono::nanoseconds now) noexcept;

  ReaderPins& board_;
  Snapshot snapshot_;
  std::atomic<std::chrono::nanoseconds::rep> used_;  // when the last read ended, by the monotonic clock
  std::atomic<int> reads_{0};                        // that are running, or kReleased
};

}  // namespace varve
