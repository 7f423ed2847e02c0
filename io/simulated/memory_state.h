// Owns: the common state of all handles of one in-memory file system: the disk under its lock, the observer, and the
// frame around every step.
// Must never: hold the lock while it calls an observer or lets another thread run.
//
// Lock order: first the mutex of the locks, then the disk's mutex, a plain one that is held only briefly. Longer waits
// (for a lock, or for the end of a fill) go through the scheduler.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "io/aligned_buffer.h"
#include "io/posix/posix_process.h"
#include "io/scheduler.h"
#include "io/simulated/fault_plan.h"
#include "io/simulated/memory_disk.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/memory_lock.h"

namespace varve::io {

/// Marks a thread as inside a function of the file system: inside_memory_file_system() is then true.
class DeviceScope {
 public:
  DeviceScope() noexcept { ++depth; }
  ~DeviceScope() { --depth; }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  static bool is_active() noexcept { return depth > 0; }

 private:
  static thread_local int depth;
};

/// Memory that a process has mapped, for a file of shared memory.
class SharedPages {
 public:
  explicit SharedPages(AlignedBuffer memory) noexcept : memory_(std::move(memory)) {}

  std::span<std::byte> bytes() noexcept { return memory_.bytes(); }
  /// Returns a copy as the kernel would write it back: each word as it is at some moment, whichever thread writes
  /// meanwhile. Pages that equal those in `earlier` are shared with it.
  MemoryContent capture(const MemoryContent& earlier) const;

 private:
  AlignedBuffer memory_;
};

/// A Directory, as far as the handles made with it need it.
struct MemorySession {
  MemorySession(std::string_view path_as_given, std::string normal)
      : path(path_as_given), directory(std::move(normal)) {}

  /// Returns the whole path of a file, for messages.
  std::string path_of(std::string_view name) const;
  /// Errors: kFenced, kLocked (in a fork).
  Status check_writable(std::string_view call, std::string_view name) const;

  const std::string path;       // as given at open
  const std::string directory;  // normal path: its key on the disk
  const OwnerProcess owner = OwnerProcess::current();
  std::atomic<bool> is_fenced{false};  // set under the disk's lock
};

/// Steps that do not end until let_go() is called.
class StuckSteps {
 public:
  explicit StuckSteps(Scheduler& scheduler) noexcept : mutex_(scheduler), changed_(scheduler) {}

  /// Blocks the calling step.
  void stay() noexcept;
  void await(std::size_t count) noexcept;
  std::size_t count() noexcept;
  void let_go() noexcept;

 private:
  Mutex mutex_;
  Condition changed_;
  std::size_t count_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t let_go_ VARVE_GUARDED_BY(mutex_) = 0;  // number of calls of let_go()
};

class MemoryState {
 public:
  /// A null scheduler means the operating system's.
  MemoryState(Scheduler* scheduler, MemoryDisk disk);

  Scheduler& scheduler() noexcept { return *scheduler_; }
  FaultPlan& faults() noexcept { return faults_; }
  MemoryLocks& locks() noexcept { return locks_; }
  StuckSteps& stuck() noexcept { return stuck_; }
  std::uint64_t operation_count() const noexcept { return operation_count_.load(std::memory_order_relaxed); }

  /// Calls `use` with the disk's state, under its lock.
  template <typename Use>
  auto with_disk(Use use) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return use(disk_.state());
  }

  MemoryDisk snapshot();
  void change(const std::function<void(MemoryDisk&)>& change);
  void keep_no_samples() noexcept { keeps_samples_.store(false, std::memory_order_relaxed); }
  void keep_object_rules() noexcept { has_object_rules_.store(true, std::memory_order_relaxed); }
  bool has_object_rules() const noexcept { return has_object_rules_.load(std::memory_order_relaxed); }
  void set_observer(Observer observer);
  void set_capacity_bytes(std::uint64_t bytes);
  std::uint64_t used_bytes();

  /// Returns whether `file` may grow to `size_bytes`. Called under the lock.
  bool has_room(const MemoryDisk::State& state, const FileState& file, std::uint64_t size_bytes) const;

  /// Returns an error that a sync kept back, once, or Ok if there is none. `what` is the path of a file or a directory.
  /// Called under the lock.
  Status take_late_error(const std::string& what);
  void keep_late_error(const std::string& what, Status error);

 private:
  friend class Step;

  std::shared_ptr<const Observer> observer();
  void sample_shared_memory();

  Scheduler own_scheduler_;
  Scheduler* const scheduler_;
  FaultPlan faults_;
  MemoryLocks locks_;
  StuckSteps stuck_;
  std::atomic<std::uint64_t> operation_count_{0};
  std::atomic<bool> keeps_samples_{true};
  std::atomic<bool> has_object_rules_{false};

  mutable std::mutex mutex_;  // guards the members below
  MemoryDisk disk_;
  std::uint64_t capacity_bytes_ = MemoryFileSystem::kUnlimited;
  std::map<std::string, Status> late_errors_;
  std::shared_ptr<const Observer> observer_;
};

/// The frame around one step: it lets other threads run, calls the observer, counts the step, and finds its fault.
class Step {
 public:
  Step(MemoryState& state, const Operation& operation);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  const std::optional<Fault>& fault() const noexcept { return fault_; }
  /// Marks the step as in flight. Called without the lock.
  void during();

 private:
  void tell_observer(Moment moment);

  MemoryState& state_;
  Operation operation_;
  std::shared_ptr<const Observer> observer_;
  std::optional<Fault> fault_;
  bool is_stuck_ = false;
};

/// Keeps a file until destroyed, even if the file loses its name.
class FileHold {
 public:
  FileHold() noexcept = default;
  /// The caller has already counted the handle.
  FileHold(std::shared_ptr<MemoryState> state, FileId id) noexcept : state_(std::move(state)), id_(id) {}
  FileHold(FileHold&& other) noexcept = default;
  FileHold& operator=(FileHold&& other) = delete;
  ~FileHold();

  FileId id() const noexcept { return id_; }
  MemoryState& state() const noexcept { return *state_; }
  FileState& file(MemoryDisk::State& state) const { return state.files.at(id_); }

 private:
  std::shared_ptr<MemoryState> state_;
  FileId id_ = 0;
};

/// Returns the space that a file uses on the device, in bytes, in whole pages.
std::uint64_t space_taken(std::uint64_t size_bytes) noexcept;

}  // namespace varve::io
