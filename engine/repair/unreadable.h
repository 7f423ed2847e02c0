// Owns: reading around the parts of a device that cannot be read.
// Must never: return bytes for those parts that could verify, or write anything.
//
// A repair treats a failed read like bytes that do not verify. So reads through this directory never fail for an error
// of the device, or because a part of a file is lost. A failed read is retried in smaller pieces, down to one sector. A
// sector that fails is filled with a pattern that no checksum of the format accepts. The reader then finds damage there,
// and continues after it. Each failed range is recorded, with its file, offset and length.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Returns whether a call failed because of the device, so that other parts of the store may still be readable.
bool is_device_error(const Status& status) noexcept;

/// Byte ranges of one file that could not be read, from offset to end, in whole sectors.
using UnreadableRanges = std::map<std::uint64_t, std::uint64_t>;

/// The unreadable ranges, and the number of readable bytes. Thread-safe.
class UnreadableParts {
 public:
  explicit UnreadableParts(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}

  /// Adds a range from `begin` to `end`. Adjacent ranges are merged.
  void add(const std::string& name, std::uint64_t begin, std::uint64_t end, const Status& why);
  /// Records that the file could not be opened.
  void add_file(const std::string& name, const Status& why);
  void count_read(std::uint64_t bytes) noexcept;

  /// Returns whether a byte of the file at or after `offset` could not be read.
  bool has_any(std::string_view name, std::uint64_t offset) const noexcept;
  /// Returns whether a read of a byte from `begin` to `end` has already failed twice.
  bool overlaps(std::string_view name, std::uint64_t begin, std::uint64_t end) const noexcept;
  /// Returns the first failure if nothing at all could be read, and Ok otherwise.
  Status nothing_was_read() const;
  /// Returns one line for each range, for example "000007.sst at offset 8192: 4096 bytes cannot be read: ...".
  std::vector<std::string> findings() const;

 private:
  mutable io::Mutex mutex_;  // a leaf
  std::map<std::string, UnreadableRanges, std::less<>> ranges_ VARVE_GUARDED_BY(mutex_);
  std::map<std::string, Status, std::less<>> first_of_file_ VARVE_GUARDED_BY(mutex_);
  Status first_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t read_bytes_ VARVE_GUARDED_BY(mutex_) = 0;
};

/// A directory for reading: every writing function returns kReadOnly. Thread-safe.
class TolerantDirectory final : public io::Directory {
 public:
  /// Both arguments must outlive this object.
  TolerantDirectory(io::Directory& directory, UnreadableParts& parts) noexcept : directory_(directory), parts_(parts) {}

  std::string_view path() const noexcept override { return directory_.path(); }
  Result<std::vector<io::DirectoryEntry>> list() override { return directory_.list(); }
  /// Errors: those of the directory, with kCorruption in place of an error of the device.
  Result<std::unique_ptr<io::ReadableFile>> open(std::string_view name, io::ReadMode mode) override;

  Result<std::unique_ptr<io::WritableFile>> create(std::string_view name) override;
  Result<std::unique_ptr<io::LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override;
  Result<std::unique_ptr<io::SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override;
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 io::SyncPoint point) override;
  Status link(std::string_view name, io::Directory& into) override;
  Status remove(std::string_view name) override;
  Status sync(io::SyncPoint point) override;
  Result<std::unique_ptr<io::DirectoryLock>> lock(std::string_view name, io::LockMode mode,
                                                  std::chrono::milliseconds wait_max) override;
  Status confirm_owner() override;
  Status set_ballast(std::string_view name, std::uint64_t bytes) override;

 private:
  io::Directory& directory_;
  UnreadableParts& parts_;
};

}  // namespace varve::engine
