// Owns: memory backed by a file of the store, by plain system calls.
// Must never: be mapped in a fork of the process that made it: both would write the same log buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "io/file.h"
#include "io/posix_descriptor.h"
#include "io/posix_process.h"

namespace varve::io {

class PosixSharedMemory final : public SharedMemory {
 public:
  /// Errors: EEXIST, kNoSpace, by os_error; no file is left behind.
  static Result<std::unique_ptr<SharedMemory>> create(const FileAt& file, std::uint64_t bytes, OwnerProcess owner);

  /// For create() alone: a handle without memory.
  explicit PosixSharedMemory(OwnerProcess owner) noexcept : owner_(owner) {}
  PosixSharedMemory(const PosixSharedMemory&) = delete;
  PosixSharedMemory& operator=(const PosixSharedMemory&) = delete;
  ~PosixSharedMemory() override;

  std::span<std::byte> bytes() noexcept override;

 private:
  Status map(int descriptor, std::size_t bytes, const std::string& path);

  const OwnerProcess owner_;
  std::span<std::byte> memory_;
};

}  // namespace varve::io
