// Owns: counting the entries of each table in a row of blocks, for the table directory.
// Must never: know whether the blocks are built in their file or apart.
#pragma once

#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "format/block/data_block.h"
#include "format/keys/sort_key.h"
#include "format/table/table_entries.h"

namespace varve::format {

/// The tables of entries that come in the order of their keys.
class DirectoryTally {
 public:
  /// Counts an entry of the block that begins at `block_offset`. `begins_block` says that it is the block's first one.
  void add(const DataEntry& entry, std::uint64_t block_offset, bool begins_block) {
    const TableId table = table_id_of(entry.key);
    if (tables_.empty() || tables_.back().table != table) tables_.push_back({table, block_offset, 0, 0, 0, ""});
    ++tables_.back().entry_count;
    if (entry.kind == Kind::kDelete) ++tables_.back().tombstone_count;
    if (begins_block) block_table_ = table;
  }
  /// Counts the bytes of the block of the last entries.
  void end_block(std::uint64_t bytes) noexcept {
    // Searches backward: only tables that began within the block follow its first table.
    auto table = tables_.rbegin();
    while (table->table != block_table_) ++table;
    table->bytes += bytes;
  }
  /// Counts the tables of a run that follows. The run was counted at the offset `from`, and is now at `to`.
  void append(const std::vector<DirectoryEntry>& run, std::uint64_t from, std::uint64_t to) {
    for (const DirectoryEntry& entry : run) {
      if (tables_.empty() || tables_.back().table != entry.table) {
        tables_.push_back({entry.table, entry.offset - from + to, 0, 0, 0, ""});
      }
      tables_.back().entry_count += entry.entry_count;
      tables_.back().tombstone_count += entry.tombstone_count;
      tables_.back().bytes += entry.bytes;
    }
  }

  const std::vector<DirectoryEntry>& tables() const noexcept { return tables_; }
  /// Returns the tables, and begins again. The last block has ended.
  std::vector<DirectoryEntry> take() noexcept { return std::exchange(tables_, {}); }

 private:
  std::vector<DirectoryEntry> tables_;
  TableId block_table_ = 0;  // of the first entry of the present block
};

}  // namespace varve::format
