// Owns: the choice of blocks of a new table file to put into the cache, and their removal if the file is given up.
// Must never: fail the writing of a file, or show a block to a reader before its file has a name.
//
// A flush or a compaction moves data from fast places (a memtable, cached blocks) to a file without cached blocks.
// Without this class, readers of hot data would read the disk once for each block of the new file. So a data block is
// cached if at least half of its entries came from memory. The filter and the index of a run are cached if any data
// block of the run was. If a run is copied whole, the cached blocks of the original are cached for the copy too. New
// data blocks enter the cache like blocks read once. So unused ones leave early and evict nothing that is in use
// (eviction_order.h). Data blocks of a merge succeed cached blocks. They wait until their file is published, and then take
// the rank of the blocks that leave (TableFiles::begin_blocks_of()). The file system learns which blocks are cached: once they
// leave the memory, a cache of its own is the next nearest place.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tables/table_file.h"
#include "format/block/block_observer.h"
#include "io/file.h"

namespace varve::engine {

/// Chooses the blocks of a file that is written in order. Used by one thread at a time.
class HotRule {
 public:
  /// Counts an entry that was added to the current block.
  void count_entry(bool was_in_memory) noexcept {
    ++entries_;
    if (was_in_memory) ++from_memory_;
  }
  /// Returns whether to cache the block that ends now.
  bool wants(format::BlockType type) noexcept;

 private:
  std::uint64_t entries_ = 0;      // of the current block
  std::uint64_t from_memory_ = 0;  // of those entries
  bool run_is_hot_ = false;
};

/// Used by one thread at a time.
class FreshBlocks final : public format::BlockObserver {
 public:
  /// Begins for the file `number`, which `files` does not know yet. Data blocks get the priority `data`. `files` outlives
  /// this object, and `written` the last block. Throws std::bad_alloc.
  FreshBlocks(TableFiles& files, std::uint64_t number, BlockPriority data, io::WritableFile& written);
  /// Removes the blocks from the cache, unless the file was finished.
  ~FreshBlocks() override;
  FreshBlocks(const FreshBlocks&) = delete;
  FreshBlocks& operator=(const FreshBlocks&) = delete;

  /// Counts an entry that was added to the current block.
  void count_entry(bool was_in_memory) noexcept { rule_.count_entry(was_in_memory); }
  void take(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept override;
  /// Returns whether there is a cache.
  bool has_cache() const noexcept;
  /// Caches a block of a run that is copied or made apart, because it is hot.
  void take_copied(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept {
    insert(type, place, content);
  }
  /// Reports that the file is complete. From now on only TableFiles::discard() gives it up.
  void finish() noexcept { finished_ = true; }

 private:
  void insert(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept;

  TableFiles& files_;
  io::WritableFile& written_;
  const std::uint64_t number_;
  const std::uint64_t cache_id_;
  const BlockPriority data_priority_;
  HotRule rule_;
  bool finished_ = false;
};

}  // namespace varve::engine
