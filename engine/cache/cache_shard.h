// Owns: one part of the block cache: its index, its order of eviction, its share of the budget.
// Must never: hold more than its share, except pinned blocks; free memory that a guard may see; wait for a reader in an
// insert.
//
// H1  used <= budget whenever the mutex is free, except while set_budget() runs.
// H2  A block is in the order of eviction and in the index, or in neither.
// H3  Each byte taken for a block or a table counts in used or in pinned until it is given back. Used: the cached
//     blocks, the index, the ghosts, and unlinked memory that waits for guards to end. Pinned: blocks that only pins
//     keep, and those of them that wait. A block counts with its whole slot. Free slots have a bound of their own
//     (block_memory.h): if more slots are free, blocks are moved.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/cache/block_index.h"
#include "engine/cache/block_memory.h"
#include "engine/cache/cache_link.h"
#include "engine/cache/cached_block.h"
#include "engine/cache/eviction_order.h"
#include "engine/cache/read_epoch.h"
#include "engine/cache/retired_blocks.h"
#include "engine/cache/span_source.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Thread-safe.
class CacheShard {
 public:
  CacheShard(io::Scheduler& scheduler, ReadEpoch& epoch, SpanSource& spans) noexcept;
  ~CacheShard();  // no block is pinned, and no thread reads
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;

  /// Returns the block or null. Called under a guard of the epoch; the result is valid while the guard lives.
  BlockNode* find(BlockKey key, std::uint64_t hash) const noexcept {
    const BlockIndex* const index = index_.load(std::memory_order_seq_cst);
    return index == nullptr ? nullptr : index->find(key, hash);
  }
  /// Prefetches the start of a block from memory if the block is cached. Called under a guard.
  void prefetch(BlockKey key, std::uint64_t hash) const noexcept {
    if (const BlockIndex* const index = index_.load(std::memory_order_seq_cst); index != nullptr) {
      index->prefetch(key, hash);
    }
  }
  /// Prefetches the place in the index where a search for the block begins. Called under a guard.
  void prefetch_place(std::uint64_t hash) const noexcept {
    if (const BlockIndex* const index = index_.load(std::memory_order_seq_cst); index != nullptr) {
      index->prefetch_bucket(hash);
    }
  }
  /// Pins a block found under a guard that still lives. Returns an empty pin if the block was evicted meanwhile and has
  /// no other holder.
  static PinnedBlock pin(BlockNode& node) noexcept { return PinnedBlock(node.try_pin() ? &node : nullptr); }

  // Not called under a guard, since these functions lock.
  /// Returns a block to fill. Errors: kOutOfMemory.
  Result<Block> allocate(std::uint32_t size_bytes, std::uint8_t type) noexcept;
  /// Frees a block that was allocated and not inserted.
  void discard(BlockNode& node) noexcept;
  /// Inserts and pins the block. If another thread inserted a block of this name first, returns that block. If there is
  /// no room, returns this block, pinned but not cached.
  PinnedBlock insert(BlockKey key, std::uint64_t hash, Block block, BlockPriority priority) noexcept;
  /// Makes the link point to the block, if the block is cached and has no link.
  void link(BlockKey key, std::uint64_t hash, CacheLink& link) noexcept;
  void unlink(CacheLink& link) noexcept;
  void erase_file(std::uint64_t file_id) noexcept;
  void begin_file(std::uint64_t file_id) noexcept;
  /// Calls `visit` with the name of each cached block, and whether the block is proven (ListedBlock). `visit` runs under
  /// the mutex, and allocates nothing.
  template <typename Visit>
  void for_each(const Visit& visit) const noexcept {
    const io::MutexGuard guard(mutex_);
    order_.for_each([&visit](const BlockNode& node) {
      visit(node.key, node.queue != QueueName::kSmall || node.visited.load(std::memory_order_relaxed) != 0);
    });
  }
  /// Sets the budget. Returns when used_bytes() is within it, so it waits for open guards.
  void set_budget(std::uint64_t bytes) noexcept;
  /// Handles the last unpin of a block that the cache no longer holds.
  void let_go(BlockNode& node) noexcept;

  // Each figure is exact; two figures may be of different moments.
  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t pinned_bytes() const noexcept { return pinned_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t block_count() const noexcept { return block_count_.load(std::memory_order_relaxed); }
  std::uint64_t evictions() const noexcept { return evictions_.load(std::memory_order_relaxed); }
  std::uint64_t moves() const noexcept { return moves_.load(std::memory_order_relaxed); }
  std::uint64_t refusals() const noexcept { return refusals_.load(std::memory_order_relaxed); }

  /// Returns the bytes in slots: of used blocks, pinned blocks, and blocks being filled.
  std::uint64_t slot_bytes() const noexcept { return slot_bytes_.load(std::memory_order_relaxed); }

  /// Asserts H1, H2 and K1. Reads the header of every block.
  void check_invariants() const noexcept;

 private:
  using Figure = std::atomic<std::uint64_t>;

  /// Publishes the figures when an operation ends.
  class Change;

  bool admit(BlockNode& node, std::uint64_t hash, BlockPriority priority) noexcept VARVE_REQUIRES(mutex_);
  bool has_room(std::uint64_t bytes) const noexcept VARVE_REQUIRES(mutex_);
  bool make_slot() noexcept VARVE_REQUIRES(mutex_);
  bool make_room(std::uint64_t bytes) noexcept VARVE_REQUIRES(mutex_);
  bool evict_one() noexcept VARVE_REQUIRES(mutex_);
  void detach(BlockNode& node) noexcept VARVE_REQUIRES(mutex_);
  void give_up(BlockNode& node) noexcept VARVE_REQUIRES(mutex_);
  void gather_free_memory(std::uint64_t moves_max) noexcept VARVE_REQUIRES(mutex_);
  void move(BlockNode& from, BlockNode& to) noexcept VARVE_REQUIRES(mutex_);
  /// The link of `node`, if it has one, becomes that of `to`; null clears it.
  void relink(BlockNode& node, BlockNode* to) noexcept VARVE_REQUIRES(mutex_);
  bool resize_tables(std::uint64_t bucket_count) noexcept VARVE_REQUIRES(mutex_);
  void drop_tables() noexcept VARVE_REQUIRES(mutex_);
  void shrink_to_budget() noexcept VARVE_REQUIRES(mutex_);
  bool index_has_room() const noexcept VARVE_REQUIRES(mutex_);
  /// Returns the bucket count of the next larger index.
  std::uint64_t more_buckets() const noexcept VARVE_REQUIRES(mutex_);
  /// Returns the used bytes without the memory that waits for guards.
  std::uint64_t kept_bytes() const noexcept VARVE_REQUIRES(mutex_);
  std::uint64_t used_now_bytes() const noexcept VARVE_REQUIRES(mutex_) { return kept_bytes() + retired_.used_bytes(); }
  void publish_figures() noexcept VARVE_REQUIRES(mutex_);

  static constexpr std::uint64_t kTriesMax = 64;

  // Fields of the readers. Their cache line changes only when the index is replaced.
  alignas(kCacheLineBytes) std::atomic<BlockIndex*> index_{nullptr};
  ReadEpoch& epoch_;

  alignas(kCacheLineBytes) mutable io::Mutex mutex_;
  io::Condition pause_;  // never notified: only its timeout is used
  BlockIndex::Owned index_owner_ VARVE_GUARDED_BY(mutex_);
  BlockMemory memory_ VARVE_GUARDED_BY(mutex_);  // declared before the members that free blocks in their destructors
  EvictionOrder order_ VARVE_GUARDED_BY(mutex_);
  RetiredBlocks retired_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t budget_bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t held_by_pins_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // beyond the budget, not yet retired

  // Written under the mutex.
  Figure used_bytes_{0};
  Figure pinned_bytes_{0};
  Figure slot_bytes_{0};
  Figure block_count_{0};
  Figure evictions_{0};
  Figure moves_{0};
  Figure refusals_{0};
};

}  // namespace varve::engine
