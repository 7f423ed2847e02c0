// Owns: what every handle that writes must ask first: is this the process that made it, and has it failed before.
// Must never: forget a failure. After a failed sync the kernel may hold pages that are neither on the device nor marked
// dirty, and the next sync would then succeed without having written them.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "api/status.h"
#include "io/os_error.h"
#include "io/posix_process.h"

namespace varve::io {

/// Any thread. Nothing here allocates until something fails.
class HandleGuard {
 public:
  HandleGuard(std::string path, OwnerProcess owner) noexcept : path_(std::move(path)), owner_(owner) {}

  const std::string& path() const noexcept { return path_; }
  bool owned_by_this_process() const noexcept { return owner_.is_this_process(); }

  /// Whether check() would be Ok.
  bool is_usable() const noexcept { return owner_.is_this_process() && !failed_.load(std::memory_order_acquire); }

  /// Ok; kLocked in a fork of the owner, which changes nothing; or the failure kept by `fail`.
  Status check(std::string_view call) const noexcept {
    if (!owner_.is_this_process()) [[unlikely]]
      return refuse_fork(call, path_);
    if (failed_.load(std::memory_order_acquire)) [[unlikely]]
      return first_failure();
    return Status();
  }

  /// Keeps `failure` as the answer of every later check, unless there is one already. Returns the one kept.
  Status fail(const Status& failure) noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (failure_.ok()) {
      failure_ = failure;
      failed_.store(true, std::memory_order_release);
    }
    return failure_;
  }

  /// What a writing call in a fork answers.
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
  Status failure_;  // Behind mutex_; not Ok exactly when failed_.
};

}  // namespace varve::io
