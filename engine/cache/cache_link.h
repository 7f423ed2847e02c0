// Owns: a pointer to one cached block, for readers that need that block for many keys. It saves them the search of the
// index.
// Must never: point to a block that left the cache, or keep a block in the cache.
//
// K1  A link points to a block only while the index has the block. The cache sets and clears both under the mutex of
//     the block's shard. If it evicts or moves the block, it clears or changes the link before it gives the block up.
//
// So a link is to its readers what the index is: what they find in it under a guard stays while the guard lives.
#pragma once

#include <atomic>

namespace varve::engine {

struct BlockNode;

/// Must be unlinked (BlockCache::unlink) before it is destroyed.
class CacheLink {
 public:
  CacheLink() noexcept = default;
  CacheLink(const CacheLink&) = delete;
  CacheLink& operator=(const CacheLink&) = delete;

  /// Returns whether the link points to a block at this moment.
  bool is_set() const noexcept { return block_.load(std::memory_order_seq_cst) != nullptr; }

 private:
  friend class BlockCache;
  friend class CacheShard;

  // Sequentially consistent, as the index: see E2 in read_epoch.h.
  std::atomic<BlockNode*> block_{nullptr};
};

}  // namespace varve::engine
