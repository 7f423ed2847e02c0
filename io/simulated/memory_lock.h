// Owns: the holders of the directories' locks in an in-memory file system.
// Must never: outlive the machine. An image of the disk contains no locks.
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

/// Any thread may use it.
class MemoryLocks {
 public:
  explicit MemoryLocks(Scheduler& scheduler) noexcept : mutex_(scheduler), released_(scheduler) {}

  /// `state` owns this object. Errors: kLocked.
  Result<std::unique_ptr<DirectoryLock>> acquire(std::shared_ptr<MemoryState> state,
                                                 std::shared_ptr<MemorySession> session, std::string_view name,
                                                 LockMode mode, std::chrono::milliseconds wait_max);
  /// Takes the exclusive locks away and calls `fence` for each owner, before another owner can lock.
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
  std::set<const Holder*> holders_ VARVE_GUARDED_BY(mutex_);  // only counted and compared; its order has no meaning
};

}  // namespace varve::io
