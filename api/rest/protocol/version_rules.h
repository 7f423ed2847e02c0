// Owns: the protocol version that introduced each feature, and the refusal of a feature by older versions.
// Must never: refuse anything to the versions that clients in use send.
//
// Versions are compared as texts, since all have the form `YYYY-MM-DD`. Older versions offered Atom, which this server
// does not support. Atom is refused to every version in the same way.
#pragma once

#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

namespace since {
/// Upserts, $select, data service version 2.0.
inline constexpr std::string_view kUpsert = "2011-08-18";
/// Signatures in the query, access policies.
inline constexpr std::string_view kSignatures = "2012-02-12";
/// JSON, preferences, data service version 3.0.
inline constexpr std::string_view kJson = "2013-08-15";
/// CORS and minute metrics.
inline constexpr std::string_view kCors = kJson;
}  // namespace since

/// Checks DataServiceVersion and MaxDataServiceVersion. Errors: kInvalidArgument (InvalidHeaderValue: the value is no
/// data service version, or is newer than the protocol version). If both headers are given, MaxDataServiceVersion
/// counts, and may be any version. Source: H-11, section "Request headers".
Status check_data_service_version(const Headers& headers, std::string_view version);

/// Checks whether the version knows the signature in a request's query. Errors: kForbidden (AuthenticationFailed).
/// Source: H-11.
Status check_signature_is_known(const security::Request& head, std::string_view version);

/// Checks whether the version knows `$select` and JSON. Accept is checked only if the answer has an OData body.
/// Errors: kUnsupported (NotImplemented: $select); kInvalidArgument (JsonFormatNotSupported: the client names JSON as
/// the type that it sends or accepts). Source: H-11.
Status check_content_is_known(const security::Request& head, std::string_view version, bool answers_with_entity);

/// Returns whether a preference counts: the protocol version knows it, and the client has data service version 3.0
/// (H-30).
bool knows_preferences(const Headers& headers, std::string_view version);

}  // namespace varve::serve
