// Owns: CURRENT and manifests as text, each edit entry by entry.
// Must never: apply an edit. It shows the written entries.
#include "format/log/manifest_edit.h"
#include "format/log/root.h"
#include "format/log/warm_list.h"
#include "tools/varve/inspect/inspect.h"

namespace varve::tool {

namespace {

using format::ManifestEdit;
using format::Record;
using format::RecordOutcome;

std::string hex_of(const format::StoreId& id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : id) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

InspectFields feature_fields(const format::Features& features) {
  return {hex_field("compatible", features.compatible), hex_field("read_compatible", features.read_compatible),
          hex_field("incompatible", features.incompatible)};
}

/// Returns the prefix of an id: an account, or a table.
InspectField prefix_field(std::string_view prefix) {
  std::uint64_t number = 0;
  for (const char c : prefix) number = number << 8U | static_cast<unsigned char>(c);
  return prefix.size() == 4 ? number_field("account", number) : table_field("table", number);
}

void show_single_fields(const ManifestEdit& edit, InspectOutput& out) {
  if (edit.store_id) out.part("store", {word_field("id", hex_of(*edit.store_id))});
  if (edit.features) out.part("features", feature_fields(*edit.features));
  if (edit.file_number_ceiling) out.part("file_number_ceiling", {number_field("number", *edit.file_number_ceiling)});
  if (edit.version_ceiling) out.part("version_ceiling", {version_field("version", *edit.version_ceiling)});
  if (edit.oldest_readable_version)
    out.part("oldest_readable_version", {version_field("version", *edit.oldest_readable_version)});
  if (edit.stored_options) {
    out.part("stored_options",
             {word_field("default_durability", edit.stored_options->default_durability == 1 ? "sync" : "buffered"),
              number_field("retention_ticks", edit.stored_options->retention_ticks)});
  }
  if (edit.commit_tag) {
    out.part("commit_tag",
             {version_field("version", edit.commit_tag->version), text_field("bytes", edit.commit_tag->bytes)});
  }
  if (edit.log_buffer) {
    out.part("log_buffer", {number_field("number", edit.log_buffer->number), hex_field("seed", edit.log_buffer->seed)});
  }
  if (edit.flushed_version) out.part("flushed_version", {version_field("version", *edit.flushed_version)});
}

void show_segments(const ManifestEdit& edit, InspectOutput& out) {
  for (const format::AnnouncedSegment& segment : edit.announced_segments) {
    InspectFields fields{number_field("number", segment.number), hex_field("seed", segment.seed)};
    if (segment.is_recycled) fields.push_back(number_field("recycled", 1));
    out.part("segment_announced", fields);
  }
  for (const format::ClosedSegment& segment : edit.closed_segments) {
    out.part("segment_closed", {number_field("number", segment.number), number_field("size_bytes", segment.size_bytes),
                                version_field("last_version", segment.last_version)});
  }
  for (const std::uint64_t number : edit.removed_segments)
    out.part("segment_removed", {number_field("number", number)});
}

void show_added_table(const format::TableFileEntry& table, InspectOutput& out) {
  InspectFields fields{number_field("number", table.number),
                       number_field("level", table.level),
                       number_field("size_bytes", table.size_bytes),
                       number_field("entries", table.entry_count),
                       number_field("deletions", table.tombstone_count),
                       version_field("smallest_version", table.smallest_version),
                       version_field("largest_version", table.largest_version),
                       table_field("first_table", table.first_table),
                       table_field("last_table", table.last_table),
                       hex_field("seed", table.seed),
                       hex_field("content_hash", table.content_hash)};
  if (table.adopted_version) fields.push_back(version_field("adopted_version", *table.adopted_version));
  if (!table.origin.empty()) fields.push_back(text_field("origin", table.origin));
  out.part("table_file_added", fields);
  out.part("smallest_key", key_fields(table.smallest_key));
  out.part("largest_key", key_fields(table.largest_key));
  if (table.ends.count > 0) {
    out.part("ends", {number_field("entries", table.ends.count), version_field("smallest", table.ends.smallest),
                      version_field("largest", table.ends.largest)});
  }
  for (const format::ValueFileUse& use : table.value_files) {
    out.part("points_into", {number_field("value_file", use.number), number_field("bytes", use.bytes)});
  }
}

void show_tables(const ManifestEdit& edit, InspectOutput& out) {
  for (const format::TableFileEntry& table : edit.added_tables) show_added_table(table, out);
  for (const std::uint64_t number : edit.removed_tables)
    out.part("table_file_removed", {number_field("number", number)});
  for (const format::MovedTable& moved : edit.moved_tables)
    out.part("table_file_moved", {number_field("number", moved.number), number_field("level", moved.level)});
  for (const format::ValueFileEntry& values : edit.added_value_files) {
    out.part("value_file_added", {number_field("number", values.number), hex_field("seed", values.seed),
                                  number_field("size_bytes", values.size_bytes)});
  }
  for (const std::uint64_t number : edit.removed_value_files)
    out.part("value_file_removed", {number_field("number", number)});
}

void show_ids(const ManifestEdit& edit, InspectOutput& out) {
  for (const format::DeadId& dead : edit.added_dead_ids)
    out.part("dead_id_added", {prefix_field(dead.prefix), version_field("drop_version", dead.drop_version)});
  for (const std::string& prefix : edit.removed_dead_ids) out.part("dead_id_removed", {prefix_field(prefix)});
  for (const format::TableId table : edit.added_loading_ids)
    out.part("loading_id_added", {table_field("table", table)});
  for (const format::TableId table : edit.removed_loading_ids)
    out.part("loading_id_removed", {table_field("table", table)});
}

/// Returns whether an intact record follows `offset`. Appends are sequential, so the bytes at `offset` were complete at
/// that time.
bool record_follows(std::string_view file, std::uint64_t offset, std::uint64_t seed) {
  for (std::uint64_t at = offset + format::kRecordAlignment; at < file.size(); at += format::kRecordAlignment) {
    Record record;
    Status why;
    if (format::read_record(file, at, seed, &record, &why) == RecordOutcome::kRecord) return true;
  }
  return false;
}

void judge_end(std::string_view file, std::uint64_t offset, std::uint64_t seed, const Status& why, InspectOutput& out) {
  if (offset == file.size() && offset > format::kFileHeaderBytes)
    return out.item(offset, "end", {word_field("state", "whole")});
  const Status reason = why.ok() ? Status::corruption("there is no record here") : why;
  if (why.code() == Code::kUnsupported || offset <= format::kFileHeaderBytes || record_follows(file, offset, seed))
    return out.damage(offset, reason);
  out.item(offset, "end",
           {word_field("state", "torn: the last append is not whole"), word_field("why", reason.message()),
            number_field("torn_bytes", file.size() - offset)});
}

}  // namespace

void inspect_root(std::string_view file, InspectOutput& out) {
  const Result<format::Root> root = format::decode_root(file);
  if (!root.ok()) return out.damage(std::nullopt, root.status());
  const char* states[] = {"open: in use, or left without a close", "clean: closed", "being made"};
  out.item(format::kFileHeaderBytes, "root",
           {word_field("store_id", hex_of(root->store_id)), number_field("generation", root->generation),
            word_field("state", states[static_cast<int>(root->state) - 1]),
            number_field("manifest", root->manifest_number), hex_field("manifest_seed", root->manifest_seed)});
  out.part("features", feature_fields(root->features));
  if (root->state == format::RootState::kClean) {
    out.part("final_manifest",
             {number_field("size_bytes", root->manifest_bytes), hex_field("content_hash", root->manifest_hash)});
    for (const format::FinalSegment& segment : root->segments) {
      out.part("final_segment", {number_field("number", segment.number), number_field("size_bytes", segment.size_bytes),
                                 hex_field("footer_hash", segment.footer_hash)});
    }
    out.part("last_version", {version_field("version", root->last_version)});
  }
  out.item(file.size(), "end", {word_field("state", "whole")});
}

void inspect_warm_list(std::string_view file, InspectOutput& out) {
  const Result<format::WarmList> list = format::decode_warm_list(file);
  if (!list.ok()) return out.damage(std::nullopt, list.status());
  for (const format::WarmBlocks& blocks : list->files) {
    out.item(format::kFileHeaderBytes, "blocks",
             {number_field("heat", static_cast<std::uint64_t>(blocks.heat)), number_field("file", blocks.file_number),
              hex_field("file_seed", blocks.file_seed), number_field("count", blocks.offsets.size())});
  }
  out.item(file.size(), "end", {word_field("state", "whole")});
}

void inspect_manifest(std::string_view file, const format::FileHeader& header, InspectOutput& out) {
  std::uint64_t at = format::kFileHeaderBytes;
  while (out.wanted()) {
    Record record;
    Status why;
    if (format::read_record(file, at, header.seed, &record, &why) != RecordOutcome::kRecord)
      return judge_end(file, at, header.seed, why, out);
    if (record.header.type != format::RecordType::kManifestEdit || record.header.file_number != header.number)
      return out.damage(at, Status::corruption("the record is not an edit of this manifest"));
    const Result<ManifestEdit> edit = format::decode_manifest_edit(record.payload);
    if (!edit.ok()) return out.damage(at, edit.status());
    out.item(at, "edit", {number_field("bytes", record.size_bytes)});
    show_single_fields(*edit, out);
    show_segments(*edit, out);
    show_tables(*edit, out);
    show_ids(*edit, out);
    at += record.size_bytes;
  }
}

}  // namespace varve::tool
