// Owns: memory for direct I/O: aligned to a sector, and a whole number of sectors long.
// Must never: throw. A failed allocation is a Status, so that no failure leaves an interface as an exception.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "io/file.h"
#include "varve/result.h"

namespace varve::io {

/// Rounds up to a multiple of kSectorBytes. `bytes` is at most 2^63.
constexpr std::uint64_t round_up_to_sector(std::uint64_t bytes) noexcept {
  return (bytes + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
}

constexpr std::uint64_t round_down_to_sector(std::uint64_t bytes) noexcept {
  return bytes / kSectorBytes * kSectorBytes;
}

constexpr bool is_sector_multiple(std::uint64_t bytes) noexcept {
  return bytes % kSectorBytes == 0;
}

inline bool is_sector_aligned(const void* address) noexcept {
  return is_sector_multiple(reinterpret_cast<std::uintptr_t>(address));
}

/// Owns its memory. The memory is zero unless allocate_unfilled() made it. The buffer can be moved but not copied; a
/// moved-from buffer is empty.
class AlignedBuffer {
 public:
  AlignedBuffer() noexcept = default;

  /// Allocates zeroed memory. `bytes` is a multiple of kSectorBytes and not zero. Errors: kOutOfMemory.
  static Result<AlignedBuffer> allocate(std::size_t bytes) noexcept {
    Result<AlignedBuffer> buffer = allocate_unfilled(bytes);
    // The previous content of the memory must not reach a disk.
    if (buffer.ok()) std::memset(buffer->memory_.get(), 0, bytes);
    return buffer;
  }
  /// Allocates memory without zeroing it, for a caller that fills all of it from a file before reading it.
  static Result<AlignedBuffer> allocate_unfilled(std::size_t bytes) noexcept {
    assert(bytes > 0);
    assert(is_sector_multiple(bytes));
    // Uses the aligned operator new, not aligned_alloc, so that a test's operator new can refuse the memory.
    void* memory = ::operator new (bytes, std::align_val_t{kSectorBytes}, std::nothrow);
    if (memory == nullptr) return Status::out_of_memory();
    return AlignedBuffer(static_cast<std::byte*>(memory), bytes);
  }

  std::span<std::byte> bytes() noexcept { return {memory_.get(), size_bytes_}; }
  std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_bytes_}; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }

  AlignedBuffer(AlignedBuffer&& other) noexcept
      : memory_(std::move(other.memory_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    return *this;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{kSectorBytes}); }
  };

  AlignedBuffer(std::byte* memory, std::size_t bytes) noexcept : memory_(memory), size_bytes_(bytes) {}

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_bytes_ = 0;
};

}  // namespace varve::io
