// Owns: the encoding of contents' rows (content_rows.h).
// Must never: read past the end of a row.
#include "api/blob/content_rows.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/compression.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kKind = "Kind";
constexpr std::string_view kOwners = "Owners";
constexpr std::string_view kLength = "Length";
constexpr std::string_view kCrc = "Crc";
constexpr std::string_view kHashes = "Hashes";
constexpr std::string_view kPartBytesName = "Bytes";
constexpr std::string_view kPacked = "Packed";
constexpr std::string_view kPackedSize = "Size";
constexpr std::size_t kPlainProperties = 2;
constexpr std::size_t kPackedProperties = 3;
/// More than zstd's fastest level gains little: a packed part costs a range of it the whole part.
constexpr int kPackingLevel = 1;
constexpr std::size_t kHashBytes = 8;
constexpr std::size_t kEntryFixedBytes = 24;

std::size_t hash_count(std::size_t bytes) noexcept {
  return (bytes + kHashedBytes - 1) / kHashedBytes;
}

std::size_t hashes_bytes(std::size_t bytes) noexcept {
  return kHashBytes * (1 + hash_count(bytes));
}

/// The hash of a part's place, its length and its other hashes.
std::uint64_t place_hash(ContentId content, std::uint64_t offset, std::size_t bytes, std::string_view hashes) {
  std::string hashed;
  hashed.reserve(3 * kHashBytes + hashes.size());
  format::append_u64(hashed, content);
  format::append_u64(hashed, offset);
  format::append_u64(hashed, bytes);
  hashed.append(hashes);
  return format::content_hash(hashed);
}

/// The same of a packed part. It differs for bytes that are not packed, so neither is taken for the other.
std::uint64_t packed_place_hash(ContentId content, std::uint64_t offset, std::size_t bytes, std::string_view hashes) {
  return ~place_hash(content, offset, bytes, hashes);
}

/// Returns room for the hash of the place, and the hashes of the bytes.
std::string hashes_of(std::string_view bytes) {
  std::string hashes;
  hashes.reserve(hashes_bytes(bytes.size()));
  format::append_u64(hashes, 0);
  for (std::size_t at = 0; at < bytes.size(); at += kHashedBytes) {
    format::append_u64(hashes, format::content_hash(bytes.substr(at, kHashedBytes)));
  }
  return hashes;
}

std::size_t packed_value_bytes(std::size_t packed) noexcept {
  return kHashes.size() + hashes_bytes(packed) + kPacked.size() + packed + kPackedSize.size() + sizeof(std::int32_t);
}

/// The hashes of a part, with that of its place.
std::string placed_hashes(ContentId content, std::uint64_t offset, std::string_view bytes) {
  std::string hashes = hashes_of(bytes);
  const std::string_view others = std::string_view(hashes).substr(kHashBytes);
  format::store_u64(hashes.data(), place_hash(content, offset, bytes.size(), others));
  return hashes;
}

Status damaged_part() {
  return Status::corruption("a part of a content does not match its hash");
}

}  // namespace

std::string content_head_key(format::TableId contents, ContentId content) {
  return stored_row_key(contents, KindAndNumber('K', content), {});
}

std::string content_part_key(format::TableId contents, ContentId content, std::uint64_t offset) {
  return stored_row_key(contents, KindAndNumber('K', content), NumberText(offset));
}

std::string content_prefix(format::TableId contents, ContentId content) {
  return std::string(format::partition_of(content_head_key(contents, content)));
}

Result<ContentPlace> decode_content_key(std::string_view key) {
  const std::optional<KeyParts> parts = key_parts_of(key);
  const std::optional<std::uint64_t> content = parts ? parse_kind_and_number('K', parts->first) : std::nullopt;
  if (!content) return Status::corruption("the key of a content has no number");
  if (parts->second.empty()) return ContentPlace{*content, std::nullopt};
  const std::optional<std::uint64_t> offset = parse_number_text(parts->second);
  if (!offset) return Status::corruption("the key of a part has no offset");
  return ContentPlace{*content, offset};
}

std::string encode_content_head(const ContentHead& head) {
  format::EntityBuilder builder;
  builder.add_int32(kKind, static_cast<std::int32_t>(head.kind));
  builder.add_int32(kOwners, static_cast<std::int32_t>(head.owners));
  if (head.kind != ContentKind::kGrowing) builder.add_int64(kLength, static_cast<std::int64_t>(head.length));
  if (head.crc64) builder.add_int64(kCrc, static_cast<std::int64_t>(*head.crc64));
  return builder.finish();
}

Result<ContentHead> decode_content_head(std::string_view value) {
  return decode_stored_row(value, "content's head", [](RowReader& reader) {
    ContentHead head;
    const std::uint32_t kind = reader.count(kKind);
    if (kind > static_cast<std::uint32_t>(ContentKind::kValue)) reader.refuse();
    head.kind = static_cast<ContentKind>(kind);
    head.owners = reader.count(kOwners);
    if (head.kind != ContentKind::kGrowing) head.length = reader.length(kLength);
    if (head.kind == ContentKind::kList && head.length > limits::kBlocksMax) reader.refuse();
    if (reader.has(kCrc)) head.crc64 = static_cast<std::uint64_t>(reader.number(kCrc));
    return head;
  });
}

std::string encode_part(ContentId content, std::uint64_t offset, std::string_view bytes) {
  assert(bytes.size() <= kPartBytes);
  const std::string hashes = placed_hashes(content, offset, bytes);
  RowBuilder builder(kPlainProperties, kHashes.size() + hashes.size() + kPartBytesName.size() + bytes.size());
  builder.add_binary(kHashes, hashes);
  builder.add_binary(kPartBytesName, bytes);
  return builder.finish_in_place();
}

std::string begin_part_batch(std::string room, format::TableId contents, ContentId content, std::uint64_t offset) {
  const std::size_t stored = part_head_bytes(kPartBytes) + kPartBytes;
  Result<format::LoneOperation> put =
      format::LoneOperation::make(format::Kind::kPut, contents, KindAndNumber('K', content), NumberText(offset), 0);
  assert(put.ok());  // Both texts of the key are ASCII.
  put->give_with_value(put->take_for_value(stored));
  const std::string beginning = put->into_batch();
  room.clear();
  room.reserve(beginning.size() + stored);
  room.append(beginning);
  // A value that ends an entity begins where the entity with an empty one ends.
  format::EntityBuilder builder;
  builder.begin_behind(std::move(room), kPlainProperties);
  builder.add_binary(kHashes, std::string(hashes_bytes(kPartBytes), '\0'));
  builder.add_binary(kPartBytesName, {});
  return builder.finish_in_place();
}

void end_part_batch(std::string& batch, ContentId content, std::uint64_t offset) {
  assert(batch.size() > part_head_bytes(kPartBytes) + kPartBytes);
  const std::size_t bytes_at = batch.size() - kPartBytes;
  const std::string hashes = placed_hashes(content, offset, std::string_view(batch).substr(bytes_at));
  batch.replace(bytes_at - kPartBytesName.size() - hashes.size(), hashes.size(), hashes);
}

std::size_t part_head_bytes(std::size_t bytes) noexcept {
  return format::EntityBuilder::entity_bytes(kPlainProperties,
                                             kHashes.size() + hashes_bytes(bytes) + kPartBytesName.size());
}

std::optional<std::size_t> part_bytes_of(std::uint64_t stored) noexcept {
  for (std::size_t hashes = 0; hashes <= kPartBytes / kHashedBytes; ++hashes) {
    const std::size_t most = hashes * kHashedBytes;
    const std::size_t head = part_head_bytes(most);
    if (stored < head) return std::nullopt;
    const std::uint64_t bytes = stored - head;
    if (hash_count(static_cast<std::size_t>(bytes)) == hashes) return static_cast<std::size_t>(bytes);
  }
  return std::nullopt;
}

Result<PartHead> PartHead::open(ContentId content, std::uint64_t offset, std::size_t bytes, std::string_view head) {
  const std::size_t size = part_head_bytes(bytes);
  if (head.size() < size) return damaged_part();
  const std::size_t hashes_at = size - kPartBytesName.size() - hashes_bytes(bytes);
  PartHead part;
  const std::string_view all = head.substr(hashes_at, hashes_bytes(bytes));
  part.hashes_ = all.substr(kHashBytes);
  if (format::load_u64(all.data()) != place_hash(content, offset, bytes, part.hashes_)) return damaged_part();
  return part;
}

Status PartHead::check(std::size_t begin, std::string_view bytes) const {
  assert(begin % kHashedBytes == 0);
  std::size_t index = begin / kHashedBytes;
  for (std::size_t at = 0; at < bytes.size(); at += kHashedBytes, ++index) {
    if ((index + 1) * kHashBytes > hashes_.size()) return damaged_part();
    if (format::content_hash(bytes.substr(at, kHashedBytes)) != format::load_u64(hashes_.data() + index * kHashBytes)) {
      return damaged_part();
    }
  }
  return Status();
}

Result<std::string_view> decode_part(ContentId content, std::uint64_t offset, std::string_view value) {
  const Result<std::string_view> bytes =
      decode_stored_row(value, "content's part", [](RowReader& reader) { return reader.bytes(kPartBytesName); });
  if (!bytes.ok()) return bytes.status();
  if (value.size() != part_head_bytes(bytes->size()) + bytes->size()) return damaged_part();
  const Result<PartHead> head = PartHead::open(content, offset, bytes->size(), value);
  if (!head.ok()) return head.status();
  if (Status checked = head->check(0, *bytes); !checked.ok()) return checked;
  return *bytes;
}

std::optional<std::string> encode_packed_part(ContentId content, std::uint64_t offset, std::string_view bytes,
                                              std::size_t packed_max) {
  assert(!bytes.empty() && bytes.size() <= kPartBytes);
  Result<format::Compressor> compressor = format::Compressor::make(kPackingLevel, {});
  if (!compressor.ok()) return std::nullopt;
  const std::string_view packed = compressor->compress(bytes, false, packed_max);
  if (packed.empty()) return std::nullopt;
  std::string hashes = hashes_of(packed);
  const std::string_view others = std::string_view(hashes).substr(kHashBytes);
  format::store_u64(hashes.data(), packed_place_hash(content, offset, bytes.size(), others));
  RowBuilder builder(kPackedProperties, packed_value_bytes(packed.size()));
  builder.add_binary(kHashes, hashes);
  builder.add_binary(kPacked, packed);
  builder.add_int32(kPackedSize, static_cast<std::int32_t>(bytes.size()));
  return builder.finish_in_place();
}

bool is_packed_part(std::string_view value) noexcept {
  constexpr std::size_t kCountAt = 2;
  return value.size() >= kCountAt + sizeof(std::uint16_t) &&
         format::load_u16(value.data() + kCountAt) == kPackedProperties;
}

Result<std::string_view> decode_any_part(ContentId content, std::uint64_t offset, std::string_view value,
                                         std::string& room) {
  if (!is_packed_part(value)) return decode_part(content, offset, value);
  struct Packed {
    std::string_view hashes;
    std::string_view frame;
    std::size_t size = 0;
  };
  const Result<Packed> part = decode_stored_row(value, "content's part", [](RowReader& reader) {
    return Packed{reader.bytes(kHashes), reader.bytes(kPacked), reader.count(kPackedSize)};
  });
  if (!part.ok()) return part.status();
  const std::size_t stored =
      format::EntityBuilder::entity_bytes(kPackedProperties, packed_value_bytes(part->frame.size()));
  const bool is_possible = part->size > 0 && part->size <= kPartBytes && part->frame.size() <= kPartBytes &&
                           part->hashes.size() == hashes_bytes(part->frame.size()) && value.size() == stored;
  if (!is_possible) return damaged_part();
  // The frame is compared before zstd reads it.
  std::string present = hashes_of(part->frame);
  const std::string_view others = std::string_view(present).substr(kHashBytes);
  format::store_u64(present.data(), packed_place_hash(content, offset, part->size, others));
  if (present != part->hashes) return damaged_part();
  room.resize(part->size);
  format::Decompressor decompressor;
  if (!decompressor.decompress(part->frame, nullptr, std::span<char>(room)).ok()) return damaged_part();
  return std::string_view(room);
}

std::string encode_list_entries(std::span<const ListEntry> entries) {
  std::string bytes;
  for (const ListEntry& entry : entries) {
    assert(entry.id.size() == entries.front().id.size() && !entry.id.empty());
    format::append_u64(bytes, entry.offset);
    format::append_u64(bytes, entry.content);
    format::append_u64(bytes, entry.length);
    bytes.append(entry.id);
  }
  if (!entries.empty()) bytes.insert(0, 1, static_cast<char>(entries.front().id.size()));
  return bytes;
}

Result<std::vector<ListEntry>> decode_list_entries(std::string_view bytes) {
  std::vector<ListEntry> entries;
  if (bytes.empty()) return entries;
  const std::size_t id_bytes = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const std::size_t size = kEntryFixedBytes + id_bytes;
  if (id_bytes == 0 || bytes.size() % size != 0) return Status::corruption("a list of blocks has half an entry");
  entries.reserve(bytes.size() / size);
  for (; !bytes.empty(); bytes.remove_prefix(size)) {
    entries.push_back({format::load_u64(bytes.data()), format::load_u64(bytes.data() + 8),
                       format::load_u64(bytes.data() + 16), std::string(bytes.substr(kEntryFixedBytes, id_bytes))});
  }
  return entries;
}

}  // namespace varve
