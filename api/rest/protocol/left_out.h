// Owns: recognizing requests for features of the blob service that this server does not have.
// Must never: let a condition, a key or a policy pass that would have no effect.
#pragma once

#include <string_view>

#include "api/rest/protocol/message.h"
#include "api/rest/protocol/query_parameters.h"
#include "varve/status.h"

namespace varve::serve {

/// Checks that a request asks for no feature that is left out. It looks at headers and parameters alone, so a body need
/// not be read. Errors: kUnsupported (NotImplemented), with a message that names the feature. Source: BZ-01, BD-02, BA-06.
Status check_left_out(const Headers& headers, const QueryParameters& parameters);

}  // namespace varve::serve
