// Owns: what the monitors said last of the pool, asked in the background.
// Must never: keep a caller waiting for the monitors, or touch an object.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "io/posix/posix_process.h"
#include "io/rados/rados_process.h"
#include "io/rados/watched_door.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::io {

/// Any thread may use it.
class PoolWatch {
 public:
  static constexpr std::chrono::seconds kEvery{5};

  /// The referenced objects must outlive this one.
  PoolWatch(WatchedDoor& door, RadosProcess& process, Scheduler& scheduler)
      : door_(door), process_(process), scheduler_(scheduler), mutex_(scheduler), ending_(scheduler) {}
  /// Waits for the present question.
  ~PoolWatch();
  PoolWatch(const PoolWatch&) = delete;
  PoolWatch& operator=(const PoolWatch&) = delete;

  /// Asks from now on, every kEvery. Later calls change nothing. Errors: kOutOfMemory.
  Status start();
  /// Asks about the object that waits longest, or about the lease. The background does it.
  void look();
  /// Returns the last answer. It is empty before the first one, and after a question that was not answered.
  std::optional<PoolLook> seen() const;

 private:
  void run() noexcept;

  WatchedDoor& door_;
  RadosProcess& process_;
  Scheduler& scheduler_;
  const OwnerProcess owner_ = OwnerProcess::current();
  mutable Mutex mutex_;
  Condition ending_;
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::optional<PoolLook> seen_ VARVE_GUARDED_BY(mutex_);
  std::unique_ptr<Thread> thread_;  // set once, by start()
};

}  // namespace varve::io
