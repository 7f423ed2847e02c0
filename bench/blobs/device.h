// Owns: the limits of the device: plain writes and reads with direct I/O, in blocks of a size that the caller chooses.
// Must never: use the page cache, unless the file system has no direct I/O.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/aligned_buffer.h"
#include "varve/result.h"

namespace varve::bench {

/// One file of the device. Several threads may read and write different places of it.
class RawFile {
 public:
  /// kDurable: each write is on stable storage when it returns.
  enum class Mode : std::uint8_t { kRead, kWrite, kDurableWrite };

  static Result<RawFile> open(const std::string& path, Mode mode);
  RawFile(RawFile&& other) noexcept;
  RawFile& operator=(RawFile&&) = delete;
  ~RawFile();

  /// Writes and reads whole sectors. The memory must be aligned to a sector.
  /// @{
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  Status read(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// @}
  Status sync() const;

 private:
  explicit RawFile(int file) noexcept : file_(file) {}
  int file_;
};

/// Writes a new file of the contents of a blob of this length, in blocks of 1 MiB, and one fdatasync at the end.
Status write_raw_stream(const std::string& path, std::uint64_t bytes);
/// Reads such a file to its end, in blocks of 1 MiB.
Status read_raw_stream(const std::string& path, std::uint64_t bytes);

/// Durable writes of one size, one after another, over a space that was written before.
class DurableSpace {
 public:
  /// Creates the file of `write_bytes` times some hundred bytes, filled with data. `write_bytes` is whole sectors.
  static Result<DurableSpace> create(const std::string& path, std::size_t write_bytes);
  /// Writes at the next place. Only one thread may call it.
  Status write();

 private:
  DurableSpace(RawFile file, io::AlignedBuffer block) : file_(std::move(file)), block_(std::move(block)) {}
  RawFile file_;
  io::AlignedBuffer block_;
  std::uint64_t next_ = 0;
};

}  // namespace varve::bench
