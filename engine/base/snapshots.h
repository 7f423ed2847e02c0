// Owns: which versions somebody is still reading at.
// Must never: let the oldest of them be forgotten while it is held.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "format/keys/internal_key.h"
#include "io/posix/posix_process.h"
#include "io/scheduler.h"

namespace varve::engine {

using format::CommitVersion;

class Snapshots;

/// Keeps one version readable; lets go when destroyed, on any thread. One thread at a time. The Snapshots it came from
/// outlives it.
class Snapshot {
 public:
  Snapshot() noexcept = default;
  Snapshot(Snapshot&& other) noexcept;
  Snapshot& operator=(Snapshot&& other) noexcept;
  ~Snapshot() { release(); }
  /// Zero when it holds none.
  CommitVersion version() const noexcept { return version_; }
  void release() noexcept;

 private:
  friend class Snapshots;
  Snapshots* snapshots_ = nullptr;
  CommitVersion version_ = 0;
};

/// Any thread.
class Snapshots {
 public:
  explicit Snapshots(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}
  ~Snapshots();  // none is held

  /// That the version is readable now, and stays so until it is taken, is the caller's to know.
  Snapshot take(CommitVersion version);
  /// Takes the version that is visible now, as `visible()` tells it. In one step with horizon(): what a horizon leaves
  /// out is never taken afterwards.
  template <typename Visible>
  Snapshot take_visible(const Visible& visible) {
    const io::MutexGuard guard(mutex_);
    return take_locked(visible());
  }
  /// The versions that somebody may read from now on, but for those above what is visible now: each version held, and
  /// what is visible now, rising, each once.
  template <typename Visible>
  std::vector<CommitVersion> horizon(const Visible& visible) const {
    const io::MutexGuard guard(mutex_);
    return horizon_locked(visible());
  }
  /// The lowest version held; empty when none is.
  std::optional<CommitVersion> oldest() const noexcept;
  /// Snapshots held, those at the same version counted each.
  std::size_t count() const noexcept;

 private:
  friend class Snapshot;
  Snapshot take_locked(CommitVersion version) VARVE_REQUIRES(mutex_);
  std::vector<CommitVersion> horizon_locked(CommitVersion visible) const VARVE_REQUIRES(mutex_);
  void release(CommitVersion version) noexcept;

  const io::OwnerProcess owner_ = io::OwnerProcess::current();  // In a fork of it nothing is released.
  mutable io::Mutex mutex_;
  std::map<CommitVersion, std::size_t> held_ VARVE_GUARDED_BY(mutex_);  // how many at each version, never zero
  std::size_t count_ VARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace varve::engine
