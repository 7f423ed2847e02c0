// Owns: blocks of made-up files for the tests of the block cache, whose content follows from their names.
// Must never: know more of the cache than its door.
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

/// One word of the content; no two names have the same at the same place.
inline std::uint64_t word_at(BlockKey key, std::uint64_t place) {
  return (key.file_id * 1'000'003 + key.offset) * 0x9E3779B97F4A7C15 + place * 0xD1B54A32D192ED03;
}

inline std::uint64_t aux_of(BlockKey key) {
  return word_at(key, ~std::uint64_t{0});
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
  block.set_aux(aux_of(key));
  return block;
}

/// Whether the block is the one that block_for() made under this name, every byte of it.
inline bool is_whole(const CachedBlock& block, BlockKey key) {
  if (block.type() != kTestType || block.aux() != aux_of(key)) return false;
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

/// As a point read does it: false when the block is not cached. Its content is checked.
inline bool is_found(BlockCache& cache, BlockKey key) {
  BlockCache::ReadGuard guard(cache);
  const CachedBlock* const block = guard.find(key.file_id, key.offset);
  if (block == nullptr) return false;
  EXPECT_TRUE(is_whole(*block, key)) << "file " << key.file_id << ", offset " << key.offset;
  return true;
}

/// As a reader does it: finds the block, or reads and inserts it. True when it was found.
inline bool read_through(BlockCache& cache, BlockKey key, std::uint32_t size_bytes,
                         BlockPriority priority = BlockPriority::kNormal) {
  if (is_found(cache, key)) return true;
  const PinnedBlock pinned = insert(cache, key, size_bytes, priority);
  EXPECT_TRUE(is_whole(*pinned, key)) << "file " << key.file_id << ", offset " << key.offset;
  return false;
}

}  // namespace varve::engine
