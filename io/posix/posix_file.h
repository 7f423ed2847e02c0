// Owns: files written front to back and files read at offsets, by plain system calls.
// Must never: mix direct and buffered transfers on one file at a time. Each would see the other's bytes late.
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
  /// Errors: EEXIST, those of os_error(); no file remains.
  static Result<std::unique_ptr<WritableFile>> create(const FileAt& file,
                                                      const std::shared_ptr<const DirectoryPlace>& directory,
                                                      OwnerProcess owner);

  /// Only create() calls it: makes a handle without a file.
  PosixWritableFile(std::string path, OwnerProcess owner) noexcept : guard_(std::move(path), owner) {}

  Status append(std::span<const std::byte> bytes) override;
  Status sync(SyncPoint point) override;
  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

 private:
  Status begin_write_back();
  Status write_back(std::uint64_t from, std::uint64_t to, unsigned int how);

  Descriptor descriptor_;
  HandleGuard guard_;
  FilePlace place_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t begun_bytes_ = 0;    // the system was asked to write back the bytes before it
  std::uint64_t awaited_bytes_ = 0;  // and had written those before this, or had failed to
};

class PosixReadableFile final : public ReadableFile {
 public:
  /// Errors: kCorruption (a link, or not a regular file), those of os_error(). If the file system refuses direct I/O,
  /// the file is read through the page cache.
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

  // The functions below are for classes that transfer the bytes themselves (posix_read.h).

  /// Returns true while transfers bypass the page cache.
  bool direct() const noexcept { return direct_.load(std::memory_order_relaxed); }
  int descriptor() const noexcept { return descriptor_.get(); }
  const std::string& path() const noexcept { return path_; }
  /// Switches later transfers to the page cache. Any thread may call it. Errors: those of os_error().
  Status stop_direct() const noexcept;
  /// Returns kCorruption. The message contains the file's present size and its size at open.
  Status ended_early(std::uint64_t offset, std::size_t wanted_bytes) const noexcept;

 private:
  Descriptor descriptor_;
  std::string path_;
  std::uint64_t size_bytes_;
  FileKey key_;
  mutable std::atomic<bool> direct_;  // Changes from true to false at most once.
};

}  // namespace varve::io
