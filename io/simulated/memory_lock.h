// Owns: who holds the lock of which directory of an in-memory file system.
// Must never: outlive the machine: an image of the disk carries no locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "io/file.h"
#include "io/file_system.h"
#include "io/scheduler.h"

namespace varve::io {

class MemoryState;
struct MemorySession;

/// Any thread.
class MemoryLocks {
 public:
  explicit MemoryLocks(Scheduler& scheduler) noexcept : mutex_(scheduler), released_(scheduler) {}

  /// `state` owns this object. Errors: kLocked.
  Result<std::unique_ptr<DirectoryLock>> acquire(std::shared_ptr<MemoryState> state,
                                                 std::shared_ptr<MemorySession> session, std::string_view name,
                                                 LockMode mode, std::chrono::milliseconds wait_max);
  /// Takes the exclusive locks away and calls `fence` for each owner, before anybody else can lock.
  void revoke(const std::function<void(MemorySession&)>& fence);

  struct Holder {
    std::shared_ptr<MemorySession> session;
    std::string path;
    LockMode mode;
  };
  void release(const Holder& holder) noexcept;

 private:
  bool is_free_for(const std::string& directory, LockMode mode) const VARVE_REQUIRES(mutex_);

  Mutex mutex_;
  Condition released_;
  std::set<const Holder*> holders_ VARVE_GUARDED_BY(mutex_);  // counted and compared, its order means nothing
};

}  // namespace varve::io
