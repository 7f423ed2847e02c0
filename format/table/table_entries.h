// Owns: the entries of a table file's indexes: blocks in an index partition, runs in the top index, and table ids in
// the table directory. All three are sorted blocks.
// Must never: return a number without checking it against the part that contains it.
//
// An entry in an index partition has a separator as its key. The separator is not below the block's last key. It is
// below the first key of the next block, in this run or the next, unless that block continues the same key. The run's
// last separator is the run's largest key. The base version is the run's smallest version. The value:
//   varint offset of the block from the run's start . varint bytes of it . varint entries .
//   varint (smallest version - base) . varint (largest - smallest version) .
//   tagged fields: 2 varint 1 if all entries are deletes and the next block of the run has none of their keys
//                  4 bytes, its statistics (block_statistics.h); only if the next block of the run has none of its keys
//
// An entry in the top index has the run's largest sort key as its key. The base is the file's smallest version. The
// value:
//   varint offset of the run . varint bytes of its data blocks . varint bytes of its filter partition .
//   varint bytes of its index partition . varint data blocks . varint entries . varint tombstones .
//   varint raw bytes of its data blocks . varint key bytes . varint value bytes .
//   varint (smallest version - base) . varint (largest - smallest version) . sized smallest sort key .
//   tagged fields: 1 u64 content hash of its dictionary; left out if it has none
//                  2 varint entries that are not the first of their key; left out if zero or not counted
//                  4 bytes, its statistics (block_statistics.h); left out if they are empty
//                  5 bytes, the value files that its puts point into (value_pointer.h); left out if none
//                  7 bytes, the ends of its entries (ends.h); left out if none has an end
//
// An entry in the table directory has a table id (8 bytes, big-endian) as its key. The base version is zero. The value:
//   varint offset of the first block with an entry of it . varint entries . varint tombstones .
//   varint bytes of the blocks whose first entry is of it . tagged fields, none defined
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/keys/ends.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "format/keys/value_pointer.h"
#include "varve/result.h"

namespace varve::format {

/// Limit of the number of data blocks in a run.
inline constexpr std::uint64_t kRunBlocksMax = 256;

/// A data block, as described by its run's index partition.
struct BlockEntry {
  /// Offset in bytes from the start of the run.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entry_count = 0;
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = 0;
  std::string_view unknown_fields;
  /// True if all entries of the block are deletes, and the next block of the run has none of their keys. A scan skips
  /// the block without reading it if no older entries exist that the deletes could hide.
  bool only_deletes = false;
  /// True if the next block of the run has none of its keys, and `statistics` cover all of its puts.
  bool has_statistics = false;
  std::string_view statistics;
};
void append_block_entry(std::string& out, const BlockEntry& entry, CommitVersion base_version);
/// Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<BlockEntry> decode_block_entry(std::string_view value, CommitVersion base_version);
/// Decodes into `entry`, whose old content is discarded. After an error, its content is unspecified.
Status decode_block_entry(std::string_view value, CommitVersion base_version, BlockEntry& entry);

/// A run, as described by the top index. Its data blocks, its filter partition and its index partition are adjacent, in
/// this order.
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
  /// Number of entries that follow another entry of their key within the run. Compaction may find them hidden. Zero
  /// also if they were not counted.
  std::uint64_t repeated_count = 0;
  /// Size in bytes of the decompressed data blocks.
  std::uint64_t raw_bytes = 0;
  /// Sizes in bytes of all entries' sort keys, and of all puts' values as stored in the blocks.
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = 0;
  std::optional<std::uint64_t> dictionary_hash;
  std::string statistics;
  ValueFileUses value_files;
  Ends ends;
  std::string unknown_fields;

  BlockHandle filter() const noexcept { return {offset + data_bytes, filter_bytes}; }
  BlockHandle index() const noexcept { return {offset + data_bytes + filter_bytes, index_bytes}; }
  std::uint64_t bytes() const noexcept { return data_bytes + filter_bytes + index_bytes; }
  std::uint64_t end() const noexcept { return offset + bytes(); }
  bool operator==(const RunEntry&) const = default;
};
void append_run_entry(std::string& out, const RunEntry& run, CommitVersion base_version);
/// Checks the entry's own rules: at least one block and one entry, framed keys in order, and sums of sizes without
/// overflow. Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<RunEntry> decode_run_entry(std::string_view key, std::string_view value, CommitVersion base_version);

/// Returns the value files that all runs together name.
ValueFileUses value_files_of(const std::vector<RunEntry>& runs);
/// Returns the ends of all runs together.
Ends ends_of(const std::vector<RunEntry>& runs) noexcept;

/// The entries of one table in a file.
struct DirectoryEntry {
  TableId table = 0;
  /// Offset of the first block with an entry of the table.
  std::uint64_t offset = 0;
  std::uint64_t entry_count = 0;
  std::uint64_t tombstone_count = 0;
  /// Size in bytes of the blocks whose first entry is of the table.
  std::uint64_t bytes = 0;
  std::string unknown_fields;
  bool operator==(const DirectoryEntry&) const = default;
};
/// Returns the content of a table directory. There is at least one table, and ids rise (both asserted).
std::string encode_directory(const std::vector<DirectoryEntry>& tables);
/// Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<std::vector<DirectoryEntry>> decode_directory(std::string_view content);

}  // namespace varve::format
