// Owns: the rules for headers and common parameters that every request must follow, whatever its route.
// Must never: depend on the meaning of the body, or on the account.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

/// The protocol version of a request that names none.
inline constexpr std::string_view kNewestVersion = "2020-12-06";

/// Returns the protocol version: `api-version`, else x-ms-version, else `sv`, else the newest. Requests with a
/// signature in the query follow this order too. Errors: kInvalidArgument (InvalidHeaderValue: no date, or before
/// 2009-09-19). Source: H-10, H-11.
Result<std::string> protocol_version(const security::Request& head);

/// Returns whether the text is a version that protocol_version() accepts.
bool is_protocol_version(std::string_view text);

/// Returns the verb after applying X-HTTP-Method. Errors: kInvalidArgument (XMethodNotUsingPost, XMethodIncorrectCount,
/// XMethodIncorrectValue). Source: H-05.
Result<std::string> effective_verb(std::string_view verb, const Headers& headers);

/// Checks the headers that allow only one value: two headers of one name with different values are refused.
/// Errors: kInvalidArgument (InvalidHeaderValue).
Status check_headers_once(const Headers& headers);

/// Returns the error for a write to the secondary. Source: section "Common codes".
Status secondary_is_for_reading();

/// Returns the request's timeout. Errors: kInvalidArgument (InvalidQueryParameterValue: no number above zero). Source:
/// H-04.
Result<std::chrono::seconds> request_time_max(std::string_view query);

/// Checks the Content-MD5 of the body. Errors: kInvalidArgument (InvalidMd5, Md5Mismatch). Source: section "Request
/// headers".
Status check_body_digest(const HttpRequest& request);

}  // namespace varve::serve
