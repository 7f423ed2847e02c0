// Owns: the lock on a directory, by flock.
// Must never: be let go by a fork that merely closes what it inherited, or outlive its owner in one.
//
// flock belongs to the open file, not to the process and not to a path: a second open of the same lock file, in this
// process or another, by whatever path, is refused.
#pragma once

#include <chrono>
#include <memory>

#include "io/file.h"
#include "io/file_system.h"
#include "io/posix_descriptor.h"
#include "io/posix_process.h"

namespace varve::io {

class PosixDirectoryLock final : public DirectoryLock {
 public:
  /// Errors: kLocked, ENOENT (shared, and no lock file), kCorruption (not a regular file), by os_error.
  static Result<std::unique_ptr<DirectoryLock>> take(const FileAt& file, LockMode mode,
                                                     std::chrono::milliseconds wait_max, OwnerProcess owner);

  /// For take() alone: a handle without a lock.
  PosixDirectoryLock(std::string path, OwnerProcess owner) noexcept : path_(std::move(path)), owner_(owner) {}
  ~PosixDirectoryLock() override;

  std::uint64_t epoch() const noexcept override { return 0; }
  Status check() const noexcept override;

 private:
  const std::string path_;
  const OwnerProcess owner_;
  Descriptor descriptor_;
};

}  // namespace varve::io
