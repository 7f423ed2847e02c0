// Owns: the lock on a directory, by flock.
// Must never: be let go by a fork that merely closes what it inherited, or outlive its owner in one.
//
// flock belongs to the open file, not to the process and not to a path: a second open of the same lock file, in this
// process or another, by whatever path, is refused.
//
// The owner locks the directory itself and then the lock file. The directory's lock holds if the lock file is removed
// or replaced. The lock file's lock holds against older builds, and where the file system locks no directories.
#pragma once

#include <chrono>
#include <memory>

#include "io/file.h"
#include "io/file_system.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_place.h"
#include "io/posix/posix_process.h"

namespace varve::io {

/// The two locks of one owner, shared by its DirectoryLock and its Directory.
class HeldLock {
 public:
  HeldLock(std::string name, std::string path) noexcept : name_(std::move(name)), path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }

  /// Takes both. Errors: those of PosixDirectoryLock::take.
  Status take(int directory, LockMode mode, std::chrono::steady_clock::time_point deadline);
  /// Lets both go, also where a fork shares the open files.
  void release() noexcept;

  /// Asks the system whether the lock file still is the one that is locked. If it was removed or replaced while the
  /// directory's own lock holds, the lock file is made and locked anew. Errors: kFenced.
  Status confirm();

 private:
  Status take_directory(int directory, bool exclusive, std::chrono::steady_clock::time_point deadline);
  Status take_file(bool exclusive, std::chrono::steady_clock::time_point deadline);
  bool is_named() const noexcept;
  Status refused(bool exclusive) const;

  const std::string name_;
  const std::string path_;
  Descriptor directory_;
  Descriptor file_;  // None for a reader of a directory without a lock file.
  bool directory_is_locked_ = false;
};

class PosixDirectoryLock final : public DirectoryLock {
 public:
  /// `file` is the lock file. A shared lock makes no file: without a lock file it holds the directory alone.
  /// Errors: kLocked, ENOENT (shared, no lock file, and the file system locks no directories), kCorruption (not a
  /// regular file), by os_error.
  static Result<std::unique_ptr<PosixDirectoryLock>> take(const FileAt& file, LockMode mode,
                                                          std::chrono::milliseconds wait_max, OwnerProcess owner);

  PosixDirectoryLock(std::shared_ptr<HeldLock> held, OwnerProcess owner) noexcept
      : held_(std::move(held)), owner_(owner) {}
  ~PosixDirectoryLock() override;

  std::uint64_t epoch() const noexcept override { return 0; }
  Status check() const noexcept override;
  const std::shared_ptr<HeldLock>& held() const noexcept { return held_; }

 private:
  const std::shared_ptr<HeldLock> held_;
  const OwnerProcess owner_;
};

}  // namespace varve::io
