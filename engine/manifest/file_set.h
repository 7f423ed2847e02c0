// Owns: the contents of a store as one value: log segments, tables, dead ids, ceilings, options.
// Must never: change other than by an edit, or be called a version (that word is reserved for commits).
//
// F1  a number names at most one file, is not zero, and is below file_number_ceiling.
// F2  a segment is announced before it is closed, and closed at most once; closed segments' last versions rise with
//     their numbers (a segment without commits has last version zero).
// F3  an edit removes only members of the set.
// F4  the version ceiling, the oldest readable version and the flushed version never go back.
// F5  every value file that a table points into is in the set.
//
// A copy of a set shares its files, and an edit costs what it changes, however many files the set has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/shared_map.h"
#include "engine/manifest/table_map.h"
#include "format/log/file_header.h"
#include "format/log/manifest_edit.h"
#include "varve/result.h"

namespace varve::engine {

using format::CommitVersion;

struct LiveSegment {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  bool closed = false;
  // Set only for a closed segment:
  std::uint64_t size_bytes = 0;
  CommitVersion last_version = 0;
  /// Unknown even fields of the segment's two entries, byte for byte.
  std::string announced_unknown_fields;
  std::string closed_unknown_fields;
  /// Set only for a segment that is not closed: its unwritten places may contain bytes of an earlier segment.
  bool is_recycled = false;

  /// Enters that the segment's file ends at its footer. So no old byte of a recycled file is left.
  void close(const format::ClosedSegment& end) {
    closed = true;
    size_bytes = end.size_bytes;
    last_version = end.last_version;
    closed_unknown_fields = end.unknown_fields;
    is_recycled = false;
  }
  bool operator==(const LiveSegment&) const = default;
};

struct FileSet {
  format::StoreId store_id{};
  format::Features features;
  format::StoredOptions stored_options;
  std::uint64_t file_number_ceiling = 1;
  CommitVersion version_ceiling = 0;
  CommitVersion oldest_readable_version = 0;
  /// Every commit up to it is in the table files. The log up to it is not needed.
  CommitVersion flushed_version = 0;
  std::optional<format::CommitTag> commit_tag;
  std::optional<format::LogBufferEntry> log_buffer;
  std::map<std::uint64_t, LiveSegment> segments;
  TableMap tables;
  SharedMap<format::ValueFileEntry> value_files;
  std::vector<format::DeadId> dead_ids;
  std::vector<format::TableId> loading_ids;
  /// Unknown even fields of edits, by tag and, for each tag, in the order of the edits. A rewritten manifest keeps
  /// them.
  std::string unknown_fields;

  /// Applies an edit completely, or changes nothing. Checks what the edit touches: the rest of the set was checked by
  /// earlier edits. Errors: kCorruption (the edit contradicts the set; the message names the reason).
  Status apply(const format::ManifestEdit& edit);
  /// Returns the edit that makes this set from an empty one.
  format::ManifestEdit as_edit() const;
  /// Returns whether the set contains this file. A value file has the name of a log segment.
  bool names(format::FileType type, std::uint64_t number) const;

  bool operator==(const FileSet&) const = default;
};

}  // namespace varve::engine
