#include "api/rest/queues/queue_call.h"

#include <charconv>

#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

std::string range_text(std::int64_t least, std::int64_t most) {
  return std::to_string(least) + " to " + std::to_string(most) + " are allowed";
}

}  // namespace

Status refuse_parameter(const QueueCall& call, std::string_view literal, std::string_view name, std::string_view value,
                        std::string_view reason) {
  call.details.emplace_back("QueryParameterName", name);
  call.details.emplace_back("QueryParameterValue", value);
  call.details.emplace_back("Reason", reason);
  return refused(literal, "The query parameter " + std::string(name) + " cannot be used: " + std::string(reason) + ".");
}

Status missing_parameter(const QueueCall& call, std::string_view name) {
  call.details.emplace_back("QueryParameterName", name);
  return refused("MissingRequiredQueryParameter", "the request needs the query parameter " + std::string(name));
}

Result<std::optional<std::int64_t>> number_parameter(const QueueCall& call, std::string_view name, std::int64_t least,
                                                     std::int64_t most) {
  const std::string* const text = call.parameters.find(name);
  if (text == nullptr) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, number);
  if (text->empty() || stopped != end || error == std::errc::invalid_argument) {
    return refuse_parameter(call, "InvalidQueryParameterValue", name, *text, "it is not a whole number");
  }
  if (error == std::errc() && number >= least && number <= most) return std::optional<std::int64_t>(number);
  const Status refusal = refuse_parameter(call, "OutOfRangeQueryParameterValue", name, *text, range_text(least, most));
  call.details.emplace_back("MinimumAllowed", std::to_string(least));
  call.details.emplace_back("MaximumAllowed", std::to_string(most));
  return refusal;
}

}  // namespace varve::serve
