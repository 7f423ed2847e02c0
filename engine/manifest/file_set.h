// Owns: what a store consists of, as one value: log segments, tables, dead ids, ceilings, options.
// Must never: be changed other than by an edit, or be called a version (that word is the commit clock's).
//
// F1  a number names at most one file, is not zero, and is below file_number_ceiling.
// F2  a segment is announced before it is closed, and closed at most once; closed segments' last versions rise with
//     their numbers (one without commits has none, zero).
// F3  a removed thing was there.
// F4  neither the version ceiling nor the oldest readable nor the flushed version goes back.
// F5  what a table points into is a value file of the set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/log/file_header.h"
#include "format/log/manifest_edit.h"
#include "varve/result.h"

namespace varve::engine {

using format::CommitVersion;

struct LiveSegment {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  bool closed = false;
  // Of a closed one:
  std::uint64_t size_bytes = 0;
  CommitVersion last_version = 0;
  /// Unknown even fields of its two entries, as they stood.
  std::string announced_unknown_fields;
  std::string closed_unknown_fields;

  bool operator==(const LiveSegment&) const = default;
};

struct FileSet {
  format::StoreId store_id{};
  format::Features features;
  format::StoredOptions stored_options;
  std::uint64_t file_number_ceiling = 1;
  CommitVersion version_ceiling = 0;
  CommitVersion oldest_readable_version = 0;
  /// Every commit up to it is in the table files; the log's part up to it is not needed.
  CommitVersion flushed_version = 0;
  std::optional<format::CommitTag> commit_tag;
  std::optional<format::LogBufferEntry> log_buffer;
  std::map<std::uint64_t, LiveSegment> segments;
  std::map<std::uint64_t, format::TableFileEntry> tables;
  std::map<std::uint64_t, format::ValueFileEntry> value_files;
  std::vector<format::DeadId> dead_ids;
  std::vector<format::TableId> loading_ids;
  /// Unknown even fields of edits, by tag and, within one, in the order of the edits; kept when the manifest is
  /// rewritten.
  std::string unknown_fields;

  /// Applies an edit whole, or changes nothing. Errors: kCorruption (it contradicts the set; the message says how).
  Status apply(const format::ManifestEdit& edit);
  /// The edit that makes this set from an empty one.
  format::ManifestEdit as_edit() const;
  /// Whether the set holds this file. A value file is a log segment by name.
  bool names(format::FileType type, std::uint64_t number) const;

  bool operator==(const FileSet&) const = default;
};

}  // namespace varve::engine
