#include "api/rest/queues/queue_target.h"

#include <algorithm>

#include "api/rest/protocol/wire_error.h"
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

}  // namespace varve::serve
