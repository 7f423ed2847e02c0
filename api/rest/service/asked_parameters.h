// Owns: reading parameters of a query that are numbers, and refusing parameters with the details that errors have.
// Must never: refuse a parameter without its name, and its value if it has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/query_parameters.h"
#include "varve/result.h"

namespace varve::serve {

/// The parameters of a request, and the elements that an error's body gets besides its code and message (QE-02). Both
/// must outlive it.
struct AskedParameters {
  const QueryParameters& values;
  ErrorDetails& details;
};

/// Returns the value of a parameter that is a number from `least` to `most`, or nothing if it is missing.
/// Errors: kInvalidArgument (InvalidQueryParameterValue: no number; OutOfRangeQueryParameterValue), with details.
Result<std::optional<std::int64_t>> number_parameter(const AskedParameters& asked, std::string_view name,
                                                     std::int64_t least, std::int64_t most);
/// Returns the refusal of a parameter's value, with details. `error` is the error string.
Status refuse_parameter(const AskedParameters& asked, ErrorName error, std::string_view name, std::string_view value,
                        std::string_view reason);
/// Returns the refusal of a request without this parameter.
Status missing_parameter(const AskedParameters& asked, std::string_view name);

}  // namespace varve::serve
