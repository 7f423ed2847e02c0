// Owns: bringing one block of a table, or one value of a value file, from the disk into the cache.
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

/// A block, or a value that lies elsewhere, and what is needed to read it. Table and value file outlive it.
struct BlockWanted {
  const OpenTable* table = nullptr;
  format::BlockHandle handle;
  format::BlockType type = format::BlockType::kData;
  /// The one it belongs to.
  const format::RunEntry* run = nullptr;
  /// Of a value; null: it is a block.
  const OpenValueFile* values = nullptr;
  std::uint64_t value_hash = 0;

  const HeldFile& file() const noexcept { return values != nullptr ? *values->file : *table->file; }
  std::uint64_t cache_id() const noexcept { return values != nullptr ? values->cache_id : table->cache_id; }
  const NamedFile& name() const noexcept { return values != nullptr ? values->name : table->name; }
};

/// What leads to data is worth more than data.
constexpr BlockPriority priority_of(format::BlockType type) noexcept {
  return type == format::BlockType::kData ? BlockPriority::kNormal : BlockPriority::kHigh;
}

/// Any thread.
class BlockReader {
 public:
  BlockReader(io::Scheduler& scheduler, BlockCache& cache) noexcept : cache_(cache), mutex_(scheduler) {}

  BlockCache& cache() const noexcept { return cache_; }
  /// Who reads ahead of long walks; null: nobody. Told before the first walk.
  WalkAhead* ahead() const noexcept { return ahead_; }
  void set_ahead(WalkAhead* ahead) noexcept { ahead_ = ahead; }

  /// From the cache, or else from the disk, and then kept in the cache where there is room.
  /// Errors: kCorruption, kUnsupported (file and offset named), kIoError, kOutOfMemory.
  Result<PinnedBlock> get(const BlockWanted& wanted);
  /// From the disk; for what was just looked for in the cache.
  Result<PinnedBlock> read(const BlockWanted& wanted);

  // For those who read several blocks at once:

  /// Out of what was read of the file, which holds all of it; kept in the cache where there is room. Errors: as get().
  Result<PinnedBlock> take(const BlockWanted& wanted, const StoredBytes& stored);
  /// What reading takes, kept for the next one: a zstd context costs more to make than a block to decompress, and
  /// memory for many blocks more than to read them.
  struct Tools {
    format::Decompressor decompressor;
    StoredBytes stored;
  };
  /// For one who reads block after block; their bytes hold nothing. Null where memory is short.
  std::unique_ptr<Tools> lend() noexcept;
  void give_back(std::unique_ptr<Tools> tools) noexcept;
  /// Out of what these tools' bytes hold of the file, as the other; a data block comes into the cache as `priority`.
  Result<PinnedBlock> take(const BlockWanted& wanted, Tools& tools, BlockPriority priority);
  /// The same out of other bytes.
  Result<PinnedBlock> take(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools, BlockPriority priority);
  /// One more read of the disk.
  void count_read(std::uint64_t bytes) noexcept {
    reads_.fetch_add(1, std::memory_order_relaxed);
    read_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  /// Reads of the disk, and their bytes.
  std::uint64_t reads() const noexcept { return reads_.load(std::memory_order_relaxed); }
  std::uint64_t read_bytes() const noexcept { return read_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kToolsKept = 16;
  static constexpr std::size_t kBufferBytesKept = std::size_t{1} << 20;

  std::unique_ptr<Tools> take_tools();
  Result<PinnedBlock> read_with(const BlockWanted& wanted, Tools& tools);
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
