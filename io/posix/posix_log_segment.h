// Owns: one log segment by plain system calls: its space, the zeros ahead of use, durable writes side by side, its end.
// Must never: zero a range that may hold a record, or report a write before the device has it.
//
// Why zeros ahead: a durable write into allocated but unwritten space must also commit the file system's note that it
// is written now; over zeros it is the device write alone, nearly twice as fast.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "io/file.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_place.h"

namespace varve::io {

/// Bytes zeroed and synced at a time: what stop_filling() may have to wait for, and a commit that comes to the device
/// meanwhile. A second descriptor and rarer syncs would gain a fifth, in a background thread, and lose the exact count.
inline constexpr std::size_t kFillChunkBytes = std::size_t{128} << 10;

/// False for file systems that copy on write and for those in memory: there a written block is no cheaper to write.
/// `type` is statfs' f_type.
bool zero_filling_helps(std::uint32_t type) noexcept;

class PosixLogSegment final : public LogSegment {
 public:
  /// Errors: EEXIST, kNoSpace, by os_error; no file is left behind.
  static Result<std::unique_ptr<LogSegment>> create(const FileAt& file, std::uint64_t bytes,
                                                    const std::shared_ptr<const DirectoryPlace>& directory,
                                                    OwnerProcess owner);

  /// For create() alone: a handle without a file.
  PosixLogSegment(std::string path, std::uint64_t bytes, OwnerProcess owner) noexcept
      : guard_(std::move(path), owner), allocated_bytes_(bytes) {}

  std::uint64_t allocated_bytes() const noexcept override { return allocated_bytes_; }
  Status fill() override;
  void stop_filling() noexcept override;
  std::uint64_t filled_bytes() const noexcept override { return filled_bytes_.load(std::memory_order_acquire); }
  bool direct() const noexcept override { return direct_; }

  Status write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) override;
  Status cut(std::uint64_t size_bytes, SyncPoint point) override;

 private:
  Status prepare();
  Status write_first_sector();
  Status fill_rest();  // Behind filling_, or before anybody else knows the segment.
  Status zero_chunk(std::uint64_t offset, std::span<const std::byte> zeros);
  std::size_t unit_bytes() const noexcept { return direct_ ? kSectorBytes : 1; }

  Descriptor descriptor_;  // O_DSYNC in both kinds of transfer, so that a write returns durable.
  HandleGuard guard_;
  FilePlace place_;
  const std::uint64_t allocated_bytes_;
  bool direct_ = false;        // Fixed once create() returns.
  bool filling_helps_ = true;  // Likewise.

  std::mutex filling_;                // Held by fill() from beginning to end.
  bool device_writes_zeroes_ = true;  // Behind filling_; false once the device or file system has refused.
  std::atomic<bool> stop_filling_{false};
  std::atomic<bool> written_to_{false};         // Anywhere behind the first sector.
  std::atomic<std::uint64_t> filled_bytes_{0};  // From the end of the first sector on.
};

}  // namespace varve::io
