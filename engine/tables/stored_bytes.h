// Owns: memory for a piece of a file that holds one block or several, cut as the device reads best: whole sectors.
// Must never: hand out bytes that lie outside of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "format/block/block.h"
#include "io/aligned_buffer.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time. Moves, does not copy.
class StoredBytes {
 public:
  /// Gets ready for the `bytes` (not zero) from `offset` of a file of `file_bytes`; what it held is gone.
  /// Errors: kOutOfMemory.
  Status prepare(std::uint64_t offset, std::uint64_t bytes, std::uint64_t file_bytes) noexcept {
    offset_ = io::round_down_to_sector(offset);
    const std::uint64_t end = io::round_up_to_sector(offset + bytes);
    size_bytes_ = 0;
    if (buffer_.size_bytes() < end - offset_) {
      Result<io::AlignedBuffer> buffer = io::AlignedBuffer::allocate_unfilled(end - offset_);
      if (!buffer.ok()) return buffer.status();
      buffer_ = *std::move(buffer);
    }
    size_bytes_ = std::max(std::min(end, file_bytes), offset + bytes) - offset_;
    return Status();
  }

  /// It holds nothing.
  void clear() noexcept { size_bytes_ = 0; }

  /// Where it begins in the file.
  std::uint64_t offset() const noexcept { return offset_; }
  /// To be read into.
  std::span<std::byte> bytes() noexcept { return buffer_.bytes().first(size_bytes_); }
  std::size_t memory_bytes() const noexcept { return buffer_.size_bytes(); }

  bool holds(const format::BlockHandle& block) const noexcept {
    return block.offset >= offset_ && block.bytes <= size_bytes_ && block.offset - offset_ <= size_bytes_ - block.bytes;
  }
  /// holds() is true of it.
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
