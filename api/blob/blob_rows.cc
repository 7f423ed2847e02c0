// Owns: the encoding of blobs' rows (blob_rows.h).
// Must never: return a state that no caller could have set.
#include "api/blob/blob_rows.h"

#include <algorithm>
#include <utility>

#include "api/blob/blob_tags.h"
#include "api/catalog/metadata_rows.h"
#include "api/catalog/row_numbers.h"
#include "api/model/base64.h"
#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kBlobKindName = "Kind";
constexpr std::string_view kBlobLength = "Length";
constexpr std::string_view kInline = "Inline";
constexpr std::string_view kContent = "Content";
constexpr std::string_view kList = "List";
constexpr std::string_view kLists = "Lists";
constexpr std::string_view kBlobCrc = "Crc";
constexpr std::string_view kBlobChanged = "Changed";
constexpr std::string_view kContentMd5 = "ContentMd5";
constexpr std::string_view kTags = "Tags";
constexpr std::string_view kTier = "Tier";
constexpr std::string_view kTierChanged = "TierChanged";
constexpr std::string_view kAppends = "Appends";
constexpr std::string_view kCopySource = "CopySource";
constexpr std::string_view kCopyId = "CopyId";
constexpr std::string_view kCopied = "Copied";
constexpr std::string_view kGeneration = "Generation";
constexpr std::string_view kCount = "Count";
constexpr std::string_view kIdBytes = "IdBytes";
constexpr std::string_view kLast = "Last";
constexpr std::size_t kPieceBytes = 16;
/// The stored kind of an append blob that names lists. Builds that know no such lists refuse it.
constexpr std::int32_t kAppendWithLists = 2;

struct TextProperty {
  std::string_view name;
  std::string BlobProperties::*member;
};
constexpr TextProperty kTexts[] = {{"ContentType", &BlobProperties::content_type},
                                   {"ContentEncoding", &BlobProperties::content_encoding},
                                   {"ContentLanguage", &BlobProperties::content_language},
                                   {"ContentDisposition", &BlobProperties::content_disposition},
                                   {"CacheControl", &BlobProperties::cache_control}};

constexpr std::string_view kEscape = "\xEF\xBF\xBF";  // U+FFFF

bool is_four_bytes(char lead) noexcept {
  return static_cast<unsigned char>(lead) >= 0xF0;
}

/// Returns the number of bytes at the front that are not escaped. Most names have no others.
std::size_t plain_bytes(std::string_view text) noexcept {
  const auto is_plain = [](char byte) { return static_cast<unsigned char>(byte) < 0xEF; };
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
}

/// Appends the name as the key has it.
void append_ordered(std::string& text, std::string_view name) {
  for (;;) {
    const std::size_t plain = plain_bytes(name);
    text.append(name.substr(0, plain));
    name.remove_prefix(plain);
    if (name.empty()) return;
    if (name.starts_with(kEscape)) {
      text.append(kEscape).append(1, '!');
      name.remove_prefix(kEscape.size());
      continue;
    }
    if (is_four_bytes(name.front())) text.append(kEscape);
    text.push_back(name.front());
    name.remove_prefix(1);
  }
}

std::optional<std::string> name_of_ordered(std::string_view text) {
  std::string name;
  name.reserve(text.size());
  for (;;) {
    const std::size_t plain = plain_bytes(text);
    name.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return name;
    if (!text.starts_with(kEscape)) {
      if (is_four_bytes(text.front())) return std::nullopt;
      name.push_back(text.front());
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(kEscape.size());
    if (text.empty()) return std::nullopt;
    if (text.front() == '!') {
      name.append(kEscape);
    } else if (is_four_bytes(text.front())) {
      name.push_back(text.front());
    } else {
      return std::nullopt;
    }
    text.remove_prefix(1);
  }
}

std::string named_part(char kind, std::string_view name) {
  std::string text;
  text.reserve(1 + name.size() + kEscape.size());
  text.push_back(kind);
  append_ordered(text, name);
  return text;
}

Status nameless_key() {
  return Status::corruption("the key of a blob has no name");
}

std::string encode_pieces(const std::vector<ContentPiece>& pieces) {
  std::string bytes;
  bytes.reserve(pieces.size() * kPieceBytes);
  for (const ContentPiece& piece : pieces) {
    format::append_u64(bytes, piece.content);
    format::append_u64(bytes, piece.length);
  }
  return bytes;
}

void read_content(RowReader& reader, BlobRow& row) {
  if (reader.has(kInline)) row.inlined = reader.bytes(kInline);
  std::uint64_t length = row.inlined.size();
  if (reader.has(kContent)) {
    std::string_view bytes = reader.bytes(kContent);
    if (bytes.empty() || bytes.size() % kPieceBytes != 0 || !row.inlined.empty()) return reader.refuse();
    for (; !bytes.empty(); bytes.remove_prefix(kPieceBytes)) {
      row.pieces.push_back({format::load_u64(bytes.data()), format::load_u64(bytes.data() + 8)});
      if (row.pieces.back().length > row.length - length) return reader.refuse();
      length += row.pieces.back().length;
    }
  }
  if (reader.has(kList)) row.is_list = reader.boolean(kList);
  if (length != row.length || (row.is_list && row.pieces.size() != 1)) reader.refuse();
}

void read_lists(RowReader& reader, BlobRow& row) {
  row.lists = reader.count(kLists);
  if (row.lists == 0 || row.lists >= row.pieces.size() || row.is_list) reader.refuse();
}

void read_properties(RowReader& reader, BlobRow& row) {
  for (const TextProperty& text : kTexts) {
    if (reader.has(text.name)) row.properties.*text.member = reader.text(text.name);
  }
  if (reader.has(kContentMd5)) {
    const std::string_view md5 = reader.bytes(kContentMd5);
    row.properties.content_md5.emplace();
    if (md5.size() != row.properties.content_md5->size()) return reader.refuse();
    std::copy(md5.begin(), md5.end(), row.properties.content_md5->begin());
  }
}

void read_tags_and_tier(RowReader& reader, BlobRow& row) {
  if (reader.has(kTags)) {
    std::optional<std::vector<BlobTag>> tags = parse_stored_tags(reader.text(kTags));
    if (!tags) return reader.refuse();
    row.tags = *std::move(tags);
  }
  if (reader.has(kTier)) {
    const std::uint32_t tier = reader.count(kTier);
    if (tier > static_cast<std::uint32_t>(BlobTier::kArchive)) return reader.refuse();
    row.tier = static_cast<BlobTier>(tier);
  }
  if (reader.has(kTierChanged)) row.tier_changed = reader.time(kTierChanged);
}

void read_copy(RowReader& reader, BlobRow& row) {
  if (!reader.has(kCopySource)) return;
  row.copy_source = reader.text(kCopySource);
  row.copy_id = reader.guid(kCopyId);
  row.copied = reader.time(kCopied);
}

void read_versions(RowReader& reader, format::CommitVersion version, BlobRow& row) {
  const auto read = [&](std::string_view name) -> format::CommitVersion {
    if (!reader.has(name)) return version;
    const std::optional<std::uint64_t> number = find_number(reader.row(), name, 1, version);
    if (!number) reader.refuse();
    return number.value_or(version);
  };
  row.created = read(kCreated);
  row.changed = read(kBlobChanged);
}

void add_optional(format::EntityBuilder& builder, const BlobRow& row) {
  if (row.crc64) builder.add_int64(kBlobCrc, static_cast<std::int64_t>(*row.crc64));
  if (row.created != 0) builder.add_int64(kCreated, static_cast<std::int64_t>(row.created));
  if (row.changed != 0) builder.add_int64(kBlobChanged, static_cast<std::int64_t>(row.changed));
  for (const TextProperty& text : kTexts) {
    if (!(row.properties.*text.member).empty()) builder.add_string(text.name, row.properties.*text.member);
  }
  if (const auto& md5 = row.properties.content_md5) {
    builder.add_binary(kContentMd5, {reinterpret_cast<const char*>(md5->data()), md5->size()});
  }
  if (!row.tags.empty()) builder.add_string(kTags, stored_tags(row.tags));
  if (row.tier != BlobTier::kDefault) builder.add_int32(kTier, static_cast<std::int32_t>(row.tier));
  if (row.tier_changed != 0) builder.add_date_time(kTierChanged, row.tier_changed);
  if (row.appends != 0) builder.add_int32(kAppends, static_cast<std::int32_t>(row.appends));
  if (!row.copy_source.empty()) {
    builder.add_string(kCopySource, row.copy_source);
    builder.add_guid(kCopyId, row.copy_id.bytes);
    builder.add_date_time(kCopied, row.copied);
  }
}

}  // namespace

std::string blob_row_key(format::TableId container, std::string_view name) {
  return stored_row_key(container, named_part('B', name), {});
}
std::string staged_list_key(format::TableId container, std::string_view name) {
  return stored_row_key(container, named_part('H', name), {});
}
std::string staged_block_key(format::TableId container, std::uint64_t generation, std::string_view id) {
  return stored_row_key(container, KindAndNumber('U', generation), encode_base64(id));
}

std::string named_rows_prefix(format::TableId container, char kind, std::string_view prefix) {
  const std::string part = named_part(kind, prefix);
  std::string key;
  key.reserve(format::kTableIdBytes + part.size());
  key.append(format::encode_table(container));
  (void)format::append_text_prefix(key, part);
  return key;
}
std::string staged_blocks_prefix(format::TableId container, std::uint64_t generation) {
  return std::string(format::partition_of(staged_block_key(container, generation, {})));
}

char blob_row_kind(std::string_view key) noexcept {
  return key.size() > format::kTableIdBytes ? key[format::kTableIdBytes] : '\0';
}

Result<std::string> decode_named_key(std::string_view key) {
  Result<format::SortKey> parts = format::decode_sort_key(key);
  if (!parts.ok()) return parts.status();
  std::string& text = parts->partition_key;
  if (text.empty() || !parts->row_key.empty()) return nameless_key();
  if (plain_bytes(text) == text.size()) return std::move(text.erase(0, 1));
  std::optional<std::string> name = name_of_ordered(std::string_view(text).substr(1));
  return name ? Result<std::string>(*std::move(name)) : nameless_key();
}

Result<std::string> decode_staged_key(std::string_view key) {
  const std::optional<KeyParts> parts = key_parts_of(key);
  std::optional<std::string> id = parts ? decode_base64(parts->second) : std::nullopt;
  if (!id) return Status::corruption("the key of a staged block has no id");
  return *std::move(id);
}

std::string encode_blob_row(const BlobRow& row) {
  format::EntityBuilder builder;
  builder.add_int32(kBlobKindName, row.lists != 0 ? kAppendWithLists : static_cast<std::int32_t>(row.kind));
  builder.add_int64(kBlobLength, static_cast<std::int64_t>(row.length));
  if (!row.inlined.empty()) builder.add_binary(kInline, row.inlined);
  if (!row.pieces.empty()) builder.add_binary(kContent, encode_pieces(row.pieces));
  if (row.is_list) builder.add_boolean(kList, true);
  if (row.lists != 0) builder.add_int32(kLists, static_cast<std::int32_t>(row.lists));
  add_optional(builder, row);
  add_lease(builder, row.lease);
  add_metadata(builder, row.metadata);
  return builder.finish();
}

Result<BlobRow> decode_blob_row(format::CommitVersion version, std::string_view value) {
  return decode_stored_row(value, "blob", [version](RowReader& reader) {
    BlobRow row;
    const std::uint32_t kind = reader.count(kBlobKindName);
    if (kind > static_cast<std::uint32_t>(kAppendWithLists)) reader.refuse();
    row.kind = kind == static_cast<std::uint32_t>(BlobKind::kBlock) ? BlobKind::kBlock : BlobKind::kAppend;
    row.length = reader.length(kBlobLength);
    read_content(reader, row);
    if (kind == static_cast<std::uint32_t>(kAppendWithLists)) read_lists(reader, row);
    if (reader.has(kBlobCrc)) row.crc64 = static_cast<std::uint64_t>(reader.number(kBlobCrc));
    read_versions(reader, version, row);
    read_properties(reader, row);
    read_tags_and_tier(reader, row);
    if (reader.has(kAppends)) row.appends = reader.count(kAppends);
    read_copy(reader, row);
    const std::optional<Lease> lease = find_lease(reader.row());
    std::optional<std::vector<MetadataPair>> metadata = find_metadata(reader.row());
    if (!lease || !metadata) {
      reader.refuse();
      return row;
    }
    row.lease = *lease;
    row.metadata = *std::move(metadata);
    return row;
  });
}

std::string encode_staged_list(const StagedList& list) {
  format::EntityBuilder builder;
  builder.add_int64(kGeneration, static_cast<std::int64_t>(list.generation));
  builder.add_int32(kCount, static_cast<std::int32_t>(list.count));
  builder.add_int32(kIdBytes, static_cast<std::int32_t>(list.id_bytes));
  builder.add_date_time(kLast, list.last);
  return builder.finish();
}

Result<StagedList> decode_staged_list(std::string_view value) {
  return decode_stored_row(value, "list of staged blocks", [](RowReader& reader) {
    StagedList list;
    list.generation = static_cast<std::uint64_t>(reader.number(kGeneration));
    list.count = reader.count(kCount);
    list.id_bytes = reader.count(kIdBytes);
    list.last = reader.time(kLast);
    return list;
  });
}

std::string encode_staged_block(const StagedBlock& block) {
  format::EntityBuilder builder;
  builder.add_int64(kContent, static_cast<std::int64_t>(block.piece.content));
  builder.add_int64(kBlobLength, static_cast<std::int64_t>(block.piece.length));
  if (block.crc64) builder.add_int64(kBlobCrc, static_cast<std::int64_t>(*block.crc64));
  return builder.finish();
}

Result<StagedBlock> decode_staged_block(std::string_view value) {
  return decode_stored_row(value, "staged block", [](RowReader& reader) {
    StagedBlock block{{static_cast<std::uint64_t>(reader.number(kContent)), reader.length(kBlobLength)}};
    if (reader.has(kBlobCrc)) block.crc64 = static_cast<std::uint64_t>(reader.number(kBlobCrc));
    return block;
  });
}

BlobState state_of(std::string_view name, const BlobRow& row, format::CommitVersion version, Ticks now) {
  BlobState state;
  state.name = name;
  state.kind = row.kind;
  state.modified = DateTime{row.changed != 0 ? row.changed : version};
  state.etag = ETag::of_timestamp(state.modified);
  state.created = DateTime{row.created != 0 ? row.created : version};
  state.length = row.length;
  state.crc64 = row.crc64;
  state.properties = row.properties;
  state.metadata = row.metadata;
  state.tags = row.tags;
  state.tier = row.tier;
  if (row.tier_changed != 0) state.tier_changed = DateTime{row.tier_changed};
  state.lease = row.lease.info(now);
  state.append_count = row.appends;
  if (!row.copy_source.empty()) {
    state.copy_source = row.copy_source;
    state.copy_id = row.copy_id;
    state.copied = DateTime{row.copied};
  }
  return state;
}

void complete_state(BlobState& state, format::CommitVersion version) noexcept {
  if (state.created.ticks == 0) state.created = DateTime{version};
  if (state.modified.ticks != 0) return;
  state.modified = DateTime{version};
  state.etag = ETag::of_timestamp(state.modified);
}

}  // namespace varve
