// Owns: which blocks of a table file that is being written go into the cache, and what becomes of them if the file is
// given up.
// Must never: fail the writing of a file, or show a block of a file that is not named yet to anybody.
//
// A flush or a compaction moves data from where it can be read at once (a memtable, cached blocks) to a file of which
// nothing is cached. Without this, every reader of what was hot would go to the disk once for each block of the new
// file. So a data block is put into the cache if at least half of the entries it is made of came from memory; and the
// filter and index of a run if any of its data blocks was. What a run that is copied whole had in the cache, the copy
// has there too. New blocks come into the cache as such that were read once: what nobody asks for leaves early and
// drives out nothing that is in use (eviction_order.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tables/table_file.h"
#include "format/block/block_observer.h"

namespace varve::engine {

/// One thread at a time.
class FreshBlocks final : public format::BlockObserver {
 public:
  /// For the file of that number, which `files` was not told of yet; they outlive this. Throws std::bad_alloc.
  FreshBlocks(TableFiles& files, std::uint64_t number);
  /// Takes the blocks out of the cache again unless the file was finished.
  ~FreshBlocks() override;
  FreshBlocks(const FreshBlocks&) = delete;
  FreshBlocks& operator=(const FreshBlocks&) = delete;

  /// An entry was added to the block at hand.
  void count_entry(bool was_in_memory) noexcept {
    ++entries_;
    if (was_in_memory) ++from_memory_;
  }
  void take(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept override;
  /// A run was copied, and a block of it was cached where it came from: it stays cached.
  void take_copied(format::BlockType type, std::uint64_t offset, std::string_view content) noexcept {
    insert(type, offset, content);
  }
  /// The file is whole. From now on it is for TableFiles::discard() to give it up.
  void finish() noexcept { finished_ = true; }

 private:
  void insert(format::BlockType type, std::uint64_t offset, std::string_view content) noexcept;

  TableFiles& files_;
  const std::uint64_t number_;
  const std::uint64_t cache_id_;
  std::uint64_t entries_ = 0;      // of the block at hand
  std::uint64_t from_memory_ = 0;  // of those
  bool run_is_hot_ = false;
  bool finished_ = false;
};

}  // namespace varve::engine
