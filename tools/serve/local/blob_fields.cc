#include "tools/serve/local/blob_fields.h"

#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "api/model/service_error.h"

namespace varve::serve {
namespace {

constexpr std::string_view kBlob = "blob";
constexpr std::string_view kPrefix = "prefix";
constexpr std::string_view kContainer = "container";
constexpr std::string_view kContinuation = "continuation";
constexpr std::string_view kCommitted = "committed";
constexpr std::string_view kStaged = "staged";
constexpr std::string_view kLatest = "latest";
constexpr std::string_view kMetadata = "metadata:";
constexpr std::string_view kTag = "tag:";

Status malformed_fields() {
  return service_error::invalid_input("the fields of a blob are malformed");
}

// -- Single values ----------------------------------------------------------------------------------------------------

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_time(std::string_view text, std::optional<DateTime>& time) {
  return read_number(text, time.emplace().ticks);
}

template <typename Kind>
bool read_kind(std::string_view text, Kind last, Kind& kind) {
  std::uint8_t number = 0;
  if (!read_number(text, number) || number > static_cast<std::uint8_t>(last)) return false;
  kind = static_cast<Kind>(number);
  return true;
}

bool read_etag(std::string_view text, ETag& etag) {
  const Result<ETag> parsed = ETag::parse(text);
  if (!parsed.ok()) return false;
  etag = *parsed;
  return true;
}

bool read_md5(std::string_view text, std::optional<std::array<std::uint8_t, 16>>& md5) {
  std::array<std::uint8_t, 16> bytes{};
  if (text.size() != bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(text[i]);
  md5 = bytes;
  return true;
}

bool read_guid(std::string_view text, std::optional<Guid>& guid) {
  const Result<Guid> parsed = Guid::parse(text);
  if (!parsed.ok()) return false;
  guid = *parsed;
  return true;
}

template <typename Kind>
std::string kind_text(Kind kind) {
  return std::to_string(static_cast<unsigned>(kind));
}

void add_text(Fields& fields, std::string_view name, const std::string& value) {
  if (!value.empty()) fields.emplace_back(name, value);
}

void add_time(Fields& fields, std::string_view name, const std::optional<DateTime>& time) {
  if (time) fields.emplace_back(name, std::to_string(time->ticks));
}

// -- Parts of blobs and containers --------------------------------------------------------------------------------------

void add_properties(Fields& fields, const BlobProperties& properties) {
  add_text(fields, "type", properties.content_type);
  add_text(fields, "encoding", properties.content_encoding);
  add_text(fields, "language", properties.content_language);
  add_text(fields, "disposition", properties.content_disposition);
  add_text(fields, "cache", properties.cache_control);
  if (properties.content_md5) {
    fields.emplace_back("md5", std::string(properties.content_md5->begin(), properties.content_md5->end()));
  }
}

/// Returns the text of a property, or null if the name is of no text.
std::string* property_text(BlobProperties& properties, std::string_view name) {
  if (name == "type") return &properties.content_type;
  if (name == "encoding") return &properties.content_encoding;
  if (name == "language") return &properties.content_language;
  if (name == "disposition") return &properties.content_disposition;
  if (name == "cache") return &properties.cache_control;
  return nullptr;
}

bool read_property(std::string_view name, const std::string& value, BlobProperties& properties) {
  if (name == "md5") return read_md5(value, properties.content_md5);
  if (std::string* const text = property_text(properties, name)) *text = value;
  return true;
}

void add_metadata(Fields& fields, const std::vector<MetadataPair>& metadata) {
  for (const MetadataPair& pair : metadata) fields.emplace_back(std::string(kMetadata) + pair.name, pair.value);
}

void read_metadata(std::string_view name, const std::string& value, std::vector<MetadataPair>& metadata) {
  if (name.starts_with(kMetadata)) metadata.push_back({std::string(name.substr(kMetadata.size())), value});
}

void add_tags(Fields& fields, const std::vector<BlobTag>& tags) {
  for (const BlobTag& tag : tags) fields.emplace_back(std::string(kTag) + tag.name, tag.value);
}

void read_tag(std::string_view name, const std::string& value, std::vector<BlobTag>& tags) {
  if (name.starts_with(kTag)) tags.push_back({std::string(name.substr(kTag.size())), value});
}

void add_lease(Fields& fields, const LeaseInfo& lease) {
  fields.emplace_back("lease", kind_text(lease.state));
  if (lease.is_infinite) fields.emplace_back("infinite", "1");
}

bool read_lease(std::string_view name, const std::string& value, LeaseInfo& lease) {
  if (name == "infinite") lease.is_infinite = true;
  return name != "lease" || read_kind(value, LeaseState::kBroken, lease.state);
}

bool read_own_guid(std::string_view text, Guid& guid) {
  std::optional<Guid> read;
  if (!read_guid(text, read)) return false;
  guid = *read;
  return true;
}

/// Reads a number of seconds that a lease may have in its fields. The lease checks its range.
bool read_seconds(std::string_view text, std::chrono::seconds& seconds) {
  std::int32_t number = 0;
  if (!read_number(text, number)) return false;
  seconds = std::chrono::seconds(number);
  return true;
}

bool read_copy(std::string_view name, const std::string& value, BlobState& blob) {
  if (name == "copy-source") blob.copy_source = value;
  if (name == "copy-id") return read_guid(value, blob.copy_id);
  return name != "copied" || read_time(value, blob.copied);
}

bool read_numbers(std::string_view name, const std::string& value, BlobState& blob) {
  if (name == "modified") return read_number(value, blob.modified.ticks);
  if (name == "created") return read_number(value, blob.created.ticks);
  if (name == "length") return read_number(value, blob.length);
  if (name == "crc64") return read_number(value, blob.crc64.emplace());
  if (name == "appends") return read_number(value, blob.append_count);
  return true;
}

/// Reads one field of a blob. Returns false if the value is malformed.
bool read_blob_field(std::string_view name, const std::string& value, BlobState& blob) {
  if (name == kBlob) blob.name = value;
  if (name == "uncommitted") blob.is_uncommitted = true;
  if (name == "kind") return read_kind(value, BlobKind::kAppend, blob.kind);
  if (name == "etag") return read_etag(value, blob.etag);
  if (name == "tier") return read_kind(value, BlobTier::kArchive, blob.tier);
  if (name == "tier-changed") return read_time(value, blob.tier_changed);
  read_metadata(name, value, blob.metadata);
  read_tag(name, value, blob.tags);
  return read_numbers(name, value, blob) && read_property(name, value, blob.properties) &&
         read_lease(name, value, blob.lease) && read_copy(name, value, blob);
}

bool read_container_field(std::string_view name, const std::string& value, ContainerState& container) {
  if (name == kContainer) container.name = value;
  if (name == "etag") return read_etag(value, container.etag);
  if (name == "modified") return read_number(value, container.modified.ticks);
  if (name == "access") return read_kind(value, PublicAccess::kContainer, container.public_access);
  read_metadata(name, value, container.metadata);
  return read_lease(name, value, container.lease);
}

// -- Texts ------------------------------------------------------------------------------------------------------------

void append_part(std::string& text, std::string_view part) {
  text.append(std::to_string(part.size())).append(1, ':').append(part);
}

/// Removes the first part of a text.
bool take_part(std::string_view& text, std::string& part) {
  std::size_t size = 0;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !read_number(text.substr(0, colon), size)) return false;
  text.remove_prefix(colon + 1);
  if (size > text.size()) return false;
  part = text.substr(0, size);
  text.remove_prefix(size);
  return true;
}

}  // namespace

std::string fields_text(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    append_part(text, name);
    append_part(text, value);
  }
  return text;
}

std::size_t entity_fields_max(const StoreLimits& limits) noexcept {
  constexpr std::size_t kFieldsOfAWrite = 100;
  return std::size_t{limits.custom_properties_max} * 3 + kFieldsOfAWrite;
}

Result<Fields> parse_fields(std::string_view text, std::size_t fields_max) {
  Fields fields;
  while (!text.empty()) {
    if (fields.size() == fields_max) {
      return service_error::invalid_input("the request has more than " + std::to_string(fields_max) + " fields");
    }
    auto& [name, value] = fields.emplace_back();
    if (!take_part(text, name) || !take_part(text, value)) return malformed_fields();
  }
  return fields;
}

// -- Values as fields ---------------------------------------------------------------------------------------------------

void add_fields(Fields& fields, const BlobState& blob) {
  fields.emplace_back(kBlob, blob.name);
  fields.emplace_back("kind", kind_text(blob.kind));
  if (!blob.etag.is_none()) fields.emplace_back("etag", blob.etag.to_string());
  fields.emplace_back("modified", std::to_string(blob.modified.ticks));
  fields.emplace_back("created", std::to_string(blob.created.ticks));
  fields.emplace_back("length", std::to_string(blob.length));
  if (blob.crc64) fields.emplace_back("crc64", std::to_string(*blob.crc64));
  add_properties(fields, blob.properties);
  add_metadata(fields, blob.metadata);
  add_tags(fields, blob.tags);
  fields.emplace_back("tier", kind_text(blob.tier));
  add_time(fields, "tier-changed", blob.tier_changed);
  add_lease(fields, blob.lease);
  fields.emplace_back("appends", std::to_string(blob.append_count));
  add_text(fields, "copy-source", blob.copy_source);
  if (blob.copy_id) fields.emplace_back("copy-id", blob.copy_id->to_string());
  add_time(fields, "copied", blob.copied);
  if (blob.is_uncommitted) fields.emplace_back("uncommitted", "1");
}

void add_fields(Fields& fields, const ContainerState& container) {
  fields.emplace_back(kContainer, container.name);
  if (!container.etag.is_none()) fields.emplace_back("etag", container.etag.to_string());
  fields.emplace_back("modified", std::to_string(container.modified.ticks));
  fields.emplace_back("access", kind_text(container.public_access));
  add_metadata(fields, container.metadata);
  add_lease(fields, container.lease);
}

void add_fields(Fields& fields, const BlobWriteOptions& options) {
  add_properties(fields, options.properties);
  add_metadata(fields, options.metadata);
  add_tags(fields, options.tags);
  fields.emplace_back("tier", kind_text(options.tier));
  if (options.conditions.if_match) fields.emplace_back("if-match", options.conditions.if_match->to_string());
  if (options.conditions.if_none_match) {
    fields.emplace_back("if-none-match", options.conditions.if_none_match->to_string());
  }
  if (options.conditions.lease) fields.emplace_back("lease-id", options.conditions.lease->to_string());
  if (options.durability) fields.emplace_back("durability", kind_text(*options.durability));
  if (options.compresses) fields.emplace_back("compresses", "1");
}

void add_fields(Fields& fields, const BlobPage& page) {
  for (const BlobListed& entry : page.entries) {
    if (entry.prefix.empty()) {
      add_fields(fields, entry.blob);
    } else {
      fields.emplace_back(kPrefix, entry.prefix);
    }
  }
  if (page.continuation) fields.emplace_back(kContinuation, *page.continuation);
}

void add_fields(Fields& fields, const ContainerPage& page) {
  for (const ContainerState& container : page.containers) add_fields(fields, container);
  if (page.continuation) fields.emplace_back(kContinuation, *page.continuation);
}

void add_fields(Fields& fields, const BlockLists& blocks) {
  for (const BlockInfo& block : blocks.committed) {
    fields.emplace_back(kCommitted, std::to_string(block.length) + ":" + block.id);
  }
  for (const BlockInfo& block : blocks.staged) {
    fields.emplace_back(kStaged, std::to_string(block.length) + ":" + block.id);
  }
  if (blocks.blob) add_fields(fields, *blocks.blob);
}

void add_fields(Fields& fields, const std::vector<BlockChoice>& blocks) {
  for (const BlockChoice& block : blocks) {
    const bool is_latest = block.from == BlockChoice::From::kLatest;
    fields.emplace_back(is_latest                                  ? kLatest
                        : block.from == BlockChoice::From::kStaged ? kStaged
                                                                   : kCommitted,
                        block.id);
  }
}

void add_fields(Fields& fields, const LeaseRequest& request) {
  fields.emplace_back("action", kind_text(request.action));
  fields.emplace_back("id", request.id.to_string());
  if (request.proposed) fields.emplace_back("proposed", request.proposed->to_string());
  fields.emplace_back("duration", std::to_string(request.duration.count()));
  if (request.break_period) fields.emplace_back("period", std::to_string(request.break_period->count()));
}

void add_fields(Fields& fields, const LeaseAnswer& answer) {
  fields.emplace_back("id", answer.id.to_string());
  fields.emplace_back("left", std::to_string(answer.left.count()));
}

// -- Fields as values ---------------------------------------------------------------------------------------------------

Result<BlobState> blob_of(const Fields& fields) {
  BlobState blob;
  for (const auto& [name, value] : fields) {
    if (!read_blob_field(name, value, blob)) return malformed_fields();
  }
  return blob;
}

Result<ContainerState> container_of(const Fields& fields) {
  ContainerState container;
  for (const auto& [name, value] : fields) {
    if (!read_container_field(name, value, container)) return malformed_fields();
  }
  return container;
}

Result<BlobWriteOptions> write_options_of(const Fields& fields) {
  BlobWriteOptions options;
  for (const auto& [name, value] : fields) {
    read_metadata(name, value, options.metadata);
    read_tag(name, value, options.tags);
    bool is_good = read_property(name, value, options.properties);
    if (name == "tier") is_good = read_kind(value, BlobTier::kArchive, options.tier);
    if (name == "if-match") is_good = read_etag(value, options.conditions.if_match.emplace());
    if (name == "if-none-match") is_good = read_etag(value, options.conditions.if_none_match.emplace());
    if (name == "lease-id") is_good = read_guid(value, options.conditions.lease);
    if (name == "durability") is_good = read_kind(value, Durability::kBuffered, options.durability.emplace());
    if (name == "compresses") {
      is_good = value == "1";
      options.compresses = true;
    }
    if (!is_good) return malformed_fields();
  }
  return options;
}

Result<BlobPage> blob_page_of(const Fields& fields) {
  BlobPage page;
  for (const auto& [name, value] : fields) {
    if (name == kContinuation) {
      page.continuation = value;
    } else if (name == kPrefix) {
      page.entries.emplace_back().prefix = value;
    } else {
      if (name == kBlob) page.entries.emplace_back();
      if (page.entries.empty() || !read_blob_field(name, value, page.entries.back().blob)) return malformed_fields();
    }
  }
  return page;
}

Result<ContainerPage> container_page_of(const Fields& fields) {
  ContainerPage page;
  for (const auto& [name, value] : fields) {
    if (name == kContinuation) {
      page.continuation = value;
      continue;
    }
    if (name == kContainer) page.containers.emplace_back();
    if (page.containers.empty() || !read_container_field(name, value, page.containers.back())) {
      return malformed_fields();
    }
  }
  return page;
}

Result<BlockLists> block_lists_of(const Fields& fields) {
  BlockLists blocks;
  for (const auto& [name, value] : fields) {
    if (name == kCommitted || name == kStaged) {
      BlockInfo& block = (name == kCommitted ? blocks.committed : blocks.staged).emplace_back();
      const std::size_t colon = value.find(':');
      if (colon == std::string::npos || !read_number(std::string_view(value).substr(0, colon), block.length)) {
        return malformed_fields();
      }
      block.id = value.substr(colon + 1);
      continue;
    }
    if (name == kBlob) blocks.blob.emplace();
    if (!blocks.blob || !read_blob_field(name, value, *blocks.blob)) return malformed_fields();
  }
  return blocks;
}

Result<LeaseRequest> lease_request_of(const Fields& fields) {
  LeaseRequest request;
  for (const auto& [name, value] : fields) {
    bool is_good = true;
    if (name == "action") is_good = read_kind(value, LeaseRequest::Action::kBreak, request.action);
    if (name == "id") is_good = read_own_guid(value, request.id);
    if (name == "proposed") is_good = read_guid(value, request.proposed);
    if (name == "duration") is_good = read_seconds(value, request.duration);
    if (name == "period") is_good = read_seconds(value, request.break_period.emplace());
    if (!is_good) return malformed_fields();
  }
  return request;
}

Result<LeaseAnswer> lease_answer_of(const Fields& fields) {
  LeaseAnswer answer;
  for (const auto& [name, value] : fields) {
    if (name == "id" && !read_own_guid(value, answer.id)) return malformed_fields();
    if (name == "left" && !read_seconds(value, answer.left)) return malformed_fields();
  }
  return answer;
}

std::vector<BlockChoice> block_choices_of(const Fields& fields) {
  using From = BlockChoice::From;
  std::vector<BlockChoice> choices;
  for (const auto& [name, value] : fields) {
    if (name == kLatest) choices.push_back({value, From::kLatest});
    if (name == kStaged) choices.push_back({value, From::kStaged});
    if (name == kCommitted) choices.push_back({value, From::kCommitted});
  }
  return choices;
}

}  // namespace varve::serve
