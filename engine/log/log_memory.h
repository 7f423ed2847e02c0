// Owns: the memory of one log write, and the number of its bytes that may differ from zero.
// Must never: let bytes of an earlier record reach the device after the end of a record.
//
// A small record fills a part of a sector, and zeros fill the rest. Memory that is used again for records of about the
// same size has these zeros already, so only the difference is zeroed.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "io/aligned_buffer.h"

namespace varve::engine {

class LogMemory {
 public:
  LogMemory() noexcept = default;
  /// Takes memory whose bytes are all zero.
  explicit LogMemory(io::AlignedBuffer zeros) noexcept : memory_(std::move(zeros)) {}

  /// Returns where a record begins. The caller stores its bytes in a row, and then calls end_at() with their number.
  char* begin() noexcept { return reinterpret_cast<char*>(memory_.bytes().data()); }
  std::size_t size_bytes() const noexcept { return memory_.size_bytes(); }

  /// Ends the record after `bytes` bytes. Returns the whole sectors with the record, which has zeros after it.
  std::span<const std::byte> end_at(std::size_t bytes) noexcept {
    const std::size_t sectors = io::round_up_to_sector(bytes);
    assert(sectors <= memory_.size_bytes());
    const std::size_t stale_end = std::min(stored_bytes_, sectors);
    if (stale_end > bytes) std::memset(begin() + bytes, 0, stale_end - bytes);
    if (stored_bytes_ <= sectors) stored_bytes_ = bytes;
    return memory_.bytes().first(sectors);
  }

 private:
  io::AlignedBuffer memory_;
  std::size_t stored_bytes_ = 0;  // All bytes after them are zero.
};

}  // namespace varve::engine
