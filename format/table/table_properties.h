// Owns: the properties of a table file: the counts and ranges of the whole file.
// Must never: state a figure that does not agree with the file. Deep verification counts again.
//
// Tagged fields: 1 entries, 3 tombstones, 5 smallest, 7 largest version, 9 smallest, 11 largest sort key (bytes),
// 13 runs, 15 data blocks, 17 bytes of data blocks, 19 raw bytes of data blocks, 21 key bytes, 23 value bytes,
// 25 dictionary (struct, one each: 1 content hash, 3 offset, 5 bytes of its block), 27 tables, 29 ends (bytes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/keys/ends.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::format {

/// A dictionary in the file, which has a block of its own.
struct DictionaryEntry {
  /// Content hash of the dictionary itself, without its block's frame.
  std::uint64_t content_hash = 0;
  BlockHandle block;
  std::string unknown_fields;
  bool operator==(const DictionaryEntry&) const = default;
};

struct TableProperties {
  std::uint64_t entry_count = 0;
  std::uint64_t tombstone_count = 0;
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = 0;
  std::string smallest_key;
  std::string largest_key;
  std::uint64_t run_count = 0;
  std::uint64_t block_count = 0;
  /// Sizes in bytes of the data blocks: as stored in the file, and decompressed.
  std::uint64_t data_bytes = 0;
  std::uint64_t raw_bytes = 0;
  /// Sizes in bytes of all entries' sort keys, and of all puts' values.
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  /// The dictionaries, in their order in the file.
  std::vector<DictionaryEntry> dictionaries;
  std::uint64_t table_count = 0;
  /// The ends of its entries.
  Ends ends;
  std::string unknown_fields;

  bool operator==(const TableProperties&) const = default;
};

std::string encode_table_properties(const TableProperties& properties);
/// Errors: kCorruption; kUnsupported (an unknown odd tag).
Result<TableProperties> decode_table_properties(std::string_view content);

}  // namespace varve::format
