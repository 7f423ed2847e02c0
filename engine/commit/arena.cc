// Owns: how an arena asks the system for memory: in blocks, a large piece in a block of its own.
// Must never: count what it did not get.

#include "engine/commit/arena.h"

#include <cassert>
#include <limits>
#include <new>

#include "engine/files/file_scale.h"
#include "io/large_pages.h"

namespace varve::engine {

namespace {

constexpr std::size_t kBlockBytes = (1 << 20) / kFileScale;
constexpr std::size_t kLargeBlockBytes = io::kLargePageBytes / kFileScale;
/// A piece above this gets a block of its own, so that at most a quarter of a block is ever left unused at its end.
constexpr std::size_t kLargePieceBytes = kBlockBytes / 4;
/// The first blocks are touched page by page: a store that is hardly written to holds hardly any memory. The others are
/// made of large pages, which spares a look into a tree of the size of a memtable much of its address translation.
constexpr std::size_t kSmallBlocks = 4;

}  // namespace

char* Arena::take(std::size_t bytes) noexcept {
  assert(bytes > 0);
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) return nullptr;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;

  char* piece = nullptr;
  if (rounded <= left_bytes_) {
    piece = at_;
    at_ += rounded;
    left_bytes_ -= rounded;
  } else if (rounded > kLargePieceBytes) {
    piece = allocate_block(rounded);  // The block begun goes on serving small pieces.
    if (piece == nullptr) return nullptr;
  } else {
    const std::size_t block_bytes = blocks_.size() < kSmallBlocks ? kBlockBytes : kLargeBlockBytes;
    piece = allocate_block(block_bytes);
    if (piece == nullptr) return nullptr;
    at_ = piece + rounded;
    left_bytes_ = block_bytes - rounded;
  }
  used_bytes_.store(used_bytes() + rounded, std::memory_order_relaxed);  // One thread at a time writes it.
  return piece;
}

char* Arena::allocate_block(std::size_t bytes) noexcept {
  try {
    // The place in the list first: then nothing can fail once the block is there.
    if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 8);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  Result<io::PageMemory> block = io::PageMemory::map(bytes);
  if (!block.ok()) return nullptr;
  char* const start = reinterpret_cast<char*>(block->bytes().data());
  blocks_.push_back(*std::move(block));
  allocated_bytes_.store(allocated_bytes() + bytes, std::memory_order_relaxed);
  return start;
}

}  // namespace varve::engine
