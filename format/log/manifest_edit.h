// Owns: one change to the contents of a store. The first edit of a manifest is the whole state at the manifest's
// creation.
// Must never: record a decision that belongs to the log alone (a drop), except as a copy derived from the log.
//
// A manifest is a file header (type 2) and records (log_record.h, type 4). Each record's durable_upto is the length of
// the manifest that was known durable before it. A record is appended only after its predecessor is durable, so a valid
// record after an invalid one is corruption. An edit consists of tagged fields. A list repeats its tag. A struct is a
// nested set of tagged fields.
//
//   1 store id                 3 features (three u64)     5 file number ceiling       7 version ceiling
//   9 oldest readable version 11 stored options          13 commit tag               15 log buffer
//  17 segment announced       19 segment closed          21 segment removed
//  23 table file added        25 table file removed      27 dead id added            29 dead id removed
//  31 loading id added        33 loading id removed      35 value file added         37 value file removed
//  39 flushed version         41 table moved
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/ends.h"
#include "format/keys/sort_key.h"
#include "format/keys/value_pointer.h"
#include "format/log/root.h"
#include "varve/result.h"

namespace varve::format {

/// A log segment that is announced before its first record. Fields: 1 number, 3 seed, 5 recycled (1; left out if not).
struct AnnouncedSegment {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::string unknown_fields;
  /// The file was a segment of another number before. Until the segment is closed, it may contain old bytes.
  bool is_recycled = false;
  bool operator==(const AnnouncedSegment&) const = default;
};

/// A segment that ends at its footer. Fields: 1 number, 3 size in bytes, 5 last version.
struct ClosedSegment {
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
  CommitVersion last_version = 0;
  std::string unknown_fields;
  bool operator==(const ClosedSegment&) const = default;
};

/// The live log buffer. Number zero means that there is no log buffer any more. Fields: 1 number, 3 seed.
struct LogBufferEntry {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::string unknown_fields;
  bool operator==(const LogBufferEntry&) const = default;
};

/// A table file. Fields:
/// - 1 level, 3 number, 5 seed, 7 size, 9 content hash of the whole file,
/// - 11 smallest and 13 largest sort key, 15 entries, 17 tombstones, 19 smallest and 21 largest version,
/// - 23 first and 25 last table id, 27 adopted version, 28 origin, 29 value files in use (value_pointer.h),
/// - 31 ends of its entries (ends.h), left out if none has an end.
struct TableFileEntry {
  std::uint32_t level = 0;
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t content_hash = 0;
  std::string smallest_key;
  std::string largest_key;
  std::uint64_t entry_count = 0;
  std::uint64_t tombstone_count = 0;
  CommitVersion smallest_version = 0;
  CommitVersion largest_version = 0;
  TableId first_table = 0;
  TableId last_table = 0;
  /// Replaces the versions inside the file, if the file was adopted from elsewhere.
  std::optional<CommitVersion> adopted_version;
  /// The source of an adopted file. Empty for the store's own files.
  std::string origin;
  /// The value files that its entries point into.
  ValueFileUses value_files;
  Ends ends;
  std::string unknown_fields;
  bool operator==(const TableFileEntry&) const = default;
};

/// A table file that moves to another level unchanged. Fields: 1 number, 3 level.
struct MovedTable {
  std::uint64_t number = 0;
  std::uint32_t level = 0;
  std::string unknown_fields;
  bool operator==(const MovedTable&) const = default;
};

/// A value file: a closed log segment that is kept for the values in it. Fields: 1 number, 3 seed, 5 size.
struct ValueFileEntry {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::uint64_t size_bytes = 0;
  std::string unknown_fields;
  bool operator==(const ValueFileEntry&) const = default;
};

/// A retired id of which bytes remain. Fields: 1 prefix (4 or 8 bytes), 3 drop version.
struct DeadId {
  std::string prefix;
  CommitVersion drop_version = 0;
  std::string unknown_fields;
  bool operator==(const DeadId&) const = default;
};

/// Options that change stored bytes or results. They are chosen when the store is created and equal at every open.
/// Fields: 1 default durability (1 sync, 2 buffered), 3 retention of old versions in ticks, 5 the options of the model
/// above, left out if there are none (at most kModelOptionsBytesMax bytes).
inline constexpr std::size_t kModelOptionsBytesMax = 1024;
struct StoredOptions {
  std::uint64_t default_durability = 1;
  std::uint64_t retention_ticks = 0;
  std::string model_options;
  std::string unknown_fields;
  bool operator==(const StoredOptions&) const = default;
};

/// The last commit tag, which is kept when the log segment that contains it is deleted. Fields: 1 version, 3 bytes.
struct CommitTag {
  CommitVersion version = 0;
  std::string bytes;
  std::string unknown_fields;
  bool operator==(const CommitTag&) const = default;
};

struct ManifestEdit {
  std::optional<StoreId> store_id;
  std::optional<Features> features;
  /// Every file number is below it.
  std::optional<std::uint64_t> file_number_ceiling;
  /// The greatest version that any reader may have seen before the log segments that are still live.
  std::optional<CommitVersion> version_ceiling;
  std::optional<CommitVersion> oldest_readable_version;
  std::optional<StoredOptions> stored_options;
  std::optional<CommitTag> commit_tag;
  std::optional<LogBufferEntry> log_buffer;
  std::vector<AnnouncedSegment> announced_segments;
  std::vector<ClosedSegment> closed_segments;
  std::vector<std::uint64_t> removed_segments;
  std::vector<TableFileEntry> added_tables;
  std::vector<std::uint64_t> removed_tables;
  std::vector<DeadId> added_dead_ids;
  std::vector<std::string> removed_dead_ids;
  std::vector<TableId> added_loading_ids;
  std::vector<TableId> removed_loading_ids;
  std::vector<ValueFileEntry> added_value_files;
  std::vector<std::uint64_t> removed_value_files;
  /// Every commit up to it is in table files, so replay skips it.
  std::optional<CommitVersion> flushed_version;
  std::vector<MovedTable> moved_tables;
  /// Unknown even fields, byte for byte. Their tags rise.
  std::string unknown_fields;

  bool operator==(const ManifestEdit&) const = default;
};

std::string encode_manifest_edit(const ManifestEdit& edit);
/// Errors: kCorruption; kUnsupported (an unknown odd tag, which the message names).
Result<ManifestEdit> decode_manifest_edit(std::string_view bytes);

}  // namespace varve::format
