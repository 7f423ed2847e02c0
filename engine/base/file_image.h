// Owns: the bytes of a whole file in memory that direct reads fill without a copy.
// Must never: show bytes past the file's end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "io/aligned_buffer.h"
#include "varve/result.h"

namespace varve::engine {

/// The image of a file. It can be moved but not copied; a moved-from image is empty.
class FileImage {
 public:
  FileImage() noexcept = default;

  /// Makes an image of `bytes` bytes, which the caller fills. `room_bytes` reserves memory for a later refit(). Errors:
  /// kOutOfMemory.
  static Result<FileImage> allocate(std::uint64_t bytes, std::uint64_t room_bytes = 0) noexcept {
    FileImage image;
    const std::uint64_t memory_bytes = io::round_up_to_sector(std::max(bytes, room_bytes));
    if (memory_bytes == 0) return image;
    Result<io::AlignedBuffer> memory = io::AlignedBuffer::allocate_unfilled(static_cast<std::size_t>(memory_bytes));
    if (!memory.ok()) return memory.status();
    image.memory_ = *std::move(memory);
    image.size_bytes_ = static_cast<std::size_t>(bytes);
    return image;
  }

  FileImage(FileImage&& other) noexcept
      : memory_(std::move(other.memory_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  FileImage& operator=(FileImage&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    return *this;
  }

  /// Changes the image to `bytes` bytes, which the caller fills. If its memory is too small, returns false and changes
  /// nothing.
  bool refit(std::uint64_t bytes) noexcept {
    if (bytes > memory_.size_bytes()) return false;
    size_bytes_ = static_cast<std::size_t>(bytes);
    return true;
  }

  std::size_t size() const noexcept { return size_bytes_; }
  char* data() noexcept { return reinterpret_cast<char*>(memory_.bytes().data()); }
  std::span<std::byte> bytes() noexcept { return memory_.bytes().first(size_bytes_); }
  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(memory_.bytes().data()), size_bytes_};
  }

 private:
  io::AlignedBuffer memory_;
  std::size_t size_bytes_ = 0;
};

}  // namespace varve::engine
