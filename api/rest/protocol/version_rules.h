// Owns: since which protocol version what is known, and the refusal of what an older one does not know.
// Must never: refuse anything to the versions that clients in use send.
//
// Versions are compared as texts, all being `YYYY-MM-DD`. What an older version was offered and this server is not
// able to (Atom) is refused as it is to all.
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

/// Errors: kInvalidArgument (InvalidHeaderValue: a data service version that is none, or is above what the protocol
/// version knows; MaxDataServiceVersion counts where both are given, and may be any). Source: H-11, section "Request
/// headers".
Status check_data_service_version(const Headers& headers, std::string_view version);

/// Of a request with a signature in its query. Errors: kForbidden (AuthenticationFailed). Source: H-11.
Status check_signature_is_known(const security::Request& head, std::string_view version);

/// Accept counts only where an OData body answers the request.
/// Errors: kUnsupported (NotImplemented: $select); kInvalidArgument (JsonFormatNotSupported: JSON is asked for, or
/// sent, by name). Source: H-11.
Status check_content_is_known(const security::Request& head, std::string_view version, bool answers_with_entity);

/// Whether a preference counts: the protocol version knows it, and the client data service version 3.0 (H-30).
bool knows_preferences(const Headers& headers, std::string_view version);

}  // namespace varve::serve
