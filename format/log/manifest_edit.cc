// Owns: the encoding of one manifest edit (manifest_edit.h).
// Must never: use more memory than a small multiple of the bytes that it reads.
#include "format/log/manifest_edit.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/ordered_fields.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

constexpr Tag kStoreIdTag = 1;
constexpr Tag kFeaturesTag = 3;
constexpr Tag kFileNumberCeilingTag = 5;
constexpr Tag kVersionCeilingTag = 7;
constexpr Tag kOldestReadableTag = 9;
constexpr Tag kStoredOptionsTag = 11;
constexpr Tag kCommitTagTag = 13;
constexpr Tag kLogBufferTag = 15;
constexpr Tag kSegmentAnnouncedTag = 17;
constexpr Tag kSegmentClosedTag = 19;
constexpr Tag kSegmentRemovedTag = 21;
constexpr Tag kTableAddedTag = 23;
constexpr Tag kTableRemovedTag = 25;
constexpr Tag kDeadIdAddedTag = 27;
constexpr Tag kDeadIdRemovedTag = 29;
constexpr Tag kLoadingIdAddedTag = 31;
constexpr Tag kLoadingIdRemovedTag = 33;
constexpr Tag kValueFileAddedTag = 35;
constexpr Tag kValueFileRemovedTag = 37;
constexpr Tag kFlushedVersionTag = 39;
constexpr Tag kTableMovedTag = 41;

constexpr std::size_t kFeaturesBytes = 24;

// Each struct has one pair of functions. The struct's comment in the header lists its fields and their tags.

std::string encode(const AnnouncedSegment& segment) {
  std::string out;
  OrderedFieldWriter writer(out, segment.unknown_fields);
  writer.number(1, segment.number);
  writer.number(3, segment.seed);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, AnnouncedSegment* segment) {
  OrderedFieldReader reader("announced segment", bytes);
  reader.require_number(1, &segment->number);
  reader.require_number(3, &segment->seed);
  return reader.finish(&segment->unknown_fields);
}

std::string encode(const ClosedSegment& segment) {
  std::string out;
  OrderedFieldWriter writer(out, segment.unknown_fields);
  writer.number(1, segment.number);
  writer.number(3, segment.size_bytes);
  writer.number(5, segment.last_version);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, ClosedSegment* segment) {
  OrderedFieldReader reader("closed segment", bytes);
  reader.require_number(1, &segment->number);
  reader.require_number(3, &segment->size_bytes);
  reader.require_version(5, &segment->last_version);
  return reader.finish(&segment->unknown_fields);
}

std::string encode(const LogBufferEntry& buffer) {
  std::string out;
  OrderedFieldWriter writer(out, buffer.unknown_fields);
  writer.number(1, buffer.number);
  writer.number(3, buffer.seed);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, LogBufferEntry* buffer) {
  OrderedFieldReader reader("log buffer entry", bytes);
  reader.require_number(1, &buffer->number);
  reader.require_number(3, &buffer->seed);
  return reader.finish(&buffer->unknown_fields);
}

void check_level(OrderedFieldReader& reader, std::uint64_t level) {
  if (level > std::numeric_limits<std::uint32_t>::max()) reader.refuse(Code::kCorruption, "level is over 32 bits");
}

std::string encode(const TableFileEntry& table) {
  std::string out;
  OrderedFieldWriter writer(out, table.unknown_fields);
  writer.number(1, table.level);
  writer.number(3, table.number);
  writer.number(5, table.seed);
  writer.number(7, table.size_bytes);
  writer.number(9, table.content_hash);
  writer.bytes(11, table.smallest_key);
  writer.bytes(13, table.largest_key);
  writer.number(15, table.entry_count);
  writer.number(17, table.tombstone_count);
  writer.number(19, table.smallest_version);
  writer.number(21, table.largest_version);
  writer.number(23, table.first_table);
  writer.number(25, table.last_table);
  if (table.adopted_version.has_value()) writer.number(27, *table.adopted_version);
  if (!table.origin.empty()) writer.bytes(28, table.origin);
  if (!table.value_files.empty()) writer.bytes(29, encode_value_file_uses(table.value_files));
  writer.finish();
  return out;
}

/// Checks the relations between the fields of one table file.
void check_bounds(OrderedFieldReader& reader, const TableFileEntry& table) {
  for (const std::string_view key : {std::string_view(table.smallest_key), std::string_view(table.largest_key)}) {
    if (key.size() > kSortKeyBytesMax || !is_framed(key)) {
      reader.refuse(Code::kCorruption, "a bound is not a sort key");
      return;
    }
  }
  if (table.smallest_key > table.largest_key) reader.refuse(Code::kCorruption, "smallest key is above the largest");
  if (table.smallest_version > table.largest_version) {
    reader.refuse(Code::kCorruption, "smallest version is above the largest");
  }
  if (table.first_table > table.last_table) reader.refuse(Code::kCorruption, "first table id is above the last");
}

Status decode(std::string_view bytes, TableFileEntry* table) {
  OrderedFieldReader reader("table file entry", bytes);
  std::uint64_t level = 0;
  std::string_view smallest_key;
  std::string_view largest_key;
  reader.require_number(1, &level);
  check_level(reader, level);
  reader.require_number(3, &table->number);
  reader.require_number(5, &table->seed);
  reader.require_number(7, &table->size_bytes);
  reader.require_number(9, &table->content_hash);
  reader.require(11, &smallest_key);
  reader.require(13, &largest_key);
  reader.require_number(15, &table->entry_count);
  reader.require_number(17, &table->tombstone_count);
  reader.require_version(19, &table->smallest_version);
  reader.require_version(21, &table->largest_version);
  reader.require_number(23, &table->first_table);
  reader.require_number(25, &table->last_table);
  if (std::uint64_t adopted = 0; reader.take_number(27, &adopted)) {
    if (adopted > kCommitVersionMax) {
      reader.refuse(Code::kCorruption, "adopted version is above the greatest commit version");
    }
    table->adopted_version = adopted;
  }
  if (std::string_view origin; reader.take(28, &origin)) {
    if (origin.empty()) reader.refuse(Code::kCorruption, "origin is empty");
    table->origin = origin;
  }
  if (std::string_view uses; reader.take(29, &uses)) {
    Result<ValueFileUses> decoded = decode_value_file_uses(uses);
    if (!decoded.ok()) return decoded.status();
    table->value_files = *std::move(decoded);
  }
  table->level = static_cast<std::uint32_t>(level);
  table->smallest_key = smallest_key;
  table->largest_key = largest_key;
  if (reader.ok()) check_bounds(reader, *table);
  return reader.finish(&table->unknown_fields);
}

std::string encode(const MovedTable& moved) {
  std::string out;
  OrderedFieldWriter writer(out, moved.unknown_fields);
  writer.number(1, moved.number);
  writer.number(3, moved.level);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, MovedTable* moved) {
  OrderedFieldReader reader("moved table entry", bytes);
  std::uint64_t level = 0;
  reader.require_number(1, &moved->number);
  reader.require_number(3, &level);
  check_level(reader, level);
  moved->level = static_cast<std::uint32_t>(level);
  return reader.finish(&moved->unknown_fields);
}

std::string encode(const DeadId& id) {
  assert(is_id_prefix(id.prefix));
  std::string out;
  OrderedFieldWriter writer(out, id.unknown_fields);
  writer.bytes(1, id.prefix);
  writer.number(3, id.drop_version);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, DeadId* id) {
  OrderedFieldReader reader("dead id", bytes);
  std::string_view prefix;
  reader.require(1, &prefix);
  if (!is_id_prefix(prefix)) reader.refuse(Code::kCorruption, "prefix is neither 4 nor 8 bytes");
  id->prefix = prefix;
  reader.require_version(3, &id->drop_version);
  return reader.finish(&id->unknown_fields);
}

std::string encode(const ValueFileEntry& file) {
  std::string out;
  OrderedFieldWriter writer(out, file.unknown_fields);
  writer.number(1, file.number);
  writer.number(3, file.seed);
  writer.number(5, file.size_bytes);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, ValueFileEntry* file) {
  OrderedFieldReader reader("value file entry", bytes);
  reader.require_number(1, &file->number);
  reader.require_number(3, &file->seed);
  reader.require_number(5, &file->size_bytes);
  return reader.finish(&file->unknown_fields);
}

std::string encode(const StoredOptions& options) {
  std::string out;
  OrderedFieldWriter writer(out, options.unknown_fields);
  writer.number(1, options.default_durability);
  writer.number(3, options.retention_ticks);
  if (!options.model_options.empty()) writer.bytes(5, options.model_options);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, StoredOptions* options) {
  OrderedFieldReader reader("stored options", bytes);
  reader.require_number(1, &options->default_durability);
  if (options->default_durability != 1 && options->default_durability != 2) {
    reader.refuse(Code::kUnsupported,
                  "durability " + std::to_string(options->default_durability) + " is not known to this build");
  }
  reader.require_number(3, &options->retention_ticks);
  std::string_view model_options;
  if (reader.take(5, &model_options)) {
    if (model_options.empty() || model_options.size() > kModelOptionsBytesMax) {
      reader.refuse(Code::kCorruption, std::to_string(model_options.size()) + " bytes of model options; 1 to " +
                                           std::to_string(kModelOptionsBytesMax) + " are allowed");
    }
    options->model_options = model_options;
  }
  return reader.finish(&options->unknown_fields);
}

std::string encode(const CommitTag& tag) {
  assert(tag.bytes.size() <= kTagBytesMax);
  std::string out;
  OrderedFieldWriter writer(out, tag.unknown_fields);
  writer.number(1, tag.version);
  writer.bytes(3, tag.bytes);
  writer.finish();
  return out;
}

Status decode(std::string_view bytes, CommitTag* tag) {
  OrderedFieldReader reader("commit tag", bytes);
  std::string_view value;
  reader.require_version(1, &tag->version);
  reader.require(3, &value);
  if (value.size() > kTagBytesMax)
    reader.refuse(Code::kCorruption, "the tag has more than " + std::to_string(kTagBytesMax) + " bytes");
  if (reader.ok()) tag->bytes = value;
  return reader.finish(&tag->unknown_fields);
}

std::string encode(const Features& features) {
  std::string out;
  append_u64(out, features.compatible);
  append_u64(out, features.read_compatible);
  append_u64(out, features.incompatible);
  return out;
}

void write_optional_number(OrderedFieldWriter& writer, Tag tag, const std::optional<std::uint64_t>& number) {
  if (number.has_value()) writer.number(tag, *number);
}

template <typename T>
void write_optional(OrderedFieldWriter& writer, Tag tag, const std::optional<T>& value) {
  if (value.has_value()) writer.bytes(tag, encode(*value));
}

template <typename T>
void write_list(OrderedFieldWriter& writer, Tag tag, const std::vector<T>& list) {
  for (const T& entry : list) writer.bytes(tag, encode(entry));
}

void write_numbers(OrderedFieldWriter& writer, Tag tag, const std::vector<std::uint64_t>& numbers) {
  for (const std::uint64_t number : numbers) writer.number(tag, number);
}

void read_store_id(OrderedFieldReader& reader, std::optional<StoreId>* id) {
  std::string_view value;
  if (!reader.take(kStoreIdTag, &value)) return;
  if (value.size() != sizeof(StoreId)) {
    reader.refuse(Code::kCorruption, "store id is not 16 bytes");
    return;
  }
  std::copy(value.begin(), value.end(), id->emplace().begin());
}

void read_features(OrderedFieldReader& reader, std::optional<Features>* features) {
  std::string_view value;
  if (!reader.take(kFeaturesTag, &value)) return;
  if (value.size() != kFeaturesBytes) {
    reader.refuse(Code::kCorruption, "features are not 24 bytes");
    return;
  }
  *features = Features{load_u64(value.data()), load_u64(value.data() + 8), load_u64(value.data() + 16)};
}

void read_optional_number(OrderedFieldReader& reader, Tag tag, std::optional<std::uint64_t>* number) {
  if (std::uint64_t value = 0; reader.take_number(tag, &value)) *number = value;
}

void read_optional_version(OrderedFieldReader& reader, Tag tag, std::optional<CommitVersion>* version) {
  read_optional_number(reader, tag, version);
  if (version->has_value() && **version > kCommitVersionMax) {
    reader.refuse(Code::kCorruption, "field " + std::to_string(tag) + " is above the greatest commit version");
  }
}

template <typename T>
bool read_struct(OrderedFieldReader& reader, Tag tag, T* value) {
  std::string_view bytes;
  if (!reader.take(tag, &bytes)) return false;
  const Status read = decode(bytes, value);
  if (!read.ok()) reader.refuse(read.code(), read.message());
  return read.ok();
}

template <typename T>
void read_optional(OrderedFieldReader& reader, Tag tag, std::optional<T>* optional) {
  if (T value; read_struct(reader, tag, &value)) *optional = std::move(value);
}

template <typename T>
void read_list(OrderedFieldReader& reader, Tag tag, std::vector<T>* list) {
  while (true) {
    T value;
    if (!read_struct(reader, tag, &value)) return;
    list->push_back(std::move(value));
  }
}

void read_numbers(OrderedFieldReader& reader, Tag tag, std::vector<std::uint64_t>* numbers) {
  std::uint64_t number = 0;
  while (reader.take_number(tag, &number)) numbers->push_back(number);
}

void read_prefixes(OrderedFieldReader& reader, Tag tag, std::vector<std::string>* prefixes) {
  std::string_view prefix;
  while (reader.take(tag, &prefix)) {
    if (!is_id_prefix(prefix)) {
      reader.refuse(Code::kCorruption, "removed dead id is neither 4 nor 8 bytes");
      return;
    }
    prefixes->emplace_back(prefix);
  }
}

}  // namespace

std::string encode_manifest_edit(const ManifestEdit& edit) {
  std::string out;
  OrderedFieldWriter writer(out, edit.unknown_fields);
  if (edit.store_id.has_value()) {
    writer.bytes(kStoreIdTag, {reinterpret_cast<const char*>(edit.store_id->data()), edit.store_id->size()});
  }
  write_optional(writer, kFeaturesTag, edit.features);
  write_optional_number(writer, kFileNumberCeilingTag, edit.file_number_ceiling);
  write_optional_number(writer, kVersionCeilingTag, edit.version_ceiling);
  write_optional_number(writer, kOldestReadableTag, edit.oldest_readable_version);
  write_optional(writer, kStoredOptionsTag, edit.stored_options);
  write_optional(writer, kCommitTagTag, edit.commit_tag);
  write_optional(writer, kLogBufferTag, edit.log_buffer);
  write_list(writer, kSegmentAnnouncedTag, edit.announced_segments);
  write_list(writer, kSegmentClosedTag, edit.closed_segments);
  write_numbers(writer, kSegmentRemovedTag, edit.removed_segments);
  write_list(writer, kTableAddedTag, edit.added_tables);
  write_numbers(writer, kTableRemovedTag, edit.removed_tables);
  write_list(writer, kDeadIdAddedTag, edit.added_dead_ids);
  for (const std::string& prefix : edit.removed_dead_ids) {
    assert(is_id_prefix(prefix));
    writer.bytes(kDeadIdRemovedTag, prefix);
  }
  write_numbers(writer, kLoadingIdAddedTag, edit.added_loading_ids);
  write_numbers(writer, kLoadingIdRemovedTag, edit.removed_loading_ids);
  write_list(writer, kValueFileAddedTag, edit.added_value_files);
  write_numbers(writer, kValueFileRemovedTag, edit.removed_value_files);
  write_optional_number(writer, kFlushedVersionTag, edit.flushed_version);
  write_list(writer, kTableMovedTag, edit.moved_tables);
  writer.finish();
  return out;
}

Result<ManifestEdit> decode_manifest_edit(std::string_view bytes) {
  ManifestEdit edit;
  OrderedFieldReader reader("manifest edit", bytes);
  read_store_id(reader, &edit.store_id);
  read_features(reader, &edit.features);
  read_optional_number(reader, kFileNumberCeilingTag, &edit.file_number_ceiling);
  read_optional_version(reader, kVersionCeilingTag, &edit.version_ceiling);
  read_optional_version(reader, kOldestReadableTag, &edit.oldest_readable_version);
  read_optional(reader, kStoredOptionsTag, &edit.stored_options);
  read_optional(reader, kCommitTagTag, &edit.commit_tag);
  read_optional(reader, kLogBufferTag, &edit.log_buffer);
  read_list(reader, kSegmentAnnouncedTag, &edit.announced_segments);
  read_list(reader, kSegmentClosedTag, &edit.closed_segments);
  read_numbers(reader, kSegmentRemovedTag, &edit.removed_segments);
  read_list(reader, kTableAddedTag, &edit.added_tables);
  read_numbers(reader, kTableRemovedTag, &edit.removed_tables);
  read_list(reader, kDeadIdAddedTag, &edit.added_dead_ids);
  read_prefixes(reader, kDeadIdRemovedTag, &edit.removed_dead_ids);
  read_numbers(reader, kLoadingIdAddedTag, &edit.added_loading_ids);
  read_numbers(reader, kLoadingIdRemovedTag, &edit.removed_loading_ids);
  read_list(reader, kValueFileAddedTag, &edit.added_value_files);
  read_numbers(reader, kValueFileRemovedTag, &edit.removed_value_files);
  read_optional_version(reader, kFlushedVersionTag, &edit.flushed_version);
  read_list(reader, kTableMovedTag, &edit.moved_tables);
  if (Status read = reader.finish(&edit.unknown_fields); !read.ok()) return read;
  return edit;
}

}  // namespace varve::format
