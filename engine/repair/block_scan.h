// Owns: finding the intact blocks in a part of a table file that no index leads through.
// Must never: show bytes whose checksum does not hold where they stand.
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
  /// The whole frame, valid until the next move.
  std::string_view frame;
};

/// Where one block ends the next one is looked for, and from there byte by byte: a block verifies by the file's seed
/// and its own place, so that what is found is a block of this file, standing where it was written. One thread at a
/// time.
class BlockScan {
 public:
  /// Of the bytes from `begin` to `end`, or to the file's end. `file` outlives the scan.
  BlockScan(const io::ReadableFile& file, std::uint64_t seed, std::uint64_t begin, std::uint64_t end) noexcept;

  /// The next one; nothing at the end. Errors: those of reading.
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
