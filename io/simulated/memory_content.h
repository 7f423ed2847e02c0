// Owns: the bytes of one file in memory, in pages that copies share.
// Must never: change a page that a copy may see. A written page is a new page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace varve::io {

/// The unit in bytes in which memory is shared and written back.
inline constexpr std::size_t kPageBytes = 4096;

/// A sequence of bytes with value semantics. A copy costs one pointer for each 256 KiB. Distinct threads may use
/// distinct objects, even if one is a copy of another.
class MemoryContent {
 public:
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Fills `bytes` from `offset`. Bytes past the end read as zeros.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;
  /// Overwrites bytes, and extends the content if the range passes the end. A gap reads as zeros.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Shortens the content, or extends it with zeros.
  void resize(std::uint64_t size_bytes);

  std::vector<std::byte> to_bytes() const;

  /// Returns whether both have the same page of memory, or none, at `index`. If so, its bytes are equal; otherwise they
  /// may be equal.
  bool shares_page(const MemoryContent& other, std::uint64_t index) const noexcept {
    return page(index) == other.page(index);
  }

  /// Compares bytes. Shared pages are equal and not compared.
  friend bool operator==(const MemoryContent& left, const MemoryContent& right) noexcept;

 private:
  using Page = std::array<std::byte, kPageBytes>;
  static constexpr std::size_t kChunkPages = 64;
  // An absent page or chunk is all zeros.
  struct Chunk {
    std::array<std::shared_ptr<const Page>, kChunkPages> pages;
  };

  const Page* page(std::uint64_t index) const noexcept;
  std::shared_ptr<Chunk> copy_of_chunk(std::size_t index) const;
  void write_in_chunk(Chunk& chunk, std::uint64_t offset_in_chunk, std::span<const std::byte> bytes);

  std::uint64_t size_bytes_ = 0;
  std::vector<std::shared_ptr<const Chunk>> chunks_;
};

}  // namespace varve::io
