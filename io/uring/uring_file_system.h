// Owns: the file system for kernels with io_uring: the plain-call file system, with rings for many reads at once.
// Must never: differ from the plain-call file system in anything except speed. If a ring is refused later, plain calls
// take its place.
//
// A blocking write by a commit's leader is faster than a write through a ring, so everything else uses plain calls.
#pragma once

#include <memory>
#include <string_view>

#include "io/posix/posix_file_system.h"

namespace varve::io {

/// Behaves like PosixFileSystem. Used if probe_io_uring() (ring.h) succeeds.
class UringFileSystem final : public FileSystem {
 public:
  std::string_view name() const noexcept override { return "io_uring"; }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  /// Makes a queue with a ring, or with threads if the system refuses a ring at the moment.
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;

 private:
  PosixFileSystem calls_;
};

}  // namespace varve::io
