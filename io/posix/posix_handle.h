// Owns: the check that every writing handle makes first: this process made the handle, and the handle has not failed
// before.
// Must never: forget a failure. After a failed sync, the kernel may hold pages that are neither on the device nor
// marked dirty. The next sync would then succeed without having written them.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "io/os_error.h"
#include "io/posix/posix_process.h"
#include "varve/status.h"

namespace varve::io {

/// Any thread may use it. Nothing is allocated until an operation fails.
class HandleGuard {
 public:
  HandleGuard(std::string path, OwnerProcess owner) noexcept : path_(std::move(path)), owner_(owner) {}

  const std::string& path() const noexcept { return path_; }
  bool owned_by_this_process() const noexcept { return owner_.is_this_process(); }

  /// Returns whether check() would return Ok.
  bool is_usable() const noexcept { return owner_.is_this_process() && !failed_.load(std::memory_order_acquire); }

  /// Returns Ok, or the failure kept by fail(). In a fork of the owner, returns kLocked, which is not kept.
  Status check(std::string_view call) const noexcept {
    if (!owner_.is_this_process()) [[unlikely]]
      return refuse_fork(call, path_);
    if (failed_.load(std::memory_order_acquire)) [[unlikely]]
      return first_failure();
    return Status();
  }

  /// Keeps `failure` as the result of every later check(), unless an earlier failure is kept. Returns the kept failure.
  Status fail(const Status& failure) noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (failure_.ok()) {
      failure_ = failure;
      failed_.store(true, std::memory_order_release);
    }
    return failure_;
  }

  /// Returns the error of a writing call in a fork.
  static Status refuse_fork(std::string_view call, std::string_view path) noexcept {
    return call_error(Code::kLocked, {call, path},
                      {"this process is a fork of the one that opened it; open the store again in this process"});
  }

 private:
  Status first_failure() const noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    return failure_;
  }

  const std::string path_;
  const OwnerProcess owner_;
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  Status failure_;  // Guarded by mutex_; not Ok exactly if failed_.
};

}  // namespace varve::io
