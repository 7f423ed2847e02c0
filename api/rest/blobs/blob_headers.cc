#include "api/rest/blobs/blob_headers.h"

#include <algorithm>

#include "api/model/base64.h"
#include "api/model/percent.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

constexpr std::string_view kOwnMd5 = "x-ms-blob-content-md5";
constexpr std::string_view kBlobPrefix = "x-ms-blob-";

struct PropertyHeader {
  std::string BlobProperties::*property;
  /// The name after `x-ms-blob-`.
  std::string_view name;
  /// Whether the header of HTTP with this name counts, too.
  bool has_common = true;
};
constexpr PropertyHeader kPropertyHeaders[] = {{&BlobProperties::content_type, "content-type"},
                                               {&BlobProperties::content_encoding, "content-encoding"},
                                               {&BlobProperties::content_language, "content-language"},
                                               {&BlobProperties::content_disposition, "content-disposition", false},
                                               {&BlobProperties::cache_control, "cache-control"}};

std::string own_name(std::string_view name) {
  return std::string(kBlobPrefix).append(name);
}

Result<std::optional<Md5>> md5_header(const Headers& headers, std::string_view name) {
  const std::string* const text = find_header(headers, name);
  if (text == nullptr || trimmed(*text).empty()) return std::optional<Md5>();
  const std::optional<std::string> bytes = decode_base64(trimmed(*text));
  Md5 md5{};
  if (!bytes || bytes->size() != md5.size()) {
    return refused("InvalidMd5", std::string(name) + " must be base64 of 16 bytes");
  }
  std::transform(bytes->begin(), bytes->end(), md5.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return std::optional<Md5>(md5);
}

Result<std::optional<std::uint64_t>> crc64_header(const Headers& headers, std::string_view name) {
  const std::string* const text = find_header(headers, name);
  if (text == nullptr || trimmed(*text).empty()) return std::optional<std::uint64_t>();
  const std::optional<std::string> bytes = decode_base64(trimmed(*text));
  if (!bytes || bytes->size() != sizeof(std::uint64_t)) {
    return refused("InvalidCrc64", std::string(name) + " must be base64 of 8 bytes");
  }
  std::uint64_t crc = 0;
  for (std::size_t i = bytes->size(); i > 0; --i) crc = crc << 8 | static_cast<unsigned char>((*bytes)[i - 1]);
  return std::optional<std::uint64_t>(crc);
}

Result<BodyChecksums> checksums_of(const Headers& headers, std::string_view md5_name, std::string_view crc64_name) {
  const Result<std::optional<Md5>> md5 = md5_header(headers, md5_name);
  if (!md5.ok()) return md5.status();
  const Result<std::optional<std::uint64_t>> crc64 = crc64_header(headers, crc64_name);
  if (!crc64.ok()) return crc64.status();
  if (*md5 && *crc64) {
    return refused("BothCrc64AndMd5HeaderPresent",
                   "give " + std::string(md5_name) + " or " + std::string(crc64_name) + ", and not both");
  }
  return BodyChecksums{*md5, *crc64};
}

void add_header(HttpResponse& response, std::string_view name, const std::string& value, const std::string* override) {
  const std::string& shown = override != nullptr && !override->empty() ? *override : value;
  if (!shown.empty()) response.with(name, shown);
}

}  // namespace

Result<BlobProperties> read_blob_properties(const Headers& headers, PropertyHeaders where) {
  BlobProperties properties;
  for (const PropertyHeader& header : kPropertyHeaders) {
    const std::string* value = find_header(headers, own_name(header.name));
    const bool is_common = where == PropertyHeaders::kOwnOrCommon && header.has_common;
    if (value == nullptr && is_common) value = find_header(headers, header.name);
    if (value != nullptr) properties.*header.property = trimmed(*value);
  }
  const Result<std::optional<Md5>> md5 = md5_header(headers, kOwnMd5);
  if (!md5.ok()) return md5.status();
  properties.content_md5 = *md5;
  return properties;
}

bool names_blob_properties(const Headers& headers) {
  if (find_header(headers, kOwnMd5) != nullptr) return true;
  return std::any_of(std::begin(kPropertyHeaders), std::end(kPropertyHeaders), [&](const PropertyHeader& header) {
    return find_header(headers, own_name(header.name)) != nullptr;
  });
}

Result<BodyChecksums> read_body_checksums(const Headers& headers) {
  return checksums_of(headers, "content-md5", "x-ms-content-crc64");
}

Result<BodyChecksums> read_source_checksums(const Headers& headers) {
  return checksums_of(headers, "x-ms-source-content-md5", "x-ms-source-content-crc64");
}

Result<std::optional<std::uint64_t>> read_content_crc64(const Headers& headers) {
  return crc64_header(headers, kContentCrc64Header);
}

Status md5_differs(std::string_view header) {
  return refused("Md5Mismatch", "the content does not match " + std::string(header));
}

Status crc64_differs(std::string_view header) {
  return refused("Crc64Mismatch", "the content does not match " + std::string(header));
}

std::string md5_text(const Md5& md5) {
  std::string bytes(md5.size(), '\0');
  std::transform(md5.begin(), md5.end(), bytes.begin(), [](std::uint8_t byte) { return static_cast<char>(byte); });
  return encode_base64(bytes);
}

std::string crc64_text(std::uint64_t crc64) {
  std::string bytes;
  for (int i = 0; i < 8; ++i, crc64 >>= 8) bytes.push_back(static_cast<char>(crc64 & 0xFF));
  return encode_base64(bytes);
}

void add_blob_properties(HttpResponse& response, const BlobProperties& properties,
                         const security::BlobHeaderOverrides* overrides) {
  const auto override = [&](std::string security::BlobHeaderOverrides::*one) {
    return overrides == nullptr ? nullptr : &(overrides->*one);
  };
  using Overrides = security::BlobHeaderOverrides;
  const std::string type =
      properties.content_type.empty() ? std::string("application/octet-stream") : properties.content_type;
  add_header(response, "Content-Type", type, override(&Overrides::content_type));
  add_header(response, "Content-Encoding", properties.content_encoding, override(&Overrides::content_encoding));
  add_header(response, "Content-Language", properties.content_language, override(&Overrides::content_language));
  add_header(response, "Content-Disposition", properties.content_disposition,
             override(&Overrides::content_disposition));
  add_header(response, "Cache-Control", properties.cache_control, override(&Overrides::cache_control));
}

Result<std::vector<BlobTag>> read_tags_header(const Headers& headers) {
  std::vector<BlobTag> tags;
  const std::string* const text = find_header(headers, "x-ms-tags");
  if (text == nullptr) return tags;
  std::string_view rest = trimmed(*text);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return invalid_header("x-ms-tags", "expected NAME=VALUE, joined by &");
    std::optional<std::string> name = percent_decode(pair.substr(0, equals), PlusSign::kSpace);
    std::optional<std::string> value = percent_decode(pair.substr(equals + 1), PlusSign::kSpace);
    if (!name || !value) return refused("InvalidTag", "a tag of x-ms-tags is badly encoded");
    tags.push_back({*std::move(name), *std::move(value)});
  }
  return tags;
}

namespace {

using TierName = std::pair<BlobTier, std::string_view>;
constexpr TierName kTierNames[] = {
    {BlobTier::kHot, "Hot"}, {BlobTier::kCool, "Cool"}, {BlobTier::kCold, "Cold"}, {BlobTier::kArchive, "Archive"}};

}  // namespace

Result<BlobTier> read_tier(const Headers& headers) {
  constexpr std::string_view kName = "x-ms-access-tier";
  const std::string* const text = find_header(headers, kName);
  if (text == nullptr) return BlobTier::kDefault;
  for (const auto& [tier, name] : kTierNames) {
    if (equal_ignoring_case(trimmed(*text), name)) return tier;
  }
  return invalid_header(kName, "expected Hot, Cool, Cold or Archive");
}

std::string_view tier_name(BlobTier tier) noexcept {
  for (const auto& [known, name] : kTierNames) {
    if (known == tier) return name;
  }
  return kTierNames[0].second;
}

Result<PublicAccess> read_public_access(const Headers& headers) {
  constexpr std::string_view kName = "x-ms-blob-public-access";
  const std::string* const text = find_header(headers, kName);
  if (text == nullptr) return PublicAccess::kNone;
  for (const PublicAccess access : {PublicAccess::kBlobs, PublicAccess::kContainer}) {
    if (equal_ignoring_case(trimmed(*text), public_access_name(access))) return access;
  }
  return invalid_header(kName, "expected blob or container");
}

std::string_view public_access_name(PublicAccess access) noexcept {
  switch (access) {
    case PublicAccess::kBlobs: return "blob";
    case PublicAccess::kContainer: return "container";
    case PublicAccess::kNone: break;
  }
  return "";
}

std::string_view lease_state_name(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::kLeased: return "leased";
    case LeaseState::kExpired: return "expired";
    case LeaseState::kBreaking: return "breaking";
    case LeaseState::kBroken: return "broken";
    case LeaseState::kAvailable: break;
  }
  return "available";
}

std::string_view lease_status_name(LeaseState state) noexcept {
  return state == LeaseState::kLeased || state == LeaseState::kBreaking ? "locked" : "unlocked";
}

std::string_view lease_duration_name(const LeaseInfo& lease) noexcept {
  if (lease.state != LeaseState::kLeased) return "";
  return lease.is_infinite ? "infinite" : "fixed";
}

void add_lease(HttpResponse& response, const LeaseInfo& lease) {
  response.with("x-ms-lease-status", lease_status_name(lease.state));
  response.with("x-ms-lease-state", lease_state_name(lease.state));
  const std::string_view duration = lease_duration_name(lease);
  if (!duration.empty()) response.with("x-ms-lease-duration", duration);
}

}  // namespace varve::serve
