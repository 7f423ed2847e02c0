// Owns: a scan as the query of a request.
// Must never: leave out a condition that it cannot express: it refuses the scan.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "varve/query.h"
#include "varve/result.h"

namespace varve::tool {

/// Returns the query of a request for one page, without the `?`. Errors: kInvalidArgument (a backward scan).
Result<std::string> query_of(const Scan& scan);

/// Returns the least text that is above every text with this prefix, in the order of keys (UTF-16 code units). Returns
/// nothing if no text is above them.
std::optional<std::string> end_of_prefix(std::string_view prefix);

}  // namespace varve::tool
