// Owns: one log segment by plain system calls: its space, the zeros written in advance, concurrent durable writes, and
// its end.
// Must never: zero a range that may contain a record, or report a write before it is on the device.
//
// Reason for the zeros: a durable write into allocated but unwritten space must also commit the file system's record
// that the space is now written. Over zeros it is only the device write, which is nearly twice as fast. An ext4 without a
// journal commits no such record, but writes the inode.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <sys/types.h>

#include "io/aligned_buffer.h"
#include "io/file.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_place.h"

namespace varve::io {

/// Number of bytes zeroed and synced at a time. stop_filling(), or a commit that reaches the device meanwhile, may have
/// to wait for them. A second descriptor and rarer syncs would save a fifth of a background thread's time, but lose the
/// exact count.
inline constexpr std::size_t kFillChunkBytes = std::size_t{128} << 10;

/// Returns false for file systems that copy on write and for in-memory ones: there, a written block is not cheaper to
/// overwrite. `type` is the f_type of statfs.
bool zero_filling_helps(std::uint32_t type) noexcept;

/// Returns whether zeros make later writes to the open file faster. Errors: those of os_error().
Result<bool> zero_filling_helps_in(int descriptor, const std::string& path);

class PosixLogSegment final : public LogSegment {
 public:
  /// Errors: EEXIST, kNoSpace, those of os_error(); no file remains.
  static Result<std::unique_ptr<LogSegment>> create(const FileAt& file, std::uint64_t bytes,
                                                    const std::shared_ptr<const DirectoryPlace>& directory,
                                                    OwnerProcess owner);

  /// Renames `from` to `to` and uses its space. Errors: those of Directory::recycle_log_segment().
  static Result<std::unique_ptr<LogSegment>> recycle(const FileAt& from, const FileAt& to, std::uint64_t bytes,
                                                     const std::shared_ptr<const DirectoryPlace>& directory,
                                                     OwnerProcess owner);

  /// Only create() and recycle() call it: makes a handle without a file.
  PosixLogSegment(std::string path, std::uint64_t bytes, OwnerProcess owner) noexcept
      : guard_(std::move(path), owner), allocated_bytes_(bytes) {}

  std::uint64_t allocated_bytes() const noexcept override { return allocated_bytes_; }
  Status fill_to(std::uint64_t end) override;
  void stop_filling() noexcept override;
  std::uint64_t filled_bytes() const noexcept override { return filled_bytes_.load(std::memory_order_acquire); }
  std::uint64_t prepared_bytes() const noexcept override {
    return filling_helps_ ? prepared_bytes_.load(std::memory_order_acquire) : allocated_bytes_;
  }
  bool direct() const noexcept override { return direct_; }

  Status write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) override;
  Status cut(std::uint64_t size_bytes, SyncPoint point) override;

 private:
  Status prepare();
  Status write_first_sector();
  Status zero_to(std::uint64_t end);  // Guarded by filling_, or called before other threads know the segment.
  Status zero_chunk(std::uint64_t offset, std::span<const std::byte> zeros);
  std::size_t unit_bytes() const noexcept { return direct_ ? kSectorBytes : 1; }

  Descriptor descriptor_;  // With O_DSYNC for both kinds of transfer, so that a write is durable when it returns.
  HandleGuard guard_;
  FilePlace place_;
  const std::uint64_t allocated_bytes_;
  bool direct_ = false;        // Fixed once create() or recycle() returns.
  bool filling_helps_ = true;  // Likewise.

  std::mutex filling_;  // Held by fill_to() for its whole duration.
  /// Zeros for the next fills. Guarded by filling_; there while space is left to fill.
  std::optional<AlignedBuffer> zeros_;
  bool device_writes_zeroes_ = true;  // Guarded by filling_; false once the device or file system has refused.
  std::atomic<bool> stop_filling_{false};
  std::atomic<bool> written_to_{false};  // Anywhere after the first sector.
  std::atomic<std::uint64_t> filled_bytes_{0};
  std::atomic<std::uint64_t> prepared_bytes_{kSectorBytes};  // create() writes the first sector.
};

}  // namespace varve::io
