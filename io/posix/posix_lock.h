// Owns: the lock on a directory, by flock.
// Must never: be released by a fork that only closes its inherited descriptors, or be kept by a fork after its owner
// released it.
//
// flock belongs to the open file, not to the process and not to a path. A second open of the same lock file is refused,
// in this process or another, and by any path.
//
// The owner locks the directory itself and then the lock file. The directory's lock remains if the lock file is removed
// or replaced. The lock file's lock excludes older builds, and is the only lock if the file system cannot lock
// directories.
#pragma once

#include <chrono>
#include <memory>

#include "io/file.h"
#include "io/file_system.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_place.h"
#include "io/posix/posix_process.h"

namespace varve::io {

/// The two locks of one owner, which its DirectoryLock and its Directory share.
class HeldLock {
 public:
  HeldLock(std::string name, std::string path) noexcept : name_(std::move(name)), path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }

  /// Takes both locks. Errors: those of PosixDirectoryLock::take().
  Status take(int directory, LockMode mode, std::chrono::steady_clock::time_point deadline);
  /// Releases both locks, even if a fork shares the open files.
  void release() noexcept;

  /// Asks the system whether the lock file is still the locked one. If it was removed or replaced while the directory's
  /// own lock holds, creates and locks the lock file again. Errors: kFenced.
  Status confirm();

 private:
  Status take_directory(int directory, bool exclusive, std::chrono::steady_clock::time_point deadline);
  Status take_file(bool exclusive, std::chrono::steady_clock::time_point deadline);
  bool is_named() const noexcept;
  Status refused(bool exclusive) const;

  const std::string name_;
  const std::string path_;
  Descriptor directory_;
  Descriptor file_;  // None, for a reader of a directory without a lock file.
  bool directory_is_locked_ = false;
};

class PosixDirectoryLock final : public DirectoryLock {
 public:
  /// `file` is the lock file. A shared lock creates no file: without a lock file, it locks only the directory. Errors:
  /// kLocked, ENOENT (shared, no lock file, and the file system cannot lock directories), kCorruption (not a regular
  /// file), those of os_error().
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
