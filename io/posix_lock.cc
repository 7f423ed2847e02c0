// Owns: asking for the lock until it is had or the time is over.
// Must never: wait inside the kernel, where no limit holds.
#include "io/posix_lock.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <sys/file.h>

#include "io/posix_handle.h"
#include "io/posix_transfer.h"
#include "io/probe.h"

namespace varve::io {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kPollInterval{2};
constexpr std::chrono::milliseconds kPosixLockWaitMax =
    std::chrono::hours(24);  // Keeps the deadline far from overflow.

// Returns an errno, or zero. EWOULDBLOCK is EAGAIN on Linux, so the common retry would spin on it.
int try_lock(int descriptor, int operation) noexcept {
  int result = -1;
  for (int tries = 0; tries < kInterruptionsMax; ++tries) {
    result = ::flock(descriptor, operation | LOCK_NB);
    if (result == 0 || errno != EINTR) break;
  }
  return result == 0 ? 0 : errno;
}

int lock_until(int descriptor, int operation, SteadyTime deadline) noexcept {
  int error = try_lock(descriptor, operation);
  if (error == EWOULDBLOCK) probe("a lock was waited for");
  while (error == EWOULDBLOCK) {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (now >= deadline) break;
    std::this_thread::sleep_for(std::min<SteadyTime::duration>(kPollInterval, deadline - now));
    error = try_lock(descriptor, operation);
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<DirectoryLock>> PosixDirectoryLock::take(const FileAt& file, LockMode mode,
                                                                std::chrono::milliseconds wait_max,
                                                                OwnerProcess owner) {
  const bool exclusive = mode == LockMode::kExclusive;
  const SteadyTime deadline = std::chrono::steady_clock::now() + std::min(wait_max, kPosixLockWaitMax);
  auto lock = std::make_unique<PosixDirectoryLock>(file.path, owner);
  Result<OpenedFile> opened = open_regular(file, exclusive ? O_RDWR | O_CREAT : O_RDONLY);
  if (!opened.ok()) return opened.status();

  const int error = lock_until(opened->descriptor.get(), exclusive ? LOCK_EX : LOCK_SH, deadline);
  if (error == EWOULDBLOCK) {
    return call_error(Code::kLocked, {"flock", file.path},
                      {"another process, or another handle of this one, has it open", exclusive ? "" : " for writing",
                       "; close that first"});
  }
  if (error != 0) return os_error(error, {"flock", file.path});
  lock->descriptor_ = std::move(opened->descriptor);
  return std::unique_ptr<DirectoryLock>(std::move(lock));
}

PosixDirectoryLock::~PosixDirectoryLock() {
  // A child forked meanwhile shares the open file and with it the lock. The owner's end must end the lock all the same;
  // the child's must not.
  if (owner_.is_this_process()) (void)try_lock(descriptor_.get(), LOCK_UN);
}

Status PosixDirectoryLock::check() const noexcept {
  return owner_.is_this_process() ? Status() : HandleGuard::refuse_fork("write under", path_);
}

}  // namespace varve::io
