// Owns: memory and the file that preserves it, by plain system calls.
// Must never: map the file, because access to a mapping of a truncated file raises SIGBUS. Also, never be mapped in a
// fork of the process that made it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "io/file.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_place.h"
#include "io/posix/posix_process.h"

namespace varve::io {

class PosixSharedMemory final : public SharedMemory {
 public:
  /// Errors: EEXIST, kNoSpace, those of os_error(); no file remains.
  static Result<std::unique_ptr<SharedMemory>> create(const FileAt& file, std::uint64_t bytes,
                                                      const std::shared_ptr<const DirectoryPlace>& directory,
                                                      OwnerProcess owner);

  /// Only create() calls it: makes a handle without memory.
  PosixSharedMemory(std::string path, OwnerProcess owner) noexcept : guard_(std::move(path), owner) {}
  PosixSharedMemory(const PosixSharedMemory&) = delete;
  PosixSharedMemory& operator=(const PosixSharedMemory&) = delete;
  ~PosixSharedMemory() override;

  std::span<std::byte> bytes() noexcept override;
  Status keep(std::size_t offset, std::size_t size_bytes) noexcept override;
  Status check() noexcept override;
  void restore() noexcept override;

 private:
  Status map(std::size_t bytes);
  Status keep_anew(std::size_t offset, std::size_t size_bytes) noexcept;

  Descriptor descriptor_;
  HandleGuard guard_;
  FilePlace place_;
  std::span<std::byte> memory_;
  std::atomic<bool> is_damaged_{false};
};

}  // namespace varve::io
