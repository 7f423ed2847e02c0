// Owns: the entries of a table file's indexes: of blocks in an index partition, of runs in the top index, of table ids
// in the table directory. All three are sorted blocks.
// Must never: hand out a number that was not bounded by what it is a part of.
//
// Value of an entry in an index partition, whose key is a separator: not below the block's last key, and below the next
// block's first one (of the run, or of the next run) unless that block continues the same key; the run's last one is
// the run's largest key. The base version is the run's smallest version.
//   varint offset of the block from the run's start . varint bytes of it . varint entries .
//   varint (smallest version - base) . varint (largest - smallest version) .
//   tagged fields: 2 varint 1 if all entries are deletes and the next block of the run has none of their keys
//                  4 bytes, its statistics (block_statistics.h); only if the next block of the run has none of its keys
//
// Value of an entry in the top index, whose key is the run's largest sort key; base: the file's smallest version.
//   varint offset of the run . varint bytes of its data blocks . varint bytes of its filter partition .
//   varint bytes of its index partition . varint data blocks . varint entries . varint tombstones .
//   varint raw bytes of its data blocks . varint key bytes . varint value bytes .
//   varint (smallest version - base) . varint (largest - smallest version) . sized smallest sort key .
//   tagged fields: 1 u64 content hash of its dictionary; not when none
//                  2 varint entries that are not the first of their key; not when zero, or not counted
//                  4 bytes, its statistics (block_statistics.h); not when nothing is told
//                  5 bytes, the value files that its puts point into (value_pointer.h); not when none
//
// Value of an entry in the table directory, whose key is a table id (8 bytes, big-endian); base version zero.
//   varint offset of the first block with an entry of it . varint entries . varint tombstones .
//   varint bytes of the blocks whose first entry is of it . tagged fields, none defined
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "format/keys/value_pointer.h"
#include "varve/result.h"

namespace varve::format {

/// A run has at most this many data blocks.
inline constexpr std::uint64_t kRunBlocksMax = 256;

/// A data block, as its run's index partition tells of it.
struct BlockEntry {
  /// From the start of the run.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entry_count = 0;
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = 0;
  std::string_view unknown_fields;
  /// All its entries are deletes, and the next block of the run has none of their keys: a walk that knows of nothing
  /// older they could hide passes it unread.
  bool only_deletes = false;
  /// The next block of the run has none of its keys, and `statistics` tell of its puts.
  bool has_statistics = false;
  std::string_view statistics;
};
void append_block_entry(std::string& out, const BlockEntry& entry, CommitVersion base_version);
/// Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<BlockEntry> decode_block_entry(std::string_view value, CommitVersion base_version);

/// A run, as the top index tells of it. Its filter partition follows its data blocks, its index partition the filter.
struct RunEntry {
  std::string smallest_key;
  std::string largest_key;
  std::uint64_t offset = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t block_count = 0;
  std::uint64_t entry_count = 0;
  std::uint64_t tombstone_count = 0;
  /// Entries that follow another one of their key within the run: what compaction may find to be hidden. Zero also
  /// where they were not counted.
  std::uint64_t repeated_count = 0;
  /// Of the data blocks, decompressed.
  std::uint64_t raw_bytes = 0;
  /// Of all entries' sort keys, and of all puts' values as they stand in the blocks.
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = 0;
  std::optional<std::uint64_t> dictionary_hash;
  std::string statistics;
  ValueFileUses value_files;
  std::string unknown_fields;

  BlockHandle filter() const noexcept { return {offset + data_bytes, filter_bytes}; }
  BlockHandle index() const noexcept { return {offset + data_bytes + filter_bytes, index_bytes}; }
  std::uint64_t bytes() const noexcept { return data_bytes + filter_bytes + index_bytes; }
  std::uint64_t end() const noexcept { return offset + bytes(); }
  bool operator==(const RunEntry&) const = default;
};
void append_run_entry(std::string& out, const RunEntry& run, CommitVersion base_version);
/// Checks what an entry must hold on its own: at least one block and one entry, framed keys in order, sizes that add
/// up to no overflow. Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<RunEntry> decode_run_entry(std::string_view key, std::string_view value, CommitVersion base_version);

/// What all of them name together.
ValueFileUses value_files_of(const std::vector<RunEntry>& runs);

/// What a file holds of one table.
struct DirectoryEntry {
  TableId table = 0;
  /// Of the first block with an entry of it.
  std::uint64_t offset = 0;
  std::uint64_t entry_count = 0;
  std::uint64_t tombstone_count = 0;
  /// Of the blocks whose first entry is of it.
  std::uint64_t bytes = 0;
  std::string unknown_fields;
  bool operator==(const DirectoryEntry&) const = default;
};
/// The content of a table directory. There is at least one table (asserted), and ids rise (asserted).
std::string encode_directory(const std::vector<DirectoryEntry>& tables);
/// Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<std::vector<DirectoryEntry>> decode_directory(std::string_view content);

}  // namespace varve::format
