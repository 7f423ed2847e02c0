// Owns: reading and writing shared pages.
// Must never: keep bytes past the end that a later growth would show.

#include "io/simulated/memory_content.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace varve::io {

namespace {

/// Returns the size of the part of [offset, offset + size) that is in the unit that contains `offset`.
std::size_t part_in_unit(std::uint64_t offset, std::size_t size, std::uint64_t unit) noexcept {
  return static_cast<std::size_t>(std::min<std::uint64_t>(size, unit - offset % unit));
}

}  // namespace

const MemoryContent::Page* MemoryContent::page(std::uint64_t index) const noexcept {
  const std::uint64_t chunk = index / kChunkPages;
  if (chunk >= chunks_.size() || chunks_[chunk] == nullptr) return nullptr;
  return chunks_[chunk]->pages[index % kChunkPages].get();
}

void MemoryContent::read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
  while (!bytes.empty()) {
    const std::size_t part = part_in_unit(offset, bytes.size(), kPageBytes);
    // Pages past the end are absent or zero, because resize() ensures it.
    if (const Page* const source = page(offset / kPageBytes); source != nullptr) {
      std::memcpy(bytes.data(), source->data() + offset % kPageBytes, part);
    } else {
      std::memset(bytes.data(), 0, part);
    }
    bytes = bytes.subspan(part);
    offset += part;
  }
}

void MemoryContent::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  constexpr std::uint64_t kChunkBytes = kChunkPages * kPageBytes;
  if (offset + bytes.size() > size_bytes_) resize(offset + bytes.size());
  while (!bytes.empty()) {
    const std::size_t part = part_in_unit(offset, bytes.size(), kChunkBytes);
    const std::size_t index = static_cast<std::size_t>(offset / kChunkBytes);
    const std::shared_ptr<Chunk> chunk = copy_of_chunk(index);
    write_in_chunk(*chunk, offset % kChunkBytes, bytes.first(part));
    chunks_[index] = chunk;
    bytes = bytes.subspan(part);
    offset += part;
  }
}

std::shared_ptr<MemoryContent::Chunk> MemoryContent::copy_of_chunk(std::size_t index) const {
  return chunks_[index] == nullptr ? std::make_shared<Chunk>() : std::make_shared<Chunk>(*chunks_[index]);
}

void MemoryContent::write_in_chunk(Chunk& chunk, std::uint64_t offset_in_chunk, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = part_in_unit(offset_in_chunk, bytes.size(), kPageBytes);
    std::shared_ptr<const Page>& slot = chunk.pages[offset_in_chunk / kPageBytes];
    const std::shared_ptr<Page> changed = slot == nullptr ? std::make_shared<Page>() : std::make_shared<Page>(*slot);
    std::memcpy(changed->data() + offset_in_chunk % kPageBytes, bytes.data(), part);
    slot = changed;
    bytes = bytes.subspan(part);
    offset_in_chunk += part;
  }
}

void MemoryContent::resize(std::uint64_t size_bytes) {
  constexpr std::uint64_t kChunkBytes = kChunkPages * kPageBytes;
  const std::uint64_t old_size = size_bytes_;
  if (size_bytes < old_size && size_bytes % kChunkBytes != 0) {
    // Bytes that are cut off inside the last chunk must read as zeros if the file grows again.
    const std::size_t index = static_cast<std::size_t>(size_bytes / kChunkBytes);
    if (chunks_[index] != nullptr) {
      const std::shared_ptr<Chunk> chunk = copy_of_chunk(index);
      const std::uint64_t kept = size_bytes % kChunkBytes;
      for (std::size_t i = static_cast<std::size_t>((kept + kPageBytes - 1) / kPageBytes); i < kChunkPages; ++i) {
        chunk->pages[i].reset();
      }
      if (const std::size_t in_page = static_cast<std::size_t>(kept % kPageBytes);
          in_page != 0 && chunk->pages[kept / kPageBytes] != nullptr) {
        const std::vector<std::byte> zeros(kPageBytes - in_page);
        write_in_chunk(*chunk, kept, zeros);
      }
      chunks_[index] = chunk;
    }
  }
  chunks_.resize(static_cast<std::size_t>((size_bytes + kChunkBytes - 1) / kChunkBytes));
  size_bytes_ = size_bytes;
}

std::vector<std::byte> MemoryContent::to_bytes() const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes_));
  read(0, bytes);
  return bytes;
}

bool operator==(const MemoryContent& left, const MemoryContent& right) noexcept {
  if (left.size_bytes_ != right.size_bytes_) return false;
  assert(left.chunks_.size() == right.chunks_.size());
  std::array<std::byte, kPageBytes> left_bytes;
  std::array<std::byte, kPageBytes> right_bytes;
  for (std::size_t chunk = 0; chunk < left.chunks_.size(); ++chunk) {
    if (left.chunks_[chunk] == right.chunks_[chunk]) continue;
    for (std::uint64_t i = chunk * MemoryContent::kChunkPages; i < (chunk + 1) * MemoryContent::kChunkPages; ++i) {
      if (left.page(i) == right.page(i)) continue;
      left.read(i * kPageBytes, left_bytes);
      right.read(i * kPageBytes, right_bytes);
      if (left_bytes != right_bytes) return false;
    }
  }
  return true;
}

}  // namespace varve::io
