#include "api/rest/protocol/query_parameters.h"

#include <algorithm>
#include <optional>

#include "api/model/percent.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

/// Removes and returns the text up to the next `mark`, and the mark.
std::string_view take_field(std::string_view& text, char mark) noexcept {
  const std::string_view taken = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

}  // namespace

Result<QueryParameters> QueryParameters::parse(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    std::string_view pair = take_field(query, '&');
    if (pair.empty()) continue;
    const std::optional<std::string> name = percent_decode(take_field(pair, '='));
    std::optional<std::string> value = percent_decode(pair);
    if (!name || !value) return refused("InvalidQueryParameterValue", "a query parameter is badly encoded");
    std::string lower = lower_case(*name);
    if (parameters.find(lower) != nullptr) {
      return refused("InvalidQueryParameterValue", "the parameter " + lower + " is given twice");
    }
    parameters.values_.emplace_back(std::move(lower), *std::move(value));
  }
  return parameters;
}

const std::string* QueryParameters::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [name](const auto& value) { return value.first == name; });
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace varve::serve
