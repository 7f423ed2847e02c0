// Owns: reading one parameter of a query string.
// Must never: choose one of two values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// Returns the parameter's value, percent-decoded once, with `+` read as a space. Returns nothing if the
/// parameter is missing. Names are case-sensitive. Errors: kInvalidArgument (InvalidQueryParameterValue: the parameter
/// occurs twice or is badly encoded, or another parameter's name is badly encoded).
Result<std::optional<std::string>> query_value(std::string_view query, std::string_view name);

/// Returns the parameter's value, or an empty text if the parameter is missing. Errors: as above.
Result<std::string> query_text(std::string_view query, std::string_view name);

}  // namespace varve::serve
