// Owns: the file system door where the kernel has io_uring: the plain-call one, with rings for many reads at once.
// Must never: differ from the plain-call one in anything but speed. Whoever refuses a ring later gets plain calls.
//
// A blocking write of a commit's leader is faster than one handed to a ring, so all else stays as it is.
#pragma once

#include <memory>
#include <string_view>

#include "io/posix/posix_file_system.h"

namespace varve::io {

/// As PosixFileSystem. Made where probe_io_uring() (ring.h) succeeds.
class UringFileSystem final : public FileSystem {
 public:
  std::string_view name() const noexcept override { return "io_uring"; }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  /// A ring, or threads where the system has no ring to give at the moment.
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;

 private:
  PosixFileSystem calls_;
};

}  // namespace varve::io
