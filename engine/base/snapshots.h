// Owns: the versions at which readers still read.
// Must never: forget the oldest version while it is held.
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
  void release() noexcept;

 private:
  friend class Snapshots;
  Snapshots* snapshots_ = nullptr;
  CommitVersion version_ = 0;
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
    const io::MutexGuard guard(mutex_);
    return take_locked(visible());
  }
  /// Returns the versions that may be read from now on, except those above the visible version: each held version and
  /// the visible version, rising, each once.
  template <typename Visible>
  std::vector<CommitVersion> horizon(const Visible& visible) const {
    const io::MutexGuard guard(mutex_);
    return horizon_locked(visible());
  }
  /// Returns the number of held snapshots. Snapshots at equal versions count separately.
  std::size_t count() const noexcept;

 private:
  friend class HeldVersion;
  HeldVersion take_locked(CommitVersion version) VARVE_REQUIRES(mutex_);
  std::vector<CommitVersion> horizon_locked(CommitVersion visible) const VARVE_REQUIRES(mutex_);
  void release(CommitVersion version) noexcept;

  const io::OwnerProcess owner_ = io::OwnerProcess::current();  // A fork of this process releases nothing.
  mutable io::Mutex mutex_;
  std::map<CommitVersion, std::size_t> held_ VARVE_GUARDED_BY(mutex_);  // count at each version, never zero
  std::size_t count_ VARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace varve::engine
