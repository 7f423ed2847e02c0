// Owns: applying CORS rules to a request: the answer to a preflight, and the headers of other answers.
// Must never: let a request other than a preflight fail, or know where rules are kept.
#pragma once

#include <span>

#include "api/rest/protocol/message.h"
#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve::serve {

/// Returns the answer to a preflight. Errors: kInvalidArgument (InvalidHeaderValue: no Origin, or no
/// Access-Control-Request-Method; CorsPreflightFailure: no rule allows the request). Source: P-11, P-12.
Result<HttpResponse> answer_preflight(const Headers& headers, std::span<const CorsRule> rules);

/// Adds the CORS headers of the matching rule to an answer whose other headers are complete. Source: P-13.
void add_cors_headers(const security::Request& request, std::span<const CorsRule> rules, HttpResponse& response);

}  // namespace varve::serve
