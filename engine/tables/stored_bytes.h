// Owns: memory for a piece of a file with one or several blocks. The piece consists of whole sectors, as the device
// reads best.
// Must never: hand out bytes outside the piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "format/block/block.h"
#include "io/aligned_buffer.h"
#include "varve/result.h"

namespace varve::engine {

/// Used by one thread at a time. Movable, not copyable.
class StoredBytes {
 public:
  /// Returns where the piece for `bytes` bytes (not zero) at `offset` begins and ends, in a file that is long enough.
  static std::pair<std::uint64_t, std::uint64_t> sectors_of(std::uint64_t offset, std::uint64_t bytes) noexcept {
    return {io::round_down_to_sector(offset), io::round_up_to_sector(offset + bytes)};
  }

  /// Prepares for `bytes` bytes (not zero) at `offset` of a file of `file_bytes` bytes. The old content is lost.
  /// Errors: kOutOfMemory.
  Status prepare(std::uint64_t offset, std::uint64_t bytes, std::uint64_t file_bytes) noexcept {
    std::uint64_t end = 0;
    std::tie(offset_, end) = sectors_of(offset, bytes);
    size_bytes_ = 0;
    if (buffer_.size_bytes() < end - offset_) {
      Result<io::AlignedBuffer> buffer = io::AlignedBuffer::allocate_unfilled(end - offset_);
      if (!buffer.ok()) return buffer.status();
      buffer_ = *std::move(buffer);
    }
    size_bytes_ = std::max(std::min(end, file_bytes), offset + bytes) - offset_;
    return Status();
  }

  /// Makes the piece empty.
  void clear() noexcept { size_bytes_ = 0; }

  /// Returns the piece's offset in the file.
  std::uint64_t offset() const noexcept { return offset_; }
  /// Returns the memory to read into.
  std::span<std::byte> bytes() noexcept { return buffer_.bytes().first(size_bytes_); }
  std::size_t memory_bytes() const noexcept { return buffer_.size_bytes(); }

  bool holds(const format::BlockHandle& block) const noexcept {
    return block.offset >= offset_ && block.bytes <= size_bytes_ && block.offset - offset_ <= size_bytes_ - block.bytes;
  }
  /// Returns the bytes of a block for which holds() returns true.
  std::string_view of(const format::BlockHandle& block) const noexcept {
    return {reinterpret_cast<const char*>(buffer_.bytes().data()) + (block.offset - offset_),
            static_cast<std::size_t>(block.bytes)};
  }

 private:
  io::AlignedBuffer buffer_;
  std::uint64_t offset_ = 0;
  std::size_t size_bytes_ = 0;
};

}  // namespace varve::engine
