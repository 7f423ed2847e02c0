// Owns: how an arena asks the system for memory: in blocks, a large piece in a block of its own.
// Must never: count what it did not get.

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
/// A piece above this gets a block of its own, so that at most a third of a block is ever left unused at its end. An
/// entity of the largest size that the service allows is below it.
constexpr std::size_t kLargePieceBytes = kBlockBytes / 3;
/// The first blocks are touched page by page: a store that is hardly written to holds hardly any memory. The others are
/// made of large pages, which spares a look into a tree of the size of a memtable much of its address translation.
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

/// Empty when the system has no memory.
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

/// The first piece of a block that is added for it.
char* Arena::add_block(std::size_t piece_bytes) noexcept {
  try {
    // The place in the list first: then nothing can fail once the block is there.
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
  if (piece_bytes <= kLargePieceBytes) {  // The block begun goes on serving small pieces beside a large one.
    at_ = start + piece_bytes;
    left_bytes_ = bytes.size() - piece_bytes;
  }
  return start;
}

}  // namespace varve::engine
