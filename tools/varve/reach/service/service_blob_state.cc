#include "tools/varve/reach/service/service_blob_state.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "api/model/base64.h"
#include "api/model/percent.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/encoding/xml_text.h"
#include "api/rest/protocol/metadata_headers.h"
#include "tools/varve/reach/service/service_wire.h"

namespace varve::tool {
namespace {

/// The elements of a listing whose names are not those of the headers.
constexpr std::pair<std::string_view, const char*> kElementHeaders[] = {
    {"Creation-Time", "x-ms-creation-time"},    {"BlobType", "x-ms-blob-type"},
    {"AccessTier", "x-ms-access-tier"},         {"AccessTierInferred", "x-ms-access-tier-inferred"},
    {"LeaseState", "x-ms-lease-state"},         {"LeaseDuration", "x-ms-lease-duration"},
    {"CopySource", "x-ms-copy-source"},         {"CopyCompletionTime", "x-ms-copy-completion-time"},
    {"PublicAccess", "x-ms-blob-public-access"}};

/// Returns the properties and the metadata of an entry as the headers that an answer about it would have.
serve::Headers headers_of_entry(const pugi::xml_node& entry) {
  serve::Headers headers;
  for (const pugi::xml_node property : entry.child("Properties").children()) {
    const std::string_view element = property.name();
    const auto* const known = std::find_if(std::begin(kElementHeaders), std::end(kElementHeaders),
                                           [element](const auto& one) { return one.first == element; });
    headers.emplace_back(known == std::end(kElementHeaders) ? property.name() : known->second, property.child_value());
  }
  add_metadata_headers(headers, metadata_of_xml(entry.child("Metadata")));
  return headers;
}

/// Returns the name of an entry. A name that XML cannot carry is encoded.
std::string name_of_entry(const pugi::xml_node& entry) {
  const pugi::xml_node name = entry.child("Name");
  std::string text = name.child_value();
  if (std::string_view(name.attribute("Encoded").value()) != "true") return text;
  return percent_decode(text).value_or(text);
}

std::string header_text(const serve::Headers& headers, std::string_view name) {
  const std::string* const text = serve::find_header(headers, name);
  return text == nullptr ? std::string() : std::string(serve::trimmed(*text));
}

/// Reads a time if the header is there.
Status read_time_header(const serve::Headers& headers, std::string_view name, std::optional<DateTime>& time) {
  const std::string text = header_text(headers, name);
  if (text.empty()) return Status();
  const Result<DateTime> read = time_of_answer(text);
  if (read.ok()) time = *read;
  return read.status();
}

/// Reads a number if the header is there.
Status read_number_header(const serve::Headers& headers, std::string_view name, std::uint64_t& number) {
  const std::string text = header_text(headers, name);
  if (text.empty()) return Status();
  const Result<std::uint64_t> read = number_of_answer(text);
  if (read.ok()) number = *read;
  return read.status();
}

LeaseInfo lease_of_headers(const serve::Headers& headers) {
  const std::string name = header_text(headers, "x-ms-lease-state");
  LeaseInfo lease;
  for (const LeaseState state :
       {LeaseState::kLeased, LeaseState::kExpired, LeaseState::kBreaking, LeaseState::kBroken}) {
    if (name == serve::lease_state_name(state)) lease.state = state;
  }
  lease.is_infinite = header_text(headers, "x-ms-lease-duration") == "infinite";
  return lease;
}

Result<BlobProperties> properties_of_headers(const serve::Headers& headers) {
  Result<BlobProperties> properties = serve::read_blob_properties(headers, serve::PropertyHeaders::kOwnOrCommon);
  if (!properties.ok()) return unexpected_answer(properties.status().message());
  properties->content_disposition = header_text(headers, "content-disposition");
  const std::optional<std::string> md5 = decode_base64(header_text(headers, "content-md5"));
  if (!md5 || md5->size() != serve::Md5().size()) return properties;
  serve::Md5& bytes = properties->content_md5.emplace();
  std::transform(md5->begin(), md5->end(), bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return properties;
}

/// Returns the ETag as the service writes it. The text of a foreign ETag is lost, and no blob has it.
std::string etag_text(const ETag& etag) {
  if (etag.is_any()) return "*";
  return etag.is_foreign() ? "\"foreign\"" : serve::quoted_etag(etag);
}

Result<BlobListed> listed_of_entry(const pugi::xml_node& entry) {
  BlobListed listed;
  if (std::string_view(entry.name()) == "BlobPrefix") {
    listed.prefix = name_of_entry(entry);
    return listed;
  }
  Result<BlobState> blob = blob_state_of(name_of_entry(entry), headers_of_entry(entry));
  if (!blob.ok()) return blob.status();
  listed.blob = *std::move(blob);
  for (const pugi::xml_node tag : entry.child("Tags").child("TagSet").children("Tag")) {
    listed.blob.tags.push_back({text_of_child(tag, "Key"), text_of_child(tag, "Value")});
  }
  return listed;
}

Status read_blocks(const pugi::xml_node& list, std::vector<BlockInfo>& blocks) {
  for (const pugi::xml_node block : list.children("Block")) {
    std::optional<std::string> id = serve::decode_block_id(text_of_child(block, "Name"));
    const Result<std::uint64_t> length = number_of_answer(text_of_child(block, "Size"));
    if (!id || !length.ok()) return unexpected_answer("a block has no id or no length");
    blocks.push_back({*std::move(id), *length});
  }
  return Status();
}

}  // namespace

Result<BlobState> blob_state_of(std::string name, const serve::Headers& headers) {
  BlobState blob;
  blob.name = std::move(name);
  Result<BlobProperties> properties = properties_of_headers(headers);
  if (!properties.ok()) return properties.status();
  blob.properties = *std::move(properties);
  const std::string etag = header_text(headers, "etag");
  blob.is_uncommitted = etag.empty();
  if (!etag.empty()) {
    const Result<ETag> parsed = serve::parse_blob_etag(etag);
    if (!parsed.ok()) return unexpected_answer("an ETag is malformed");
    blob.etag = *parsed;
  }
  std::optional<DateTime> modified;
  std::optional<DateTime> created;
  if (Status read = read_time_header(headers, "last-modified", modified); !read.ok()) return read;
  if (Status read = read_time_header(headers, "x-ms-creation-time", created); !read.ok()) return read;
  if (Status read = read_time_header(headers, "x-ms-copy-completion-time", blob.copied); !read.ok()) return read;
  blob.modified = modified.value_or(DateTime());
  blob.created = created.value_or(blob.modified);
  std::uint64_t appends = 0;
  if (Status read = read_number_header(headers, "content-length", blob.length); !read.ok()) return read;
  if (Status read = read_number_header(headers, "x-ms-blob-committed-block-count", appends); !read.ok()) return read;
  blob.append_count = static_cast<std::uint32_t>(appends);
  const Result<std::optional<std::uint64_t>> crc64 = serve::read_content_crc64(headers);
  if (!crc64.ok()) return unexpected_answer("a checksum is malformed");
  blob.crc64 = *crc64;
  blob.kind = header_text(headers, "x-ms-blob-type") == "AppendBlob" ? BlobKind::kAppend : BlobKind::kBlock;
  blob.metadata = serve::metadata_of(headers);
  blob.lease = lease_of_headers(headers);
  blob.copy_source = header_text(headers, "x-ms-copy-source");
  // Other services have further tiers.
  const Result<BlobTier> tier = serve::read_tier(headers);
  if (tier.ok() && header_text(headers, "x-ms-access-tier-inferred") != "true") blob.tier = *tier;
  return blob;
}

Result<ContainerState> container_state_of(std::string name, const serve::Headers& headers) {
  ContainerState container;
  container.name = std::move(name);
  const Result<ETag> etag = serve::parse_blob_etag(header_text(headers, "etag"));
  if (!etag.ok()) return unexpected_answer("an ETag is malformed");
  container.etag = *etag;
  std::optional<DateTime> modified;
  if (Status read = read_time_header(headers, "last-modified", modified); !read.ok()) return read;
  container.modified = modified.value_or(DateTime());
  container.metadata = serve::metadata_of(headers);
  container.lease = lease_of_headers(headers);
  const Result<PublicAccess> access = serve::read_public_access(headers);
  if (access.ok() && !header_text(headers, "x-ms-blob-public-access").empty()) container.public_access = *access;
  return container;
}

Result<BlobPage> blob_page_of(const serve::HttpResponse& response) {
  pugi::xml_document document;
  if (Status parsed = read_xml(response, "EnumerationResults", document); !parsed.ok()) return parsed;
  const pugi::xml_node listing = document.child("EnumerationResults");
  if (!listing.child("Blobs")) return unexpected_answer("it is no list of blobs");
  BlobPage page;
  for (const pugi::xml_node entry : listing.child("Blobs").children()) {
    if (entry.type() != pugi::node_element) continue;  // white space
    Result<BlobListed> listed = listed_of_entry(entry);
    if (!listed.ok()) return listed.status();
    page.entries.push_back(*std::move(listed));
  }
  page.continuation = next_marker_of(listing);
  return page;
}

Result<ContainerPage> container_page_of(const serve::HttpResponse& response) {
  pugi::xml_document document;
  if (Status parsed = read_xml(response, "EnumerationResults", document); !parsed.ok()) return parsed;
  const pugi::xml_node listing = document.child("EnumerationResults");
  if (!listing.child("Containers")) return unexpected_answer("it is no list of containers");
  ContainerPage page;
  for (const pugi::xml_node entry : listing.child("Containers").children("Container")) {
    Result<ContainerState> container = container_state_of(name_of_entry(entry), headers_of_entry(entry));
    if (!container.ok()) return container.status();
    page.containers.push_back(*std::move(container));
  }
  page.continuation = next_marker_of(listing);
  return page;
}

Result<BlockLists> block_lists_of(const serve::HttpResponse& response) {
  pugi::xml_document document;
  if (Status parsed = read_xml(response, "BlockList", document); !parsed.ok()) return parsed;
  const pugi::xml_node lists = document.child("BlockList");
  BlockLists blocks;
  if (Status read = read_blocks(lists.child("CommittedBlocks"), blocks.committed); !read.ok()) return read;
  if (Status read = read_blocks(lists.child("UncommittedBlocks"), blocks.staged); !read.ok()) return read;
  return blocks;
}

std::string block_list_body(const std::vector<BlockChoice>& blocks) {
  std::string xml(serve::kXmlDeclaration);
  xml += "<BlockList>";
  for (const BlockChoice& block : blocks) {
    const bool is_latest = block.from == BlockChoice::From::kLatest;
    const bool is_staged = block.from == BlockChoice::From::kStaged;
    serve::append_tag(xml, is_latest ? "Latest" : is_staged ? "Uncommitted" : "Committed", encode_base64(block.id));
  }
  return xml + "</BlockList>";
}

void add_condition_headers(serve::Headers& headers, const BlobConditions& conditions) {
  if (conditions.if_match) headers.emplace_back("If-Match", etag_text(*conditions.if_match));
  if (conditions.if_none_match) headers.emplace_back("If-None-Match", etag_text(*conditions.if_none_match));
  if (conditions.lease) headers.emplace_back("x-ms-lease-id", conditions.lease->to_string());
}

void add_write_headers(serve::Headers& headers, const BlobWriteOptions& options) {
  const auto add = [&headers](const char* name, const std::string& value) {
    if (!value.empty()) headers.emplace_back(name, value);
  };
  add("x-ms-blob-content-type", options.properties.content_type);
  add("x-ms-blob-content-encoding", options.properties.content_encoding);
  add("x-ms-blob-content-language", options.properties.content_language);
  add("x-ms-blob-content-disposition", options.properties.content_disposition);
  add("x-ms-blob-cache-control", options.properties.cache_control);
  add_metadata_headers(headers, options.metadata);
  add_tags_header(headers, options.tags);
  add_condition_headers(headers, options.conditions);
}

void add_tags_header(serve::Headers& headers, const std::vector<BlobTag>& tags) {
  std::string text;
  for (const BlobTag& tag : tags) {
    text += (text.empty() ? "" : "&") + percent_encode(tag.name) + "=" + percent_encode(tag.value);
  }
  if (!text.empty()) headers.emplace_back("x-ms-tags", text);
}

void add_lease_headers(serve::Headers& headers, const LeaseRequest& request) {
  using enum LeaseRequest::Action;
  const char* action = "acquire";
  switch (request.action) {
    case kAcquire: break;
    case kRenew: action = "renew"; break;
    case kChange: action = "change"; break;
    case kRelease: action = "release"; break;
    case kBreak: action = "break"; break;
  }
  headers.emplace_back("x-ms-lease-action", action);
  const bool names_lease = request.action == kRenew || request.action == kChange || request.action == kRelease;
  if (names_lease) headers.emplace_back("x-ms-lease-id", request.id.to_string());
  if (request.action == kAcquire) headers.emplace_back("x-ms-lease-duration", std::to_string(request.duration.count()));
  if (request.proposed) headers.emplace_back("x-ms-proposed-lease-id", request.proposed->to_string());
  if (request.break_period) {
    headers.emplace_back("x-ms-lease-break-period", std::to_string(request.break_period->count()));
  }
}

Result<LeaseAnswer> lease_answer_of(const LeaseRequest& request, const serve::HttpResponse& response) {
  using enum LeaseRequest::Action;
  LeaseAnswer answer;
  if (request.action == kRelease) return answer;
  if (request.action == kBreak) {
    std::uint64_t left = 0;
    if (Status read = read_number_header(response.headers, "x-ms-lease-time", left); !read.ok()) return read;
    answer.left = std::chrono::seconds(left);
    return answer;
  }
  const Result<Guid> id = Guid::parse(header_text(response.headers, "x-ms-lease-id"));
  if (!id.ok()) return unexpected_answer("it has no id of a lease");
  answer.id = *id;
  return answer;
}

}  // namespace varve::tool
