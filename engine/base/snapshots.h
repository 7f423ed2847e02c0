// Owns: the versions at which readers still read, and their times.
// Must never: forget the oldest version, or the earliest time, while it is held.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "format/keys/internal_key.h"
#include "io/posix/posix_process.h"
#include "io/scheduler.h"

namespace varve::engine {

using format::CommitVersion;

class Snapshots;

/// Keeps one version readable until destroyed, on any thread. One thread at a time may use it. The Snapshots object
/// must outlive it.
class HeldVersion {
 public:
  HeldVersion() noexcept = default;
  HeldVersion(HeldVersion&& other) noexcept;
  HeldVersion& operator=(HeldVersion&& other) noexcept;
  ~HeldVersion() { release(); }
  /// Returns zero if it holds no version.
  CommitVersion version() const noexcept { return version_; }
  /// Returns the time at which its readers judge the ends of entities. Zero if no entity that they see has an end.
  CommitVersion time() const noexcept { return time_; }
  void release() noexcept;

 private:
  friend class Snapshots;
  Snapshots* snapshots_ = nullptr;
  CommitVersion version_ = 0;
  CommitVersion time_ = 0;
};

/// The held versions. Any thread may use it.
class Snapshots {
 public:
  explicit Snapshots(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}
  ~Snapshots();  // no snapshot may be held

  /// Takes the visible version, as returned by `visible()`. It excludes horizon(): a version that a horizon omits is
  /// never taken afterwards.
  template <typename Visible>
  HeldVersion take_visible(const Visible& visible) {
    return take_visible(visible, [] { return CommitVersion{0}; });
  }
  /// Takes the visible version with the time that `ask_time()` returns, which is asked after `visible()`.
  template <typename Visible, typename Time>
  HeldVersion take_visible(const Visible& visible, const Time& ask_time) {
    const io::MutexGuard guard(mutex_);
    const CommitVersion version = visible();
    return take_locked(version, ask_time());
  }
  /// Returns the versions that may be read from now on, except those above the visible version: each held version and
  /// the visible version, rising, each once.
  template <typename Visible>
  std::vector<CommitVersion> horizon(const Visible& visible) const {
    const io::MutexGuard guard(mutex_);
    return horizon_locked(visible());
  }
  /// Returns the earliest held time, or the time that `now()` returns if that is earlier. Later snapshots must have times
  /// at or above that of `now()`.
  template <typename Now>
  CommitVersion ended_for_all(const Now& now) const {
    const io::MutexGuard guard(mutex_);
    return earliest_time_locked(now());
  }
  /// Returns the number of held snapshots. Snapshots at equal versions count separately.
  std::size_t count() const noexcept;

 private:
  friend class HeldVersion;
  HeldVersion take_locked(CommitVersion version, CommitVersion time) VARVE_REQUIRES(mutex_);
  CommitVersion earliest_time_locked(CommitVersion now) const noexcept VARVE_REQUIRES(mutex_);
  std::vector<CommitVersion> horizon_locked(CommitVersion visible) const VARVE_REQUIRES(mutex_);
  void release(CommitVersion version, CommitVersion time) noexcept;

  const io::OwnerProcess owner_ = io::OwnerProcess::current();  // A fork of this process releases nothing.
  mutable io::Mutex mutex_;
  std::map<CommitVersion, std::size_t> held_ VARVE_GUARDED_BY(mutex_);   // count at each version, never zero
  std::map<CommitVersion, std::size_t> times_ VARVE_GUARDED_BY(mutex_);  // count at each time that is not zero
  std::size_t count_ VARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace varve::engine
