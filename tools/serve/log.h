// Owns: the server's lines for whoever runs it, on standard error.
// Must never: write a key, a signature, a query or a body.
#pragma once

#include <string_view>

#include "api/status.h"

namespace varve::serve {

/// A request that failed by no fault of the client; the id is the one that the client was told. Any thread.
void log_failure(std::string_view request_id, const Status& status);
void log_line(std::string_view line);

}  // namespace varve::serve
