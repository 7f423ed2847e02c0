// Owns: waiting for a lock, holding it, and losing it.
// Must never: return an epoch twice.

#include "io/simulated/memory_lock.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "io/os_error.h"
#include "io/simulated/memory_state.h"

namespace varve::io {

namespace {

constexpr std::chrono::milliseconds kLockWaitMax = std::chrono::hours(24);  // Keeps the deadline far from overflow.

class MemoryDirectoryLock final : public DirectoryLock {
 public:
  MemoryDirectoryLock(std::shared_ptr<MemoryState> state, MemoryLocks::Holder holder) noexcept
      : state_(std::move(state)), holder_(std::move(holder)) {}
  // A fork has a copy of the memory that records the holders, so it cannot release its parent's lock.
  ~MemoryDirectoryLock() override { state_->locks().release(holder_); }

  std::uint64_t epoch() const noexcept override { return epoch_; }
  Status check() const noexcept override {
    const DeviceScope device;
    if (holder_.mode == LockMode::kShared) return Status();
    return holder_.session->check_writable("write under", lock_name());
  }

  MemoryLocks::Holder& holder() noexcept { return holder_; }
  void set_epoch(std::uint64_t epoch) noexcept { epoch_ = epoch; }

 private:
  std::string_view lock_name() const noexcept {
    const std::string_view path = holder_.path;
    return path.substr(path.rfind('/') + 1);
  }

  const std::shared_ptr<MemoryState> state_;
  MemoryLocks::Holder holder_;
  std::uint64_t epoch_ = 0;
};

}  // namespace

bool MemoryLocks::is_free_for(const std::string& directory, LockMode mode) const {
  return std::none_of(holders_.begin(), holders_.end(), [&](const Holder* holder) {
    return holder->session->directory == directory &&
           (mode == LockMode::kExclusive || holder->mode == LockMode::kExclusive);
  });
}

Result<std::unique_ptr<DirectoryLock>> MemoryLocks::acquire(std::shared_ptr<MemoryState> state,
                                                            std::shared_ptr<MemorySession> session,
                                                            std::string_view name, LockMode mode,
                                                            std::chrono::milliseconds wait_max) {
  const std::string path = session->directory + "/" + std::string(name);
  const std::string directory = session->directory;
  const std::string path_as_given = session->path_of(name);
  auto lock = std::make_unique<MemoryDirectoryLock>(state, Holder{std::move(session), path, mode});

  wait_max = std::min(wait_max, kLockWaitMax);
  const MutexGuard guard(mutex_);
  while (!is_free_for(directory, mode)) {
    // Each release of any lock restarts the wait. The holder in question releases once.
    if (released_.wait_for(mutex_, wait_max) || is_free_for(directory, mode)) continue;
    return call_error(Code::kLocked, {"lock", path_as_given},
                      {"another process, or another handle in this process, has it open"});
  }
  holders_.insert(&lock->holder());
  if (mode == LockMode::kExclusive) {
    lock->set_epoch(state->with_disk([](MemoryDisk::State& disk) { return ++disk.last_epoch; }));
  }
  return std::unique_ptr<DirectoryLock>(std::move(lock));
}

void MemoryLocks::release(const Holder& holder) noexcept {
  const DeviceScope device;
  const MutexGuard guard(mutex_);
  if (holders_.erase(&holder) != 0) released_.notify_all();
}

void MemoryLocks::revoke(const std::function<void(MemorySession&)>& fence) {
  const MutexGuard guard(mutex_);
  std::erase_if(holders_, [&](const Holder* holder) {
    if (holder->mode != LockMode::kExclusive) return false;
    fence(*holder->session);
    return true;
  });
  released_.notify_all();
}

}  // namespace varve::io
