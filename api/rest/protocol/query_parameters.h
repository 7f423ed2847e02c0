// Owns: all parameters of a query, as the services of queues and blobs read them.
// Must never: decode anything twice, or choose one of two values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/result.h"

namespace varve::serve {

/// The parameters of a query, percent-decoded once. A `+` stays one. Names ignore case. Source: QN-05.
class QueryParameters {
 public:
  /// Errors: kInvalidArgument (InvalidQueryParameterValue: a parameter is given twice or is badly encoded).
  static Result<QueryParameters> parse(std::string_view query);

  /// Returns null if the parameter is missing. `name` is in lower case.
  const std::string* find(std::string_view name) const noexcept;

 private:
  std::vector<std::pair<std::string, std::string>> values_;  // names in lower case
};

}  // namespace varve::serve
