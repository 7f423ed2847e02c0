#include "api/rest/queues/queue_target.h"

#include <algorithm>

#include "api/model/percent.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/names.h"
#include "varve/queue.h"

namespace varve::serve {
namespace {

constexpr std::string_view kMessagesSegment = "messages";

/// Removes and returns the text up to the next `mark`, and the mark.
std::string_view take_until(std::string_view& text, char mark) noexcept {
  const std::string_view taken = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

}  // namespace

Result<QueueTarget> parse_queue_target(std::string_view decoded) {
  QueueTarget target;
  if (decoded.empty()) return target;
  target.queue = take_until(decoded, '/');
  if (Status named = check_queue_name(target.queue); !named.ok()) return named;
  target.resource = QueueResource::kQueue;
  if (decoded.empty()) return target;
  if (take_until(decoded, '/') != kMessagesSegment) {
    return refused("InvalidUri", "the URL names no resource; expected QUEUE, QUEUE/messages or QUEUE/messages/ID");
  }
  target.resource = QueueResource::kMessages;
  if (decoded.empty()) return target;
  target.message = take_until(decoded, '/');
  if (!decoded.empty()) return refused("InvalidUri", "the URL goes on behind the id of a message");
  target.resource = QueueResource::kMessage;
  return target;
}

Result<QueueParameters> QueueParameters::parse(std::string_view query) {
  QueueParameters parameters;
  while (!query.empty()) {
    std::string_view pair = take_until(query, '&');
    if (pair.empty()) continue;
    const std::optional<std::string> name = percent_decode(take_until(pair, '='));
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

const std::string* QueueParameters::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [name](const auto& value) { return value.first == name; });
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace varve::serve
