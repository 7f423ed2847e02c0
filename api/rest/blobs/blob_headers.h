// Owns: the headers that describe a blob or a container: properties, checksums, tags, tier, public access.
// Must never: judge limits of values. The store judges them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"
#include "varve/blob.h"
#include "varve/result.h"
#include "varve/security/blob_sas.h"

namespace varve::serve {

using Md5 = std::array<std::uint8_t, 16>;

/// Where a request may name the properties of its blob.
enum class PropertyHeaders : std::uint8_t {
  /// In headers `x-ms-blob-...` or in those of HTTP, for example Content-Type, as a put has them.
  kOwnOrCommon,
  /// In headers `x-ms-blob-...` alone, as Set Blob Properties and Put Block List have them.
  kOwn,
};
/// Returns the properties that the headers give. Errors: kInvalidArgument (InvalidMd5: x-ms-blob-content-md5 is
/// malformed). Source: BB-03, BB-08, BP-01.
Result<BlobProperties> read_blob_properties(const Headers& headers, PropertyHeaders where);
/// Returns whether the headers name any property of a blob. Source: BP-01.
bool names_blob_properties(const Headers& headers);

/// The checksums with which a client sends a body.
struct BodyChecksums {
  std::optional<Md5> md5{};
  std::optional<std::uint64_t> crc64{};
};
/// Reads Content-MD5 and x-ms-content-crc64. Errors: kInvalidArgument (InvalidMd5, InvalidCrc64: malformed;
/// BothCrc64AndMd5HeaderPresent). Source: BB-04.
Result<BodyChecksums> read_body_checksums(const Headers& headers);
/// Reads x-ms-source-content-md5 and x-ms-source-content-crc64, the checksums of a content that is read from another blob.
/// Errors: as above. Source: BY-02.
Result<BodyChecksums> read_source_checksums(const Headers& headers);
/// Return the refusal of a content with another checksum. Source: BB-04.
/// @{
Status md5_differs(std::string_view header = "Content-MD5");
Status crc64_differs(std::string_view header = "x-ms-content-crc64");
/// @}
/// Returns the texts of Content-MD5 and x-ms-content-crc64. The CRC is written from its lowest byte on.
/// @{
std::string md5_text(const Md5& md5);
std::string crc64_text(std::uint64_t crc64);
/// @}

/// The header with the CRC-64 of a whole blob, as crc64_text() writes it. The protocol has the checksums of parts alone.
inline constexpr std::string_view kContentCrc64Header = "x-varve-content-crc64";
/// Returns the CRC-64 of a whole blob, or nothing if an answer has none. Errors: kInvalidArgument (InvalidCrc64).
Result<std::optional<std::uint64_t>> read_content_crc64(const Headers& headers);

/// Adds the headers that answers to reads have for a blob's properties, and those that a signature puts in their place
/// (may be null). The content type is there always. Source: BG-02, BG-07, BP-02.
void add_blob_properties(HttpResponse& response, const BlobProperties& properties,
                         const security::BlobHeaderOverrides* overrides);

/// Returns the tags of x-ms-tags, for example `year=2026&place=Oslo`. Errors: kInvalidArgument (InvalidHeaderValue: the
/// form; InvalidTag: badly encoded). Source: BT-10.
Result<std::vector<BlobTag>> read_tags_header(const Headers& headers);

/// Returns the tier of x-ms-access-tier, or kDefault if the header is missing. Errors: kInvalidArgument
/// (InvalidHeaderValue: an unknown name). Source: BT-01.
Result<BlobTier> read_tier(const Headers& headers);
/// Returns the tier's name. That of kDefault is Hot.
std::string_view tier_name(BlobTier tier) noexcept;

/// Returns the access of x-ms-blob-public-access. Errors: kInvalidArgument (InvalidHeaderValue). Source: BB-10, BB-14.
Result<PublicAccess> read_public_access(const Headers& headers);
/// Returns `blob`, `container`, or an empty text for no access.
std::string_view public_access_name(PublicAccess access) noexcept;

/// Returns the names of a lease's state and status: `leased` and `locked`. Source: BE-02.
std::string_view lease_state_name(LeaseState state) noexcept;
std::string_view lease_status_name(LeaseState state) noexcept;
/// Returns `infinite` or `fixed` for a lease that is held, else an empty text.
std::string_view lease_duration_name(const LeaseInfo& lease) noexcept;
void add_lease(HttpResponse& response, const LeaseInfo& lease);

}  // namespace varve::serve
