// Owns: what the headers and common parameters of every request must keep, whatever the route.
// Must never: need the body's meaning, or the account.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

/// What a request without a version is taken for.
inline constexpr std::string_view kNewestVersion = "2020-12-06";

/// The protocol version: `api-version`, else x-ms-version, else `sv`, else the newest; of requests with a signature in
/// the query as of others. Errors: kInvalidArgument (InvalidHeaderValue: no date, or before 2009-09-19).
/// Source: H-10, H-11.
Result<std::string> protocol_version(const security::Request& head);

/// The verb that counts. Errors: kInvalidArgument (XMethodNotUsingPost, XMethodIncorrectCount, XMethodIncorrectValue).
/// Source: H-05.
Result<std::string> effective_verb(std::string_view verb, const Headers& headers);

/// Headers of which only one value is read: two headers of one name with different values are refused.
/// Errors: kInvalidArgument (InvalidHeaderValue).
Status check_headers_once(const Headers& headers);

/// What a write to the secondary is told. Source: section "Common codes".
Status secondary_is_for_reading();

/// Errors: kInvalidArgument (InvalidQueryParameterValue: no number above zero). Source: H-04.
Result<std::chrono::seconds> request_time_max(std::string_view query);

/// Errors: kInvalidArgument (InvalidMd5, Md5Mismatch). Source: section "Request headers".
Status check_body_digest(const HttpRequest& request);

}  // namespace varve::serve
