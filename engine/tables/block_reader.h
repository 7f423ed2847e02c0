// Owns: reading one block of a table, or one value of a value file, from the disk into the cache.
// Must never: hand out a block that was not verified, or fail a read because the cache has no room.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cache/block_cache.h"
#include "engine/tables/stored_bytes.h"
#include "engine/tables/table_file.h"
#include "format/block/block.h"
#include "format/bytes/compression.h"
#include "varve/result.h"

namespace varve::engine {

class WalkAhead;

/// A block of a table, or a value of a value file, with everything needed to read it. The table and the value file
/// outlive it.
struct BlockWanted {
  const OpenTable* table = nullptr;
  format::BlockHandle handle;
  format::BlockType type = format::BlockType::kData;
  /// The run that contains the block.
  const format::RunEntry* run = nullptr;
  /// The file of a value; null if a block is wanted.
  const OpenValueFile* values = nullptr;
  std::uint64_t value_hash = 0;

  const HeldFile& file() const noexcept { return values != nullptr ? *values->file : *table->file; }
  std::uint64_t cache_id() const noexcept { return values != nullptr ? values->cache_id : table->cache_id; }
  const NamedFile& name() const noexcept { return values != nullptr ? values->name : table->name; }
};

/// Returns the cache priority of a block. Blocks that lead to data are worth more than data.
constexpr BlockPriority priority_of(format::BlockType type) noexcept {
  return type == format::BlockType::kData ? BlockPriority::kNormal : BlockPriority::kHigh;
}

/// Thread-safe.
class BlockReader {
 public:
  BlockReader(io::Scheduler& scheduler, BlockCache& cache) noexcept : cache_(cache), mutex_(scheduler) {}

  BlockCache& cache() const noexcept { return cache_; }
  /// Returns the reader-ahead of long scans; null if there is none. It is set before the first scan.
  WalkAhead* ahead() const noexcept { return ahead_; }
  void set_ahead(WalkAhead* ahead) noexcept { ahead_ = ahead; }

  /// Returns the block from the cache. If it is not cached, reads it from the disk, and caches it if there is room.
  /// Errors: kCorruption, kUnsupported (file and offset named), kIoError, kOutOfMemory.
  Result<PinnedBlock> get(const BlockWanted& wanted);
  /// Reads the block from the disk. For a block that the caller has just not found in the cache.
  Result<PinnedBlock> read(const BlockWanted& wanted);

  // For callers that read several blocks at once:

  /// Decodes the block from `stored`, which contains all of it, and caches it if there is room. A damaged block is read
  /// once more, past any cache of the file system. Errors: as get().
  Result<PinnedBlock> take(const BlockWanted& wanted, const StoredBytes& stored);
  /// The objects that a read needs, kept for reuse. Creating a zstd context costs more than decompressing a block.
  /// Allocating memory for many blocks costs more than reading them.
  struct Tools {
    format::Decompressor decompressor;
    StoredBytes stored;
  };
  /// Lends tools to a caller that reads block after block; their `stored` is empty. Returns null if memory is short.
  std::unique_ptr<Tools> lend() noexcept;
  void give_back(std::unique_ptr<Tools> tools) noexcept;
  /// Decodes a block like take() above, from the bytes in `tools`. A data block is cached with `priority`.
  Result<PinnedBlock> take(const BlockWanted& wanted, Tools& tools, BlockPriority priority);
  /// Decodes a block from `stored`, with the help of `tools`.
  Result<PinnedBlock> take(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools, BlockPriority priority);
  /// Counts one read of the disk.
  void count_read(std::uint64_t bytes) noexcept {
    reads_.fetch_add(1, std::memory_order_relaxed);
    read_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  /// Return the number of disk reads, and their bytes.
  std::uint64_t reads() const noexcept { return reads_.load(std::memory_order_relaxed); }
  std::uint64_t read_bytes() const noexcept { return read_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kToolsKept = 16;
  static constexpr std::size_t kBufferBytesKept = std::size_t{1} << 20;

  std::unique_ptr<Tools> take_tools();
  Result<PinnedBlock> read_with(const BlockWanted& wanted, Tools& tools);
  Result<PinnedBlock> take_checked(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools,
                                   BlockPriority priority);
  Result<PinnedBlock> take_with(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools,
                                BlockPriority priority);
  Result<PinnedBlock> take_value(const BlockWanted& wanted, const StoredBytes& stored, BlockPriority priority);

  BlockCache& cache_;
  WalkAhead* ahead_ = nullptr;
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<std::uint64_t> read_bytes_{0};
  io::Mutex mutex_;
  std::vector<std::unique_ptr<Tools>> tools_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
