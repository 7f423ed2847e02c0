#include "api/rest/service/asked_parameters.h"

#include <charconv>
#include <string>
#include <system_error>

#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

std::string range_text(std::int64_t least, std::int64_t most) {
  return std::to_string(least) + " to " + std::to_string(most) + " are allowed";
}

}  // namespace

Status refuse_parameter(const AskedParameters& asked, ErrorName error, std::string_view name, std::string_view value,
                        std::string_view reason) {
  asked.details.emplace_back("QueryParameterName", name);
  asked.details.emplace_back("QueryParameterValue", value);
  asked.details.emplace_back("Reason", reason);
  return refused(error, "The query parameter " + std::string(name) + " cannot be used: " + std::string(reason) + ".");
}

Status missing_parameter(const AskedParameters& asked, std::string_view name) {
  asked.details.emplace_back("QueryParameterName", name);
  return refused("MissingRequiredQueryParameter", "the request needs the query parameter " + std::string(name));
}

Result<std::optional<std::int64_t>> number_parameter(const AskedParameters& asked, std::string_view name,
                                                     std::int64_t least, std::int64_t most) {
  const std::string* const text = asked.values.find(name);
  if (text == nullptr) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, number);
  if (text->empty() || stopped != end || error == std::errc::invalid_argument) {
    return refuse_parameter(asked, "InvalidQueryParameterValue", name, *text, "it is not a whole number");
  }
  if (error == std::errc() && number >= least && number <= most) return std::optional<std::int64_t>(number);
  const Status refusal = refuse_parameter(asked, "OutOfRangeQueryParameterValue", name, *text, range_text(least, most));
  asked.details.emplace_back("MinimumAllowed", std::to_string(least));
  asked.details.emplace_back("MaximumAllowed", std::to_string(most));
  return refusal;
}

}  // namespace varve::serve
