// Owns: blocks of made-up files for the tests of the block cache. Their names determine their content.
// Must never: use more of the cache than its public interface.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "engine/cache/block_cache.h"

namespace varve::engine {

inline constexpr std::uint8_t kTestType = 3;

/// Returns one word of the content. No two names have equal words at one place.
inline std::uint64_t word_at(BlockKey key, std::uint64_t place) {
  return (key.file_id * 1'000'003 + key.offset) * 0x9E3779B97F4A7C15 + place * 0xD1B54A32D192ED03;
}

inline Block block_for(BlockCache& cache, BlockKey key, std::uint32_t size_bytes) {
  Result<Block> allocated = cache.allocate(key.file_id, key.offset, size_bytes, kTestType);
  if (!allocated.ok()) return Block();
  Block block = *std::move(allocated);
  const std::span<char> content = block.content();
  for (std::size_t at = 0; at < content.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(key, at);
    std::memcpy(content.data() + at, &word, std::min(sizeof word, content.size() - at));
  }
  return block;
}

/// Returns whether every byte of the block is as block_for() made it under this name.
inline bool is_whole(const CachedBlock& block, BlockKey key) {
  if (block.type() != kTestType) return false;
  const std::string_view content = block.content();
  for (std::size_t at = 0; at < content.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(key, at);
    if (std::memcmp(content.data() + at, &word, std::min(sizeof word, content.size() - at)) != 0) return false;
  }
  return true;
}

inline PinnedBlock insert(BlockCache& cache, BlockKey key, std::uint32_t size_bytes,
                          BlockPriority priority = BlockPriority::kNormal) {
  return cache.insert(key.file_id, key.offset, block_for(cache, key, size_bytes), priority);
}

/// Finds a block like a point read. Returns false if it is not cached. Checks its content.
inline bool is_found(BlockCache& cache, BlockKey key) {
  BlockCache::ReadGuard guard(cache);
  const CachedBlock* const block = guard.find(key.file_id, key.offset);
  if (block == nullptr) return false;
  EXPECT_TRUE(is_whole(*block, key)) << "file " << key.file_id << ", offset " << key.offset;
  return true;
}

/// Finds a block like a reader, or reads and inserts it. Returns true if it was found.
inline bool read_through(BlockCache& cache, BlockKey key, std::uint32_t size_bytes,
                         BlockPriority priority = BlockPriority::kNormal) {
  if (is_found(cache, key)) return true;
  const PinnedBlock pinned = insert(cache, key, size_bytes, priority);
  EXPECT_TRUE(is_whole(*pinned, key)) << "file " << key.file_id << ", offset " << key.offset;
  return false;
}

}  // namespace varve::engine
