// Owns: files written front to back and files read at offsets, by plain system calls.
// Must never: mix direct and buffered transfers on one file at a time; each would see the other's bytes late.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/file.h"
#include "io/file_system.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_place.h"

namespace varve::io {

class PosixWritableFile final : public WritableFile {
 public:
  /// Errors: EEXIST, by os_error; no file is left behind.
  static Result<std::unique_ptr<WritableFile>> create(const FileAt& file,
                                                      const std::shared_ptr<const DirectoryPlace>& directory,
                                                      OwnerProcess owner);

  /// For create() alone: a handle without a file.
  PosixWritableFile(std::string path, OwnerProcess owner) noexcept : guard_(std::move(path), owner) {}

  Status append(std::span<const std::byte> bytes) override;
  Status sync(SyncPoint point) override;
  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

 private:
  Status begin_write_back();

  Descriptor descriptor_;
  HandleGuard guard_;
  FilePlace place_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t begun_bytes_ = 0;  // up to here the system was asked to write back
};

class PosixReadableFile final : public ReadableFile {
 public:
  /// Errors: kCorruption (a link, or not a regular file), by os_error. A file system that refuses direct I/O is read
  /// through the page cache.
  static Result<std::unique_ptr<ReadableFile>> open(const FileAt& file, ReadMode mode);

  PosixReadableFile(Descriptor descriptor, std::string path, std::uint64_t size_bytes, bool direct,
                    FileKey key = {}) noexcept
      : descriptor_(std::move(descriptor)),
        path_(std::move(path)),
        size_bytes_(size_bytes),
        key_(key),
        direct_(direct) {}

  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  FileKey key() const noexcept override { return key_; }
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const override;

  // For reads that others transfer (posix_read.h).

  /// True while transfers go past the page cache.
  bool direct() const noexcept { return direct_.load(std::memory_order_relaxed); }
  int descriptor() const noexcept { return descriptor_.get(); }
  const std::string& path() const noexcept { return path_; }
  /// Transfers go through the page cache from now on. Any thread. Errors: by os_error.
  Status stop_direct() const noexcept;
  /// kCorruption, which tells the size that the file has now and had when it was opened.
  Status ended_early(std::uint64_t offset, std::size_t wanted_bytes) const noexcept;

 private:
  Descriptor descriptor_;
  std::string path_;
  std::uint64_t size_bytes_;
  FileKey key_;
  mutable std::atomic<bool> direct_;  // Goes from true to false at most once.
};

}  // namespace varve::io
