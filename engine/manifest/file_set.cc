// Owns: checking and applying edits to a file set.
// Must never: leave a set half edited, or trust an edit that the set can contradict.
#include "engine/manifest/file_set.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <type_traits>
#include <utility>

#include "format/bytes/tagged_fields.h"
#include "format/log/file_header.h"

namespace varve::engine {
namespace {

Status contradiction(std::string_view thing, std::uint64_t number, std::string_view what) {
  return Status::corruption(
      std::string("edit: ").append(thing).append(" ").append(std::to_string(number)).append(" ").append(what));
}

/// Removes from a map of any kind.
template <typename Map>
Status remove_entries(const std::vector<std::uint64_t>& removed, std::string_view thing, Map& entries) {
  for (const std::uint64_t number : removed) {
    if (!entries.erase(number)) return contradiction(thing, number, "is removed, but does not exist");  // F3
  }
  return Status();
}

template <typename Member>
void apply_if_present(const std::optional<Member>& change, Member& member) {
  if (change.has_value()) member = *change;
}

Status raise(const std::optional<CommitVersion>& change, std::string_view thing, CommitVersion& member) {
  if (!change.has_value()) return Status();
  if (*change < member) return contradiction(thing, *change, "is below its previous value");  // F4
  member = *change;
  return Status();
}

Status apply_scalars(const format::ManifestEdit& edit, FileSet& set) {
  if (edit.store_id.has_value()) {
    if (set.store_id != format::StoreId{} && set.store_id != *edit.store_id) {
      return Status::corruption("edit: the store id changes");
    }
    set.store_id = *edit.store_id;
  }
  apply_if_present(edit.features, set.features);
  apply_if_present(edit.stored_options, set.stored_options);
  // It may fall, because a clean close records the exact next number. F1 is checked below.
  apply_if_present(edit.file_number_ceiling, set.file_number_ceiling);
  if (Status raised = raise(edit.version_ceiling, "version ceiling", set.version_ceiling); !raised.ok()) return raised;
  if (Status raised = raise(edit.oldest_readable_version, "oldest readable version", set.oldest_readable_version);
      !raised.ok()) {
    return raised;
  }
  if (Status raised = raise(edit.flushed_version, "flushed version", set.flushed_version); !raised.ok()) return raised;
  if (edit.commit_tag.has_value()) {
    if (set.commit_tag.has_value() && edit.commit_tag->version < set.commit_tag->version) {
      return contradiction("commit tag of version", edit.commit_tag->version, "is older than the previous one");
    }
    set.commit_tag = edit.commit_tag;
  }
  if (edit.log_buffer.has_value()) {
    set.log_buffer = edit.log_buffer;
    if (edit.log_buffer->number == 0) set.log_buffer.reset();
  }
  return Status();
}

Status close_segment(const format::ClosedSegment& closed, std::map<std::uint64_t, LiveSegment>& segments) {
  const auto found = segments.find(closed.number);
  if (found == segments.end())
    return contradiction("segment", closed.number, "is closed, but was not announced");  // F2
  LiveSegment& segment = found->second;
  if (segment.closed) return contradiction("segment", closed.number, "is closed twice");  // F2
  segment.close(closed);
  return Status();
}

Status apply_segments(const format::ManifestEdit& edit, FileSet& set) {
  for (const format::AnnouncedSegment& announced : edit.announced_segments) {
    LiveSegment segment;
    segment.number = announced.number;
    segment.seed = announced.seed;
    segment.announced_unknown_fields = announced.unknown_fields;
    segment.is_recycled = announced.is_recycled;
    if (!set.segments.emplace(announced.number, std::move(segment)).second) {
      return contradiction("segment", announced.number, "is announced twice");
    }
  }
  for (const format::ClosedSegment& closed : edit.closed_segments) {
    if (Status done = close_segment(closed, set.segments); !done.ok()) return done;
  }
  return remove_entries(edit.removed_segments, "segment", set.segments);
}

template <typename Id, typename Matches>
Status remove_id(std::vector<Id>& ids, std::string_view thing, const Matches& matches) {
  const auto found = std::find_if(ids.begin(), ids.end(), matches);
  if (found == ids.end()) {
    return Status::corruption(std::string("edit: ").append(thing).append(" is removed, but does not exist"));  // F3
  }
  ids.erase(found);
  return Status();
}

Status apply_ids(const format::ManifestEdit& edit, FileSet& set) {
  for (const format::DeadId& added : edit.added_dead_ids) {
    const auto same = [&](const format::DeadId& dead) { return dead.prefix == added.prefix; };
    if (std::any_of(set.dead_ids.begin(), set.dead_ids.end(), same)) {
      return Status::corruption("edit: a dead id is added twice");
    }
    set.dead_ids.push_back(added);
  }
  for (const std::string& removed : edit.removed_dead_ids) {
    const auto same = [&](const format::DeadId& dead) { return dead.prefix == removed; };
    if (Status done = remove_id(set.dead_ids, "a dead id", same); !done.ok()) return done;
  }
  for (const format::TableId added : edit.added_loading_ids) {
    if (std::find(set.loading_ids.begin(), set.loading_ids.end(), added) != set.loading_ids.end()) {
      return Status::corruption("edit: a loading id is added twice");
    }
    set.loading_ids.push_back(added);
  }
  for (const format::TableId removed : edit.removed_loading_ids) {
    const auto same = [&](format::TableId id) { return id == removed; };
    if (Status done = remove_id(set.loading_ids, "a loading id", same); !done.ok()) return done;
  }
  return Status();
}

Status add_value_files(const std::vector<format::ValueFileEntry>& added, FileSet& set) {
  for (const format::ValueFileEntry& entry : added) {
    if (!set.value_files.emplace(entry.number, entry)) {
      return contradiction("value file", entry.number, "already exists");
    }
  }
  return Status();
}

Status apply_files(const format::ManifestEdit& edit, FileSet& set) {
  if (const std::optional<std::uint64_t> twice = set.tables.add(edit.added_tables); twice.has_value()) {
    return contradiction("table file", *twice, "already exists");
  }
  if (Status done = remove_entries(edit.removed_tables, "table file", set.tables); !done.ok()) return done;
  for (const format::MovedTable& move : edit.moved_tables) {
    if (!set.tables.move(move.number, move.level)) {
      return contradiction("table file", move.number, "is moved, but does not exist");  // F3
    }
  }
  if (Status done = add_value_files(edit.added_value_files, set); !done.ok()) return done;
  return remove_entries(edit.removed_value_files, "value file", set.value_files);
}

/// Checks a number that an edit added.
Status check_number(std::uint64_t number, const FileSet& set) {
  const bool is_buffer = set.log_buffer.has_value() && set.log_buffer->number == number;
  const int names = static_cast<int>(set.segments.contains(number)) + static_cast<int>(set.tables.contains(number)) +
                    static_cast<int>(set.value_files.contains(number)) + static_cast<int>(is_buffer);
  if (number == 0) return contradiction("file number", number, "names no file");
  return names > 1 ? contradiction("file number", number, "names two files") : Status();
}

Status check_numbers(const format::ManifestEdit& edit, const FileSet& set) {  // F1
  std::uint64_t largest = std::max(set.tables.largest_number(), set.value_files.largest_number());
  if (!set.segments.empty()) largest = std::max(largest, set.segments.rbegin()->first);
  if (set.log_buffer.has_value()) largest = std::max(largest, set.log_buffer->number);
  if (largest >= set.file_number_ceiling && largest > 0) {
    return contradiction("file number", largest, "is not below the ceiling");
  }
  const auto check_all = [&set](const auto& added) {
    for (const auto& entry : added) {
      if (Status checked = check_number(entry.number, set); !checked.ok()) return checked;
    }
    return Status();
  };
  if (Status checked = check_all(edit.announced_segments); !checked.ok()) return checked;
  if (Status checked = check_all(edit.added_tables); !checked.ok()) return checked;
  if (Status checked = check_all(edit.added_value_files); !checked.ok()) return checked;
  return edit.log_buffer.has_value() && edit.log_buffer->number != 0 ? check_number(edit.log_buffer->number, set)
                                                                     : Status();
}

Status check_last_versions(const FileSet& set) {  // F2
  CommitVersion last = 0;
  for (const auto& [number, segment] : set.segments) {
    if (segment.last_version == 0) continue;
    if (segment.last_version <= last) {
      return contradiction("segment", number, "does not end above the versions of earlier segments");
    }
    last = segment.last_version;
  }
  return Status();
}

Status points_nowhere(std::uint64_t table, std::uint64_t value_file) {
  return contradiction("table file", table,
                       "points into value file " + std::to_string(value_file) + ", which does not exist");
}

Status check_value_files(const format::ManifestEdit& edit, const FileSet& set) {  // F5
  for (const format::TableFileEntry& table : edit.added_tables) {
    if (!set.tables.contains(table.number)) continue;
    for (const format::ValueFileUse& use : table.value_files) {
      if (!set.value_files.contains(use.number)) return points_nowhere(table.number, use.number);
    }
  }
  for (const std::uint64_t removed : edit.removed_value_files) {
    if (!set.tables.value_sums().contains(removed)) continue;
    for (const auto& [number, table] : set.tables) {  // only to name a table
      for (const format::ValueFileUse& use : table.value_files) {
        if (use.number == removed) return points_nowhere(number, removed);
      }
    }
  }
  return Status();
}

/// Merges both lists of fields by tag; for equal tags, those of `earlier` come first. Both come from a FieldReader.
std::string merge_fields(std::string_view earlier, std::string_view later) {
  std::vector<format::Field> fields;
  for (const std::string_view list : {earlier, later}) {
    format::FieldReader reader(list);
    while (!reader.at_end()) {
      const Result<format::Field> field = reader.next();
      assert(field.ok());
      fields.push_back(*field);
    }
  }
  std::stable_sort(fields.begin(), fields.end(),
                   [](const format::Field& left, const format::Field& right) { return left.tag < right.tag; });
  std::string merged;
  for (const format::Field& field : fields) format::append_field(merged, field.tag, field.value);
  return merged;
}

template <typename Map>
auto entries_of(const Map& files) {
  std::vector<std::decay_t<decltype(files.begin()->second)>> entries;
  entries.reserve(files.size());
  for (const auto& [number, entry] : files) entries.push_back(entry);
  return entries;
}

}  // namespace

Status FileSet::apply(const format::ManifestEdit& edit) {
  FileSet next = *this;
  if (Status done = apply_scalars(edit, next); !done.ok()) return done;
  if (Status done = apply_segments(edit, next); !done.ok()) return done;
  if (Status done = apply_files(edit, next); !done.ok()) return done;
  if (Status done = apply_ids(edit, next); !done.ok()) return done;
  if (Status checked = check_numbers(edit, next); !checked.ok()) return checked;
  if (Status checked = check_last_versions(next); !checked.ok()) return checked;
  if (Status checked = check_value_files(edit, next); !checked.ok()) return checked;
  if (!edit.unknown_fields.empty()) next.unknown_fields = merge_fields(unknown_fields, edit.unknown_fields);
  *this = std::move(next);
  return Status();
}

format::ManifestEdit FileSet::as_edit() const {
  format::ManifestEdit edit;
  edit.store_id = store_id;
  edit.features = features;
  edit.file_number_ceiling = file_number_ceiling;
  edit.version_ceiling = version_ceiling;
  edit.oldest_readable_version = oldest_readable_version;
  if (flushed_version > 0) edit.flushed_version = flushed_version;
  edit.stored_options = stored_options;
  edit.commit_tag = commit_tag;
  edit.log_buffer = log_buffer;
  for (const auto& [number, segment] : segments) {
    edit.announced_segments.push_back({number, segment.seed, segment.announced_unknown_fields, segment.is_recycled});
    if (!segment.closed) continue;
    edit.closed_segments.push_back({number, segment.size_bytes, segment.last_version, segment.closed_unknown_fields});
  }
  edit.added_tables = entries_of(tables);
  edit.added_value_files = entries_of(value_files);
  edit.added_dead_ids = dead_ids;
  edit.added_loading_ids = loading_ids;
  edit.unknown_fields = unknown_fields;
  return edit;
}

bool FileSet::names(format::FileType type, std::uint64_t number) const {
  switch (type) {
    case format::FileType::kLogSegment: return segments.contains(number) || value_files.contains(number);
    case format::FileType::kLogBuffer: return log_buffer.has_value() && log_buffer->number == number;
    case format::FileType::kTable: return tables.contains(number);
    case format::FileType::kValueFile:
    case format::FileType::kRoot:
    case format::FileType::kWarmList:
    case format::FileType::kManifest: return false;
  }
  return false;
}

}  // namespace varve::engine
