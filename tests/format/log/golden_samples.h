// Owns: the values whose bytes golden_files_test.cc pins.
// Must never: change. A changed value needs another golden sample beside the old one.
#pragma once

#include <string>

#include "format/bytes/tagged_fields.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"
#include "format/log/file_header.h"
#include "format/log/log_buffer.h"
#include "format/log/log_record.h"
#include "format/log/manifest_edit.h"
#include "format/log/root.h"

namespace varve::format::golden {

inline constexpr std::uint64_t kSeed = 0x0102030405060708;
inline constexpr CommitVersion kVersion = 638'000'000'000'000'000;

inline FileHeader file_header() {
  return {FileType::kLogSegment, 1, kSeed, 42};
}

inline RecordHeader record_header(RecordType type) {
  RecordHeader header;
  header.type = type;
  header.file_number = 42;
  header.last_version = kVersion + 5;
  header.ceiling = kVersion + 5 + 1'000'000;
  header.durable_upto = 4096;
  header.manifest_number = 41;
  header.manifest_durable_bytes = 300;
  return header;
}

/// Returns a group in which one member puts an entity, and the other deletes it.
inline std::string group_payload() {
  const std::string key = *encode_sort_key(make_table_id(1, 7), "p", "r");
  BatchBuilder builder;
  builder.put(key, "value");
  const std::string put = builder.finish();
  builder.set_tag("tag");
  builder.remove(key);
  const std::string remove = builder.finish();
  std::string payload(
      group_member_bytes(kVersion, kVersion, put.size()) + group_member_bytes(kVersion, kVersion + 5, remove.size()),
      '\0');
  store_group_member(store_group_member(payload.data(), kVersion, kVersion, put), kVersion, kVersion + 5, remove);
  return payload;
}

inline std::string group_record() {
  RecordHeader header = record_header(RecordType::kGroup);
  header.first_version = kVersion;
  std::string bytes;
  append_record(bytes, header, group_payload(), {kSeed, 4096});
  return bytes;
}

inline std::string watermark_record() {
  RecordHeader header = record_header(RecordType::kWatermark);
  header.durable_upto = 8192;
  header.previous_offset = 4096;
  std::string bytes;
  append_record(bytes, header, "", {kSeed, 8192});
  return bytes;
}

inline std::string footer_record() {
  RecordHeader header = record_header(RecordType::kFooter);
  header.durable_upto = 12288;
  header.previous_offset = 8192;
  std::string bytes;
  append_record(bytes, header, "", {kSeed, 12288});
  return bytes;
}

inline StoreId store_id() {
  return {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f};
}

inline ManifestEdit manifest_edit() {
  TableFileEntry table;
  table.level = 2;
  table.number = 60;
  table.seed = 61;
  table.size_bytes = 65536;
  table.content_hash = 62;
  table.smallest_key = *encode_sort_key(make_table_id(1, 7), "a", "1");
  table.largest_key = *encode_sort_key(make_table_id(1, 8), "z", "9");
  table.entry_count = 1000;
  table.tombstone_count = 63;
  table.smallest_version = kVersion - 9;
  table.largest_version = kVersion - 1;
  table.first_table = make_table_id(1, 7);
  table.last_table = make_table_id(1, 8);
  TableFileEntry adopted = table;
  adopted.number = 64;
  adopted.adopted_version = kVersion;
  adopted.origin = "elsewhere";
  adopted.value_files = {{70, 1000}};
  append_field(adopted.unknown_fields, 2, "kept");

  ManifestEdit edit;
  edit.store_id = store_id();
  edit.features = Features{1, 2, 4};
  edit.file_number_ceiling = 1000;
  edit.version_ceiling = kVersion + 1'000'000;
  edit.oldest_readable_version = kVersion - 9;
  edit.stored_options = StoredOptions{1, 864'000'000'000, "", ""};
  edit.commit_tag = CommitTag{kVersion, "tag", ""};
  edit.log_buffer = LogBufferEntry{43, 44, ""};
  edit.announced_segments = {{45, 46, ""}, {47, 48, ""}};
  edit.closed_segments = {{42, 16384, kVersion + 5, ""}};
  edit.removed_segments = {39, 40};
  edit.added_tables = {table, adopted};
  edit.removed_tables = {30, 31};
  edit.added_dead_ids = {{std::string("\0\0\0\2", 4), kVersion - 3, ""},
                         {std::string("\0\0\0\1\0\0\0\5", 8), kVersion - 2, ""}};
  edit.removed_dead_ids = {std::string("\0\0\0\1\0\0\0\4", 8)};
  edit.added_loading_ids = {make_table_id(1, 9)};
  edit.removed_loading_ids = {make_table_id(1, 6)};
  edit.added_value_files = {{70, 71, 4096, ""}};
  edit.removed_value_files = {69};
  append_field(edit.unknown_fields, 38, "kept");
  return edit;
}

inline Root root_open() {
  Root root;
  root.store_id = store_id();
  root.generation = 3;
  root.manifest_number = 41;
  root.manifest_seed = kSeed;
  return root;
}

inline Root root_clean() {
  Root root = root_open();
  root.generation = 4;
  root.state = RootState::kClean;
  root.manifest_bytes = 4711;
  root.manifest_hash = 0x1111111111111111;
  root.segments = {{42, 16384, 0x2222222222222222}, {45, 8192, 0x3333333333333333}};
  root.last_version = kVersion + 5;
  return root;
}

inline Root root_creating() {
  Root root = root_open();
  root.generation = 1;
  root.state = RootState::kCreating;
  root.manifest_number = 0;
  root.manifest_seed = 0;
  return root;
}

inline Root root_with(Features features) {
  Root root = root_open();
  root.features = features;
  return root;
}

inline std::string slot_header() {
  std::string bytes(kSlotHeaderBytes, '\0');
  store_slot_header(bytes.data(), {42, kSeed, 8192, 5}, {0x1817161514131211, 4096});
  return bytes;
}

}  // namespace varve::format::golden
