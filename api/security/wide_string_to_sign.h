// Owns: the text that requests to queues and blobs sign: more headers than a request to tables, and the whole query.
// Must never: leave out a part of the request that a client signs.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/security/request.h"
#include "varve/security/shared_key.h"

namespace varve::security {

/// Returns the text for a path as the client may have written it. Errors: kForbidden (AuthenticationFailed: no date, or
/// the query is badly encoded). Source: QS-01 to QS-05.
Result<std::string> wide_string_to_sign(SharedKeyScheme scheme, const Request& request, std::string_view account,
                                        std::string_view path);

}  // namespace varve::security
