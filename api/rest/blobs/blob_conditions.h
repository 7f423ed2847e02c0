// Owns: the headers that make a request depend on the state of a blob: ETags, dates and leases.
// Must never: judge a condition of a write. The store judges it with the change, under one lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve::serve {

/// Returns the ETag as the blob service writes it: `"0x8DE78A1B2C3D4E5"`. Source: BH-02.
std::string quoted_etag(const ETag& etag);
/// Returns the text of quoted_etag() without its quotation marks, as listings have it.
std::string plain_etag(const ETag& etag);
/// Parses `*`, or an ETag with or without quotation marks. An ETag that no blob has, for example a weak one, is foreign.
/// Errors: kInvalidArgument (InvalidHeaderValue: control characters or inner quotation marks). Source: BH-03.
Result<ETag> parse_blob_etag(std::string_view text);

enum class BlobAccess : std::uint8_t { kRead, kWrite };

/// Returns the conditions of the headers If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and
/// x-ms-lease-id. Errors: kInvalidArgument:
/// - InvalidHeaderValue: an ETag, a date or a GUID is malformed.
/// - MultipleConditionHeadersNotSupported: several ETags; or a write has another pair than (If-None-Match,
///   If-Modified-Since) and (If-Match, If-Unmodified-Since).
/// - UnsatisfiableCondition: a read with `If-None-Match: *`.
/// Source: BC-01, BC-02.
Result<BlobConditions> read_blob_conditions(const Headers& headers, BlobAccess access);
/// Returns the conditions of the headers x-ms-source-if-..., which are about the source of a copy. Source: BC-06.
Result<BlobConditions> read_source_conditions(const Headers& headers);

/// What a read answers.
enum class ReadVerdict : std::uint8_t { kMet, kNotModified, kFailed };

/// Judges a read by the state that it would return. Source: BC-02, BC-03.
ReadVerdict judge_read(const BlobConditions& conditions, const ETag& etag, DateTime modified) noexcept;

/// Returns whether the conditions of a change are met by a state of the blob. The store judges them again. Source: BC-02,
/// BC-03.
bool judge_change(const BlobConditions& conditions, const ETag& etag, DateTime modified) noexcept;

/// Returns the change of a lease that the headers ask for. Errors: kInvalidArgument (MissingRequiredHeader;
/// InvalidHeaderValue). Source: BE-01.
Result<LeaseRequest> read_lease_request(const Headers& headers);

/// Returns the GUID of a header, or nothing if the header is missing. Errors: kInvalidArgument (InvalidHeaderValue).
Result<std::optional<Guid>> guid_header(const Headers& headers, std::string_view name);
/// Returns the number of a header, or nothing if the header is missing. Errors: kInvalidArgument (InvalidHeaderValue: no
/// number from 0 to 2^63 - 1).
Result<std::optional<std::uint64_t>> number_header(const Headers& headers, std::string_view name);
/// Returns the refusal of a header's value.
Status invalid_header(std::string_view name, std::string_view reason);

}  // namespace varve::serve
