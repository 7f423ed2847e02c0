// Owns: finding the intact blocks in a part of a table file without an index.
// Must never: return bytes whose checksum does not verify at their place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "io/file.h"
#include "varve/result.h"

namespace varve::engine {

struct FoundBlock {
  format::BlockHandle handle;
  format::BlockType type = format::BlockType::kData;
  /// The whole frame, valid until the next call of next().
  std::string_view frame;
};

/// Searches for blocks. After a block, the next one is expected at its end, and then searched byte by byte. A block
/// verifies by the file's seed and its own place, so a found block belongs to this file and to this place. One thread
/// at a time may use it.
class BlockScan {
 public:
  /// Scans the bytes from `begin` to `end`, or to the file's end. `file` must outlive the scan.
  BlockScan(const io::ReadableFile& file, std::uint64_t seed, std::uint64_t begin, std::uint64_t end) noexcept;

  /// Returns the next block, or nothing at the end. Errors: those of reading.
  Result<std::optional<FoundBlock>> next();

  std::uint64_t read_bytes() const noexcept { return read_bytes_; }

 private:
  Status hold(std::uint64_t bytes);
  std::string_view rest() const noexcept;

  const io::ReadableFile& file_;
  const std::uint64_t seed_;
  const std::uint64_t end_;
  std::uint64_t at_;
  std::string window_;
  std::uint64_t window_begin_ = 0;
  std::uint64_t read_bytes_ = 0;
};

}  // namespace varve::engine
