// Owns: the file system door by plain, blocking system calls: what is there where io_uring is not.
// Must never: keep state; two of them over one directory behave as one.
#pragma once

#include <memory>
#include <string_view>

#include "io/file_system.h"

namespace varve::io {

/// Any thread. After a fork, the child may open directories anew; writes through handles it inherited are kLocked.
class PosixFileSystem final : public FileSystem {
 public:
  std::string_view name() const noexcept override { return "posix"; }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  /// Reads by a few threads, each in a blocking call.
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;
};

}  // namespace varve::io
