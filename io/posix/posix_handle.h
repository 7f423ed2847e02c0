// Owns: the check that every writing handle makes first: this process made the handle, and the handle has not failed
// before.
// Must never: forget a failure. After a failed sync, the kernel may hold pages that are neither on the device nor
// marked dirty. The next sync would then succeed without having written them.
#pragma once

#include <atomic>
#include <cstdint>
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
      return first_failure(call);
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

  /// Refuses every later call with kClosed, unless an earlier failure is kept: the file was cut, and takes no more writes.
  /// Allocates nothing.
  void cut_at(std::uint64_t size_bytes) noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    cut_bytes_ = size_bytes;
    failed_.store(true, std::memory_order_release);
  }

  /// Returns the error of a writing call in a fork.
  static Status refuse_fork(std::string_view call, std::string_view path) noexcept {
    return call_error(Code::kLocked, {call, path},
                      {"this process is a fork of the one that opened it; open the store again in this process"});
  }

 private:
  Status first_failure(std::string_view call) const noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!failure_.ok()) return failure_;
    return call_error(Code::kClosed, {call, path_}, {"the segment was cut at ", std::to_string(cut_bytes_), " bytes"});
  }

  const std::string path_;
  const OwnerProcess owner_;
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  Status failure_;
  std::uint64_t cut_bytes_ = 0;  // if failed_ and failure_ is Ok
};

}  // namespace varve::io
