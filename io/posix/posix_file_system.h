// Owns: the file system with plain, blocking system calls, for machines without io_uring.
// Must never: keep state. Two file systems over one directory behave like one.
#pragma once

#include <memory>
#include <string_view>

#include "io/file_system.h"

namespace varve::io {

/// Any thread may use it. After a fork, the child may open directories anew; a write through an inherited handle
/// returns kLocked.
class PosixFileSystem final : public FileSystem {
 public:
  std::string_view name() const noexcept override { return "posix"; }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  /// Makes a queue that reads with a few threads, each in a blocking call.
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;
};

}  // namespace varve::io
