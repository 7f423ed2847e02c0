// Owns: the blocks of table files kept in memory, for all stores that share the cache, and the bound on their bytes.
// Must never: hold more than its budget, except pinned blocks; make a reader of a cached block wait or take a lock;
// know the meaning of a block.
//
// C1  The block found under a name is the block inserted under that name, complete. Names are never used twice.
// C2  used_bytes <= bytes_max at every moment, except while set_bytes_max() or add_beside() runs. Every byte that a
//     block or a table takes counts. These are the slots of blocks with their content, the index, the ghosts, and
//     evicted blocks that wait for readers to finish. Free slots and free spans do not count. block_memory.h bounds the
//     free slots; a shard moves blocks to keep that bound. span_source.h bounds the free spans kept for reuse.
// C3  A block found under a guard stays in memory while the guard lives. A pinned block stays in memory while it is
//     pinned.
//
// There are two ways to read. A point read opens a ReadGuard, finds the block, searches it, and closes the guard:
//
//     { BlockCache::ReadGuard guard(cache);
//       if (const CachedBlock* block = guard.find(file_id, offset)) return search(*block); }    // copies the result
//     Result<Block> block = cache.allocate(file_id, offset, raw_bytes, type);    // no guard is open during the read
//     ... read, verify, decompress into block->content() ...
//     const PinnedBlock pinned = cache.insert(file_id, offset, *std::move(block), BlockPriority::kNormal);
//     return search(*pinned);
//
// A guard costs two changes of a counter, at its start and its end; no other thread uses that counter. A cursor stays
// in a block for long and waits between two steps, so it pins the block. That costs one change of the block's counter
// for each block.
//
// The cache is divided into shards by the hash of a block's name. Inserting, evicting and erasing take a shard's mutex;
// so does the last pin of an evicted block. Finding and pinning never take it. No I/O and no caller's code runs under
// it.
//
// The object itself has about 9 KiB, which belong to its creator and count in no budget.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/cache/cache_link.h"
#include "engine/cache/cache_shard.h"
#include "engine/cache/cached_block.h"
#include "engine/cache/read_epoch.h"
#include "engine/cache/span_source.h"
#include "io/scheduler.h"

namespace varve::engine {

/// A cached block, as list() found it.
struct ListedBlock {
  std::uint64_t file_id = 0;
  std::uint64_t offset = 0;
  /// The block was found again after its insertion, or it leads to data.
  bool is_proven = false;
};

struct BlockCacheFigures {
  std::uint64_t bytes_max = 0;
  /// Bytes of blocks and tables, without pinned_bytes.
  std::uint64_t used_bytes = 0;
  /// Bytes counted by add_beside().
  std::uint64_t beside_bytes = 0;
  /// Bytes beyond the budget: blocks that only pins keep in memory. They were evicted while pinned, or found no room.
  std::uint64_t pinned_bytes = 0;
  /// Bytes of shared spans that blocks of 1 to 16 KiB take, and bytes held from the system for these spans.
  std::uint64_t slot_bytes = 0;
  std::uint64_t span_bytes = 0;
  std::uint64_t block_count = 0;
  /// Finds and pins since the cache was created. Those under a guard are counted when the guard ends.
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  /// Blocks removed for lack of room.
  std::uint64_t evictions = 0;
  /// Blocks copied to another place, so that their span could be freed.
  std::uint64_t moves = 0;
  /// Inserts that left the block outside the cache. Causes: a block that is too large; no room while a guard was open;
  /// no memory for the index; a passing block (kPassing) and a full cache.
  std::uint64_t refusals = 0;
};

/// Thread-safe.
class BlockCache {
 public:
  /// If `bytes_max` is zero, nothing is cached. The number of shards is fixed from it: one for every 8 MiB, rounded
  /// down to a power of two, at most kShardsMax. A block above half a shard's share is never cached. `scheduler`
  /// outlives the cache.
  BlockCache(io::Scheduler& scheduler, std::uint64_t bytes_max) noexcept;
  /// No block may be pinned and no guard may be open.
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  static constexpr std::size_t kShardsMax = 16;

  /// Returns a number for a file that is being opened. No other file of this cache ever has that number. It is not
  /// zero.
  std::uint64_t next_file_id() noexcept { return next_file_id_.fetch_add(1, std::memory_order_relaxed); }

  /// Keeps each block that it finds in memory while the guard lives. A guard is on the stack of one thread, briefly.
  /// Under a guard, code must not lock, wait, do I/O, insert, or release a pin. The functions of the cache that do so
  /// assert it; other code can check ReadEpoch::held_by_this_thread(). Calls that a test makes at a seam do no harm.
  /// Guards may nest.
  class ReadGuard {
   public:
    explicit ReadGuard(BlockCache& cache) noexcept : cache_(cache), guard_(cache.epoch_) {}

    /// Returns the block, valid while the guard lives. Returns null if the block is not cached.
    const CachedBlock* find(std::uint64_t file_id, std::uint64_t offset) noexcept;
    /// Returns the block that the link points to, valid while the guard lives. Returns null if it points to none, which
    /// counts as nothing: the caller then finds the block by its name.
    const CachedBlock* find(const CacheLink& link) noexcept;

    // For a caller that finds several blocks side by side. Neither counts as a find.
    /// Prefetches from memory what prefetch() reads.
    void prefetch_place(std::uint64_t file_id, std::uint64_t offset) noexcept;
    /// Prefetches the start of the block from memory, if the block is cached.
    void prefetch(std::uint64_t file_id, std::uint64_t offset) noexcept;

    /// Pins a block that this guard found, so that it stays after the guard. Returns an empty pin if the block was
    /// evicted since and has no other holder. Then the caller finishes with the block under the guard, or reads it
    /// again.
    PinnedBlock pin(const CachedBlock& found) noexcept;

   private:
    BlockCache& cache_;
    ReadEpoch::Guard guard_;
  };

  /// Returns an empty pin if the block is not cached.
  PinnedBlock pin(std::uint64_t file_id, std::uint64_t offset) noexcept;
  /// Pins like the function above, for a scan that will soon need the block at `next_offset`. If that block is cached,
  /// its start is prefetched from memory.
  PinnedBlock pin(std::uint64_t file_id, std::uint64_t offset, std::uint64_t next_offset) noexcept;

  /// Returns whether the block is cached now. Does not count as a find, and does not prolong the block's stay.
  bool contains(std::uint64_t file_id, std::uint64_t offset) noexcept;

  /// Returns the cached blocks, without prolonging their stay. Locks one shard after another, each for the time that it
  /// takes to visit its blocks. May throw std::bad_alloc.
  std::vector<ListedBlock> list() const;

  /// Allocates a block for a coming read; it will be inserted under this name. Its content of `size_bytes` bytes is not
  /// initialised. Errors: kOutOfMemory.
  Result<Block> allocate(std::uint64_t file_id, std::uint64_t offset, std::uint32_t size_bytes,
                         std::uint8_t type) noexcept;

  /// Adds a block that was just read, and pins it. If another thread inserted the block first, that block is returned
  /// and this one is freed. Never fails: if there is no room, or no memory for the index, only the returned pin holds
  /// the block. `block` was allocated under this name.
  PinnedBlock insert(std::uint64_t file_id, std::uint64_t offset, Block block, BlockPriority priority) noexcept;

  /// Makes the link point to the block, if the block is cached and no other link points to it. The link is cleared when
  /// the block leaves the cache. It must be for this block alone. Not called under a guard.
  void link(std::uint64_t file_id, std::uint64_t offset, CacheLink& link) noexcept;
  /// Clears the link, which was for this block. Called before the link is destroyed, when no reader uses it any more.
  void unlink(std::uint64_t file_id, std::uint64_t offset, CacheLink& link) noexcept;

  /// Removes all blocks of a file. The file is deleted or closed for good, and is never read again. The blocks leave
  /// the cache before this returns, and usually their bytes are freed then. If a guard was open, the next insert or
  /// erase in the shard frees them. The bytes of a pinned block are freed with its last pin. Reads the index once: 11
  /// to 25 bytes for each block in the cache.
  void erase_file(std::uint64_t file_id) noexcept;

  /// Notes that readers find the file from now on. Its blocks of the priority kSuccessor, which waited for this, take
  /// their places among the visited blocks. Reads the index once, as erase_file() does.
  void begin_file(std::uint64_t file_id) noexcept;

  /// Counts memory in the budget that is not of blocks, for example the indexes of open table files. Blocks have the
  /// rest of bytes_max, and at least half of it. May evict blocks, and then waits for open guards.
  void add_beside(std::uint64_t bytes) noexcept;
  /// Ends the count of memory that is freed. Blocks get its room with a later call of add_beside(). Never waits.
  void remove_beside(std::uint64_t bytes) noexcept { beside_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// Sets the bound. Returns when used_bytes is within it, so it waits for open guards.
  void set_bytes_max(std::uint64_t bytes_max) noexcept;
  std::uint64_t bytes_max() const noexcept { return bytes_max_.load(std::memory_order_relaxed); }

  /// Returns sums over shards and threads. Each figure is exact if no operation is in progress. C2 holds for used_bytes
  /// at any time.
  BlockCacheFigures figures() const noexcept;

  /// Asserts the invariants of the shards. Reads the header of every block.
  void check_invariants() const noexcept;

 private:
  using Shards = std::array<CacheShard, kShardsMax>;

  PinnedBlock pin_under(ReadEpoch::Guard& guard, BlockKey key) noexcept;
  CacheShard& shard_of(std::uint64_t hash) noexcept { return shards_[(hash >> kShardShift) & shard_mask_]; }

  void divide_budget() noexcept VARVE_REQUIRES(resizing_);

  /// The budgets of the shards follow beside_bytes_ in steps of this part of bytes_max.
  static constexpr std::uint64_t kBesideSteps = 256;
  static constexpr int kShardShift = 60;
  static_assert(kShardsMax == std::size_t{1} << (64 - kShardShift));

  // Readers read these fields, which change rarely or never.
  const std::uint64_t shard_mask_;
  std::atomic<std::uint64_t> bytes_max_{0};

  ReadEpoch epoch_;
  SpanSource spans_;
  Shards shards_;

  alignas(kCacheLineBytes) std::atomic<std::uint64_t> next_file_id_{1};
  std::atomic<std::uint64_t> beside_bytes_{0};
  std::atomic<std::uint64_t> divided_beside_bytes_{0};  // the value when the budget was divided
  io::Mutex resizing_;  // one division of the budget at a time; locked before a shard's mutex
};

}  // namespace varve::engine
