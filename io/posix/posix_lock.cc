// Owns: trying to take the lock until it succeeds or the time is over.
// Must never: wait inside the kernel, where no time limit applies.
#include "io/posix/posix_lock.h"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/posix/posix_handle.h"
#include "io/posix/posix_transfer.h"
#include "io/probe.h"

namespace varve::io {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kPollInterval{2};
constexpr std::chrono::milliseconds kPosixLockWaitMax =
    std::chrono::hours(24);  // Keeps the deadline far from overflow.

// Returns an errno, or zero. It has its own loop, because EWOULDBLOCK is EAGAIN on Linux and retry_interrupted() would
// repeat the call.
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

constexpr std::string_view kFlock = "flock";

}  // namespace

Status HeldLock::take(int directory, LockMode mode, SteadyTime deadline) {
  const bool exclusive = mode == LockMode::kExclusive;
  if (Status taken = take_directory(directory, exclusive, deadline); !taken.ok()) return taken;
  for (;;) {
    if (Status taken = take_file(exclusive, deadline); !taken.ok()) return taken;
    // The file may have been removed or replaced before it was locked. Its lock then excludes no other owner.
    if (file_.get() < 0 || is_named()) return Status();
    if (std::chrono::steady_clock::now() >= deadline) return refused(exclusive);
  }
}

// Uses a separate descriptor: the lock of a shared descriptor would end when its other users close it.
Status HeldLock::take_directory(int directory, bool exclusive, SteadyTime deadline) {
  const std::string itself = ".";
  Result<Descriptor> opened = open_at({directory, itself, path_}, O_RDONLY | O_DIRECTORY);
  if (!opened.ok()) return opened.status();
  directory_ = *std::move(opened);
  const int error = lock_until(directory_.get(), exclusive ? LOCK_EX : LOCK_SH, deadline);
  if (error == EWOULDBLOCK) return refused(exclusive);
  directory_is_locked_ = error == 0;
  if (!directory_is_locked_) probe("a file system locked no directory");
  return Status();
}

Status HeldLock::take_file(bool exclusive, SteadyTime deadline) {
  const FileAt file{directory_.get(), name_, path_};
  if (!exclusive && directory_is_locked_ &&
      ::faccessat(file.directory, name_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
    return Status();
  }
  Result<OpenedFile> opened = open_regular(file, exclusive ? O_RDWR | O_CREAT : O_RDONLY);
  if (!opened.ok()) return opened.status();
  const int error = lock_until(opened->descriptor.get(), exclusive ? LOCK_EX : LOCK_SH, deadline);
  if (error == EWOULDBLOCK) return refused(exclusive);
  if (error != 0) return os_error(error, {kFlock, path_});
  file_ = std::move(opened->descriptor);
  return Status();
}

Status HeldLock::refused(bool exclusive) const {
  return call_error(Code::kLocked, {kFlock, path_},
                    {"another process, or another handle in this process, has it open", exclusive ? "" : " for writing",
                     "; close it there first"});
}

void HeldLock::release() noexcept {
  if (file_.get() >= 0) (void)try_lock(file_.get(), LOCK_UN);
  if (directory_is_locked_) (void)try_lock(directory_.get(), LOCK_UN);
}

bool HeldLock::is_named() const noexcept {
  struct stat open {};
  struct stat named {};
  return ::fstat(file_.get(), &open) == 0 &&
         ::fstatat(directory_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         FileIdentity::of(open) == FileIdentity::of(named);
}

Status HeldLock::confirm() {
  if (is_named()) return Status();
  probe("a lock file was taken away from its owner");
  const auto fenced = [this](std::string_view why) { return call_error(Code::kFenced, {kFlock, path_}, {why}); };
  if (!directory_is_locked_) return fenced("the lock file was removed or replaced; another owner may have the store");
  Result<OpenedFile> opened = open_regular({directory_.get(), name_, path_}, O_RDWR | O_CREAT);
  if (!opened.ok()) return Status();  // The directory's lock is enough.
  const int error = try_lock(opened->descriptor.get(), LOCK_EX);
  if (error == EWOULDBLOCK) return fenced("the lock file was replaced, and another owner has locked the new one");
  if (error == 0) file_ = std::move(opened->descriptor);
  return Status();
}

Result<std::unique_ptr<PosixDirectoryLock>> PosixDirectoryLock::take(const FileAt& file, LockMode mode,
                                                                     std::chrono::milliseconds wait_max,
                                                                     OwnerProcess owner) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + std::min(wait_max, kPosixLockWaitMax);
  auto held = std::make_shared<HeldLock>(file.name, file.path);
  auto lock = std::make_unique<PosixDirectoryLock>(held, owner);
  if (Status taken = held->take(file.directory, mode, deadline); !taken.ok()) return taken;
  return lock;
}

PosixDirectoryLock::~PosixDirectoryLock() {
  // A forked child shares the open files and therefore the locks. The owner's destructor must release the locks all the
  // same; the child's must not.
  if (owner_.is_this_process()) held_->release();
}

Status PosixDirectoryLock::check() const noexcept {
  return owner_.is_this_process() ? Status() : HandleGuard::refuse_fork("write under", held_->path());
}

}  // namespace varve::io
