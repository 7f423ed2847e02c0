// Owns: how an arena asks the system for memory: in blocks, and in a block of its own for each large piece.
// Must never: count memory that it did not get.

#include "engine/memory/arena.h"

#include <cassert>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "engine/base/file_scale.h"

namespace varve::engine {

namespace {

constexpr std::size_t kBlockBytes = SpareBlocks::kBlockBytes;
/// A piece above this many bytes gets a block of its own, so at most a third of a block is wasted. The largest entity
/// that the service allows is below it.
constexpr std::size_t kLargePieceBytes = kBlockBytes / 3;
/// The first blocks are small and the system maps them page by page, so a store with few writes holds little memory.
/// Later blocks consist of large pages, which spare most of the address translation of a search in the memtable.
constexpr std::size_t kSmallBlocks = 4;
constexpr std::size_t kSmallBlockBytes = (1 << 20) / kFileScale;

}  // namespace

Arena::~Arena() {
  if (!budget_) return;
  for (io::PageMemory& block : blocks_) {
    if (block.bytes().size() == kBlockBytes) budget_->keep_spare(std::move(block));
  }
}

char* Arena::take(std::size_t bytes) noexcept {
  assert(bytes > 0);
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) return nullptr;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;

  char* piece = nullptr;
  if (rounded <= left_bytes_) {
    piece = at_;
    at_ += rounded;
    left_bytes_ -= rounded;
  } else {
    piece = add_block(rounded);
    if (piece == nullptr) return nullptr;
  }
  used_bytes_.store(used_bytes() + rounded, std::memory_order_relaxed);  // One thread at a time writes it.
  return piece;
}

/// Returns a block for a piece of this size; an empty one if the system has no memory.
io::PageMemory Arena::block_for(std::size_t piece_bytes) noexcept {
  const bool is_large = piece_bytes > kLargePieceBytes;
  if (!is_large && budget_) {
    if (io::PageMemory spare = budget_->take_spare(); !spare.bytes().empty()) return spare;
  }
  const bool is_small = blocks_.size() < kSmallBlocks && piece_bytes <= kSmallBlockBytes / 4;
  Result<io::PageMemory> block = io::PageMemory::map(is_large   ? piece_bytes
                                                     : is_small ? kSmallBlockBytes
                                                                : kBlockBytes);
  return block.ok() ? *std::move(block) : io::PageMemory();
}

/// Adds a block and returns its start, which is the piece that the block is added for. Returns null without memory.
char* Arena::add_block(std::size_t piece_bytes) noexcept {
  try {
    // The place in the list is reserved first, so nothing can fail once the block exists.
    if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 8);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  io::PageMemory block = block_for(piece_bytes);
  const std::span<std::byte> bytes = block.bytes();
  if (bytes.empty()) return nullptr;
  char* const start = reinterpret_cast<char*>(bytes.data());
  blocks_.push_back(std::move(block));
  allocated_bytes_.store(allocated_bytes() + bytes.size(), std::memory_order_relaxed);
  if (piece_bytes <= kLargePieceBytes) {  // Beside a large piece, the current block goes on serving small ones.
    at_ = start + piece_bytes;
    left_bytes_ = bytes.size() - piece_bytes;
  }
  return start;
}

}  // namespace varve::engine
