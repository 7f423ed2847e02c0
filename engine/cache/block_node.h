// Owns: the header of a block inside the cache: its name, its place in a queue, its holders.
// Must never: grow beyond a cache line, or be seen by code that only reads blocks.
//
// B1  The thread that sets the state to zero frees the memory. No thread raises the state from zero.
// B2  A block that was ever in the index is freed only through the epochs (read_epoch.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/cache/cached_block.h"

namespace varve::engine {

class CacheLink;
class CacheShard;
struct BlockSpan;

/// The name of a block: the file's number in this cache, and the block's offset in the file.
struct BlockKey {
  std::uint64_t file_id = 0;
  std::uint64_t offset = 0;
  bool operator==(const BlockKey&) const = default;
};

/// Returns the hash of a name. The index uses the low 32 bits for a place and bits 32 to 39 for its tag. The cache uses
/// the four uppermost bits for the shard.
inline std::uint64_t hash_of(BlockKey key) noexcept {
  // Multiply and shift, twice. The constants are those of SplitMix64, whose mixing is good in all bits. Source: G.
  // Steele et al., "Fast splittable pseudorandom number generators".
  std::uint64_t x = key.file_id * 0x9E3779B97F4A7C15 + key.offset;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

enum class QueueName : std::uint8_t { kSmall, kMain, kHigh, kComing };

struct BlockNode : CachedBlock {
  // The state counts the holders of the block: the cache, if the lowest bit is set, and any number of pins.
  static constexpr std::uint32_t kCached = 1;
  static constexpr std::uint32_t kOnePin = 2;

  BlockNode(std::uint32_t size_bytes, std::uint8_t block_type, BlockSpan& home) noexcept
      : CachedBlock(size_bytes, block_type), span(&home) {}

  char* content_begin() noexcept { return reinterpret_cast<char*>(this) + kHeaderBytes; }

  /// Marks a hit. Writes only if that changes the mark, so that readers of a hot block can share its cache line.
  void visit() noexcept {
    if (visited.load(std::memory_order_relaxed) == 0) visited.store(1, std::memory_order_relaxed);
  }
  bool take_visit() noexcept {
    if (visited.load(std::memory_order_relaxed) == 0) return false;
    visited.store(0, std::memory_order_relaxed);
    return true;
  }
  /// Adds a pin, and returns true if the block has a holder. Called under a guard, or under the shard's mutex while the
  /// block is cached.
  bool try_pin() noexcept {
    std::uint32_t before = state.load(std::memory_order_relaxed);
    do {
      if (before == 0) return false;  // B1
    } while (
        !state.compare_exchange_weak(before, before + kOnePin, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }

  BlockKey key;
  BlockSpan* span;             // the source of its memory, which also names the shard
  BlockNode* newer = nullptr;  // in its queue, or the next in a list of blocks that wait to be freed
  BlockNode* older = nullptr;
  CacheLink* link = nullptr;  // points to this block (K1); changed under the shard's mutex
  std::atomic<std::uint32_t> state{0};
  std::atomic<std::uint8_t> visited{0};
  QueueName queue = QueueName::kSmall;
  bool indexed = false;        // was ever in the index: B2
  bool beyond_budget = false;  // its bytes count as pinned, not as used
};

}  // namespace varve::engine
