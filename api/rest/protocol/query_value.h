// Owns: one parameter of a query string at a time.
// Must never: pick one of two values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// The parameter's value, percent-decoded once, `+` read as a space; nothing if it is not there. Names are
/// case-sensitive. Errors: kInvalidArgument (InvalidQueryParameterValue: it is there twice, or badly encoded; or
/// the name of another parameter is badly encoded).
Result<std::optional<std::string>> query_value(std::string_view query, std::string_view name);

}  // namespace varve::serve
