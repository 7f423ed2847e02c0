// Owns: the blocks of table files that are kept in memory, for all stores that share the cache, and the bound on them.
// Must never: hold more than its budget, pinned blocks apart; make a reader of a cached block wait or take a lock; know
// what a block means.
//
// C1  what is found under a name is what was inserted under it, whole. Names are never used twice.
// C2  used_bytes <= bytes_max at every moment, but while set_bytes_max() runs. Every byte that a block or a table takes
//     counts: slots of blocks with all that is in them, index, ghosts, and what was evicted and waits for readers to
//     look away. Beside it the memory of blocks has free slots: block_memory.h bounds them, a shard moves blocks to
//     keep to that, and span_source.h bounds what is kept for the next who takes a span.
// C3  what is found under a guard stays in memory while the guard lives; what is pinned, while it is pinned.
//
// Two ways to read. A point read opens a ReadGuard, finds, looks, and closes it again:
//
//   { BlockCache::ReadGuard guard(cache);
//     if (const CachedBlock* block = guard.find(file_id, offset)) return search(*block); }    // copies what it needs
//   Result<Block> block = cache.allocate(file_id, offset, raw_bytes, type);    // no guard is open during the read
//   ... read, verify, decompress into block->content() ...
//   const PinnedBlock pinned = cache.insert(file_id, offset, *std::move(block), BlockPriority::kNormal);
//   return search(*pinned);
//
// A guard costs one change of a counter that no other thread uses, and its end another. A cursor, which stays in a
// block for long and waits between two steps, pins it: one change of the block's counter, once a block.
//
// The cache is divided into shards by the hash of a block's name. A shard's mutex is taken to insert, to evict, to
// erase, and by the last pin of a block that was evicted; never to find or to pin. No I/O and no user's code runs under
// it.
//
// The object itself, some 9 KiB, belongs to whoever made it and counts as nobody's budget.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/cache/cache_shard.h"
#include "engine/cache/cached_block.h"
#include "engine/cache/read_epoch.h"
#include "engine/cache/span_source.h"
#include "io/scheduler.h"

namespace varve::engine {

struct BlockCacheFigures {
  std::uint64_t bytes_max = 0;
  /// Bytes of blocks and tables, without pinned_bytes.
  std::uint64_t used_bytes = 0;
  /// Beyond the budget: blocks that only pins keep in memory. Such were evicted while pinned, or found no room.
  std::uint64_t pinned_bytes = 0;
  /// What blocks of a kilobyte to sixteen take of the memory that they share, and what is held of the system for them.
  std::uint64_t slot_bytes = 0;
  std::uint64_t span_bytes = 0;
  std::uint64_t block_count = 0;
  /// Finds and pins, since the cache was made; those under a guard are told when it ends.
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  /// Blocks that left for want of room.
  std::uint64_t evictions = 0;
  /// Blocks that were copied to another place, so that their memory could be given back.
  std::uint64_t moves = 0;
  /// Inserts that left the block outside: too large, no room while a guard was open, or no memory for the index.
  std::uint64_t refusals = 0;
};

/// Any thread.
class BlockCache {
 public:
  /// `bytes_max` may be zero: then nothing is cached. The number of shards follows from it, for good: one for every 8
  /// MiB, at most kShardsMax. A block of more than half a shard's share is never cached. `scheduler` outlives the
  /// cache.
  BlockCache(io::Scheduler& scheduler, std::uint64_t bytes_max) noexcept;
  /// Nothing is pinned and no guard is open.
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  static constexpr std::size_t kShardsMax = 16;

  /// For a file that is being opened: a number that no other file of this cache had or will have. Not zero.
  std::uint64_t next_file_id() noexcept { return next_file_id_.fetch_add(1, std::memory_order_relaxed); }

  /// Keeps what it finds in memory while it lives. On the stack, for a moment, on one thread. Under a guard nobody
  /// locks, waits, does I/O, inserts, or lets go of a pin; what does those things here asserts it, and others may by
  /// ReadEpoch::held_by_this_thread(). Seam calls of a test's own are harmless. Guards may nest.
  class ReadGuard {
   public:
    explicit ReadGuard(BlockCache& cache) noexcept : cache_(cache), guard_(cache.epoch_) {}

    /// Null when it is not cached. Valid while the guard lives.
    const CachedBlock* find(std::uint64_t file_id, std::uint64_t offset) noexcept;
    /// Keeps a block that this guard found beyond the guard. Empty when it was evicted since, and freed but for us:
    /// then it is used up under the guard, or read again.
    PinnedBlock pin(const CachedBlock& found) noexcept;

   private:
    BlockCache& cache_;
    ReadEpoch::Guard guard_;
  };

  /// Empty when it is not cached.
  PinnedBlock pin(std::uint64_t file_id, std::uint64_t offset) noexcept;
  /// The same for a walk that comes to the block at `next_offset` before long: if that one is cached, its beginning is
  /// fetched from memory meanwhile.
  PinnedBlock pin(std::uint64_t file_id, std::uint64_t offset, std::uint64_t next_offset) noexcept;

  /// Whether it is cached now; does not count as a find, nor keep the block any longer.
  bool contains(std::uint64_t file_id, std::uint64_t offset) noexcept;

  /// A block for what is about to be read, under whose name it will be inserted. Its content, of `size_bytes` bytes, is
  /// not initialised. Errors: kOutOfMemory.
  Result<Block> allocate(std::uint64_t file_id, std::uint64_t offset, std::uint32_t size_bytes,
                         std::uint8_t type) noexcept;

  /// Adds a block that was just read, and pins it. Where another thread was faster, its block stays and is returned,
  /// and this one is freed. Never fails: where there is no room (or no memory for the index) the block is returned all
  /// the same, held by its pin alone. `block` was allocated under this name.
  PinnedBlock insert(std::uint64_t file_id, std::uint64_t offset, Block block, BlockPriority priority) noexcept;

  /// The file is gone, or closed for good, and nobody will read it again. Its blocks leave before this returns; their
  /// bytes come back with them, or, where a guard was open somewhere, with the next insert or erase in their shard,
  /// pinned ones with their last pin. Reads the index once, 11 to 25 bytes for each block in the cache.
  void erase_file(std::uint64_t file_id) noexcept;

  /// Shrinks at once: returns when used_bytes is within the new bound. Waits for open guards.
  void set_bytes_max(std::uint64_t bytes_max) noexcept;
  std::uint64_t bytes_max() const noexcept { return bytes_max_.load(std::memory_order_relaxed); }

  /// Sums over shards and threads: each figure exact when nothing goes on, and C2 holds for used_bytes always.
  BlockCacheFigures figures() const noexcept;

  /// Asserts what the shards promise; reads the header of every block.
  void check_invariants() const noexcept;

 private:
  using Shards = std::array<CacheShard, kShardsMax>;

  PinnedBlock pin_under(ReadEpoch::Guard& guard, BlockKey key) noexcept;
  CacheShard& shard_of(std::uint64_t hash) noexcept { return shards_[(hash >> kShardShift) & shard_mask_]; }

  static constexpr int kShardShift = 60;
  static_assert(kShardsMax == std::size_t{1} << (64 - kShardShift));

  // Read by all, changed by none, or hardly ever.
  const std::uint64_t shard_mask_;
  std::atomic<std::uint64_t> bytes_max_{0};

  ReadEpoch epoch_;
  SpanSource spans_;
  Shards shards_;

  alignas(kCacheLineBytes) std::atomic<std::uint64_t> next_file_id_{1};
  io::Mutex resizing_;  // one set_bytes_max at a time; before a shard's mutex
};

}  // namespace varve::engine
