// Owns: the conversions of blobs.h, and the calls that show blobs and blocks.
#include "api/c/blobs.h"

#include <algorithm>
#include <cstring>

#include "api/c/queues.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

std::vector<varve_block> shown_blocks(const std::vector<BlockInfo>& blocks) {
  std::vector<varve_block> shown;
  shown.reserve(blocks.size());
  for (const BlockInfo& block : blocks) shown.push_back({text_of(block.id), block.length});
  return shown;
}

template <typename Pair>
std::vector<varve_metadata_pair> shown_pairs(const std::vector<Pair>& pairs) {
  std::vector<varve_metadata_pair> shown;
  shown.reserve(pairs.size());
  for (const Pair& pair : pairs) shown.push_back({text_of(pair.name), text_of(pair.value)});
  return shown;
}

/// Reads a text into `to`.
Status take_text(const varve_text& text, std::string_view name, std::string& to) {
  const Result<std::string_view> read = read_text(text, name);
  if (!read.ok()) return read.status();
  to = *read;
  return Status();
}

Status take_conditions(const varve_blob_conditions* given, BlobConditions& to) {
  const Result<BlobConditions> read = read_conditions(given);
  if (!read.ok()) return read.status();
  to = *read;
  return Status();
}

Status take_durability(std::int32_t given, std::optional<Durability>& to) {
  const Result<std::optional<Durability>> read = read_durability(given);
  if (!read.ok()) return read.status();
  to = *read;
  return Status();
}

/// Moves a value that could be read to `to`.
template <typename Value>
Status take_value(Result<Value> read, Value& to) {
  if (!read.ok()) return read.status();
  to = *std::move(read);
  return Status();
}

void show_properties(const BlobProperties& properties, varve_blob_view& shown) noexcept {
  shown.content_type = text_of(properties.content_type);
  shown.content_encoding = text_of(properties.content_encoding);
  shown.content_language = text_of(properties.content_language);
  shown.content_disposition = text_of(properties.content_disposition);
  shown.cache_control = text_of(properties.cache_control);
  shown.has_content_md5 = properties.content_md5.has_value();
  if (properties.content_md5) {
    std::memcpy(shown.content_md5, properties.content_md5->data(), properties.content_md5->size());
  }
}

void show_copy(const BlobState& blob, varve_blob_view& shown) noexcept {
  if (!blob.copy_source.empty()) shown.copy_source = text_of(blob.copy_source);
  shown.has_copy_id = blob.copy_id.has_value();
  if (blob.copy_id) std::memcpy(shown.copy_id.bytes, blob.copy_id->bytes.data(), blob.copy_id->bytes.size());
  if (blob.copied) shown.copied = blob.copied->ticks;
}

varve_blob_view shown_state(const BlobState& blob) noexcept {
  varve_blob_view shown{};
  shown.name = text_of(blob.name);
  shown.kind = static_cast<std::int32_t>(blob.kind);
  shown.tier = static_cast<std::int32_t>(blob.tier);
  shown.etag = from_etag(blob.etag);
  shown.modified = blob.modified.ticks;
  shown.created = blob.created.ticks;
  shown.length = blob.length;
  shown.has_crc64 = blob.crc64.has_value();
  shown.crc64 = blob.crc64.value_or(0);
  show_properties(blob.properties, shown);
  if (blob.tier_changed) shown.tier_changed = blob.tier_changed->ticks;
  shown.lease_state = static_cast<std::int32_t>(blob.lease.state);
  shown.lease_is_infinite = blob.lease.is_infinite;
  shown.append_count = blob.append_count;
  show_copy(blob, shown);
  shown.is_uncommitted = blob.is_uncommitted;
  return shown;
}

}  // namespace

// -- What handles name ------------------------------------------------------------------------------------------------

void BlobsObject::hold(BlobPage page) {
  pairs_.reserve(page.entries.size());
  for (const BlobListed& entry : page.entries) {
    pairs_.push_back({shown_pairs(entry.blob.metadata), shown_pairs(entry.blob.tags)});
  }
  page_ = std::move(page);  // the texts of entries do not move: the entries stay where they are
}

void BlobsObject::hold(BlobState blob) {
  BlobPage page;
  page.entries.emplace_back().blob = std::move(blob);
  hold(std::move(page));
}

varve_blob_view BlobsObject::view(std::size_t index) const noexcept {
  const BlobListed& entry = page_.entries[index];
  varve_blob_view shown = shown_state(entry.blob);
  if (!entry.prefix.empty()) shown.prefix = text_of(entry.prefix);
  const Pairs& pairs = pairs_[index];
  shown.metadata = pairs.metadata.data();
  shown.metadata_count = pairs.metadata.size();
  shown.tags = pairs.tags.data();
  shown.tag_count = pairs.tags.size();
  return shown;
}

BlocksObject::BlocksObject(BlockLists lists)
    : Object(kKind),
      lists_(std::move(lists)),
      committed_(shown_blocks(lists_.committed)),
      staged_(shown_blocks(lists_.staged)) {}

// -- Options ----------------------------------------------------------------------------------------------------------

Result<BlobConditions> read_conditions(const varve_blob_conditions* conditions) {
  const Result<varve_blob_conditions> given = read_sized(conditions);
  if (!given.ok()) return given.status();
  const auto etag = [](varve_etag number) { return number == VARVE_ETAG_ANY ? ETag::any() : to_etag(number); };
  BlobConditions read;
  if (given->if_match != VARVE_ETAG_NONE) read.if_match = etag(given->if_match);
  if (given->if_none_match != VARVE_ETAG_NONE) read.if_none_match = etag(given->if_none_match);
  if (given->if_modified_since != 0) read.if_modified_since = DateTime{given->if_modified_since};
  if (given->if_unmodified_since != 0) read.if_unmodified_since = DateTime{given->if_unmodified_since};
  if (given->has_lease) read.lease = to_guid(given->lease);
  return read;
}

Result<BlobProperties> read_properties(const varve_blob_properties* properties) {
  const Result<varve_blob_properties> given = read_sized(properties);
  if (!given.ok()) return given.status();
  BlobProperties read;
  Status taken = take_text(given->content_type, "content_type", read.content_type);
  if (taken.ok()) taken = take_text(given->content_encoding, "content_encoding", read.content_encoding);
  if (taken.ok()) taken = take_text(given->content_language, "content_language", read.content_language);
  if (taken.ok()) taken = take_text(given->content_disposition, "content_disposition", read.content_disposition);
  if (taken.ok()) taken = take_text(given->cache_control, "cache_control", read.cache_control);
  if (!taken.ok()) return taken;
  if (given->has_content_md5) {
    std::memcpy(read.content_md5.emplace().data(), given->content_md5, sizeof given->content_md5);
  }
  return read;
}

Result<std::vector<BlobTag>> read_tags(const varve_metadata_pair* pairs, std::size_t count) {
  Result<std::vector<MetadataPair>> read = read_metadata(pairs, count);
  if (!read.ok()) return read.status();
  std::vector<BlobTag> tags;
  tags.reserve(read->size());
  for (MetadataPair& pair : *read) tags.push_back({std::move(pair.name), std::move(pair.value)});
  return tags;
}

Result<BlobTier> read_tier(std::int32_t tier) {
  if (tier >= VARVE_TIER_DEFAULT && tier <= VARVE_TIER_ARCHIVE) return static_cast<BlobTier>(tier);
  return Status::invalid_argument("a tier is " + std::to_string(tier) + "; expected a VARVE_TIER number");
}

Result<PublicAccess> read_public_access(std::int32_t access) {
  if (access >= VARVE_PUBLIC_NONE && access <= VARVE_PUBLIC_CONTAINER) return static_cast<PublicAccess>(access);
  return Status::invalid_argument("public_access is " + std::to_string(access) + "; expected a VARVE_PUBLIC number");
}

Result<BlobWriteOptions> read_blob_write_options(const varve_blob_write_options* options) {
  const Result<varve_blob_write_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  BlobWriteOptions read;
  Status taken = take_value(read_properties(given->properties), read.properties);
  if (taken.ok()) taken = take_value(read_metadata(given->metadata, given->metadata_count), read.metadata);
  if (taken.ok()) taken = take_value(read_tags(given->tags, given->tag_count), read.tags);
  if (taken.ok()) taken = take_value(read_tier(given->tier), read.tier);
  if (taken.ok()) taken = take_conditions(given->conditions, read.conditions);
  if (taken.ok()) taken = take_durability(given->durability, read.durability);
  if (!taken.ok()) return taken;
  read.compresses = given->compresses;
  return read;
}

Result<BlobChangeOptions> read_blob_change_options(const varve_blob_change_options* options) {
  const Result<varve_blob_change_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  BlobChangeOptions read;
  Status taken = take_conditions(given->conditions, read.conditions);
  if (taken.ok()) taken = take_durability(given->durability, read.durability);
  if (!taken.ok()) return taken;
  return read;
}

Result<BlobReadOptions> read_blob_read_options(const varve_blob_read_options* options) {
  const Result<varve_blob_read_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  BlobReadOptions read;
  Status taken = take_conditions(given->conditions, read.conditions);
  if (taken.ok()) taken = take_value(read_snapshot(given->snapshot), read.snapshot);
  if (!taken.ok()) return taken;
  return read;
}

Result<BlobCopyOptions> read_blob_copy_options(const varve_blob_copy_options* options) {
  const Result<varve_blob_copy_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  BlobCopyOptions read;
  Status taken = take_conditions(given->conditions, read.conditions);
  if (taken.ok()) taken = take_conditions(given->source_conditions, read.source_conditions);
  if (taken.ok() && given->properties != nullptr) {
    taken = take_value(read_properties(given->properties), read.properties.emplace());
  }
  if (taken.ok() && given->has_metadata) {
    taken = take_value(read_metadata(given->metadata, given->metadata_count), read.metadata.emplace());
  }
  if (taken.ok()) taken = take_value(read_tags(given->tags, given->tag_count), read.tags);
  if (taken.ok()) taken = take_value(read_tier(given->tier), read.tier);
  if (taken.ok()) taken = take_durability(given->durability, read.durability);
  if (taken.ok()) taken = take_text(given->source_address, "source_address", read.source_address);
  if (!taken.ok()) return taken;
  return read;
}

Result<BlobListing> read_blob_listing(const varve_blob_list_options* options) {
  const Result<varve_blob_list_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  BlobListing read;
  Status taken = take_text(given->prefix, "prefix", read.prefix);
  if (taken.ok()) taken = take_text(given->delimiter, "delimiter", read.delimiter);
  if (taken.ok()) taken = take_text(given->continuation, "continuation", read.continuation);
  if (taken.ok()) taken = take_value(read_snapshot(given->snapshot), read.snapshot);
  if (!taken.ok()) return taken;
  if (given->page_max != 0) read.page_max = given->page_max;
  read.with_uncommitted = given->with_uncommitted;
  return read;
}

Result<AppendOptions> read_append_options(const varve_append_options* options) {
  const Result<varve_append_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  const Result<BlobConditions> conditions = read_conditions(given->conditions);
  if (!conditions.ok()) return conditions.status();
  const Result<std::optional<Durability>> durability = read_durability(given->durability);
  if (!durability.ok()) return durability.status();
  AppendOptions read;
  read.conditions = *conditions;
  read.durability = *durability;
  if (given->has_position) read.position = given->position;
  if (given->has_length_max) read.length_max = given->length_max;
  return read;
}

}  // namespace varve::c

varve_status* varve_blobs_count(const varve_blobs* blobs, size_t* count) {
  return vc::call_on<vc::BlobsObject>(blobs, [&](const vc::BlobsObject& held) -> varve::Status {
    if (count == nullptr) return vc::null_pointer("count");
    *count = held.count();
    return varve::Status();
  });
}

varve_status* varve_blobs_read(const varve_blobs* blobs, size_t index, varve_blob_view* view) {
  return vc::call_on<vc::BlobsObject>(blobs, [&](const vc::BlobsObject& held) -> varve::Status {
    if (index < held.count()) return vc::write_sized(held.view(index), view);
    return varve::Status(varve::Code::kNotFound, "there are " + std::to_string(held.count()) +
                                                     " blobs, so none has the index " + std::to_string(index));
  });
}

varve_status* varve_blobs_continuation(const varve_blobs* blobs, varve_text* continuation) {
  return vc::call_on<vc::BlobsObject>(blobs, [&](const vc::BlobsObject& held) -> varve::Status {
    if (continuation == nullptr) return vc::null_pointer("continuation");
    *continuation = held.continuation();
    return varve::Status();
  });
}

void varve_blobs_free(varve_blobs* blobs) {
  vc::free_handle(blobs, vc::Kind::kBlobs);
}

varve_status* varve_blocks_read(const varve_blocks* blocks, varve_blocks_view* view) {
  return vc::call_on<vc::BlocksObject>(
      blocks, [&](const vc::BlocksObject& held) { return vc::write_sized(held.view(), view); });
}

void varve_blocks_free(varve_blocks* blocks) {
  vc::free_handle(blocks, vc::Kind::kBlocks);
}
