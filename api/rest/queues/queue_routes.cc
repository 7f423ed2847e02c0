#include "api/rest/queues/queue_routes.h"

#include <array>
#include <optional>

#include "api/rest/protocol/wire_error.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

using enum security::AccountOperation;

constexpr std::array kQueueRoutes = std::to_array<QueueRoute>({
    {QueueResource::kService, QueuePart::kList, "GET", kListQueues, Operation::kListQueues, list_queues},
    {QueueResource::kService, QueuePart::kProperties, "GET", kReadServiceProperties, Operation::kGetQueueProperties,
     get_queue_properties},
    {QueueResource::kService, QueuePart::kProperties, "PUT", kWriteServiceProperties, Operation::kSetQueueProperties,
     set_queue_properties},
    {QueueResource::kService, QueuePart::kStatistics, "GET", kReadServiceStatistics, Operation::kGetQueueStatistics,
     get_queue_statistics},

    {QueueResource::kQueue, QueuePart::kContent, "PUT", kCreateQueue, Operation::kCreateQueue, create_queue},
    {QueueResource::kQueue, QueuePart::kContent, "DELETE", kDropQueue, Operation::kDeleteQueue, delete_queue},
    {QueueResource::kQueue, QueuePart::kMetadata, "GET", kReadQueueMetadata, Operation::kGetQueueMetadata,
     get_queue_metadata},
    {QueueResource::kQueue, QueuePart::kMetadata, "HEAD", kReadQueueMetadata, Operation::kGetQueueMetadata,
     get_queue_metadata},
    {QueueResource::kQueue, QueuePart::kMetadata, "PUT", kWriteQueueMetadata, Operation::kSetQueueMetadata,
     set_queue_metadata},
    {QueueResource::kQueue, QueuePart::kPolicies, "GET", kReadAccessPolicies, Operation::kGetQueuePolicies,
     get_queue_policies},
    {QueueResource::kQueue, QueuePart::kPolicies, "HEAD", kReadAccessPolicies, Operation::kGetQueuePolicies,
     get_queue_policies},
    {QueueResource::kQueue, QueuePart::kPolicies, "PUT", kWriteAccessPolicies, Operation::kSetQueuePolicies,
     set_queue_policies},

    {QueueResource::kMessages, QueuePart::kContent, "POST", kPutMessage, Operation::kPutMessage, put_message},
    {QueueResource::kMessages, QueuePart::kContent, "GET", kGetMessages, Operation::kGetMessages, get_messages},
    {QueueResource::kMessages, QueuePart::kPeek, "GET", kPeekMessages, Operation::kPeekMessages, peek_messages},
    {QueueResource::kMessages, QueuePart::kContent, "DELETE", kClearMessages, Operation::kClearMessages,
     clear_messages},
    {QueueResource::kMessage, QueuePart::kContent, "PUT", kUpdateMessage, Operation::kUpdateMessage, update_message},
    {QueueResource::kMessage, QueuePart::kContent, "DELETE", kRemoveMessage, Operation::kDeleteMessage, delete_message},
});

bool says(const std::string* value, std::string_view expected) noexcept {
  return value != nullptr && *value == expected;
}

/// Returns the part that the query selects, or nothing if a value is unknown.
std::optional<QueuePart> queue_part_of(QueueResource resource, const QueryParameters& parameters) {
  const std::string* const comp = parameters.find("comp");
  const std::string* const restype = parameters.find("restype");
  if (comp == nullptr && restype == nullptr) {
    const std::string* const peek = parameters.find("peekonly");
    const bool is_peek = resource == QueueResource::kMessages && peek != nullptr && lower_case(*peek) == "true";
    return is_peek ? QueuePart::kPeek : QueuePart::kContent;
  }
  if (says(restype, "service")) {
    if (says(comp, "properties")) return QueuePart::kProperties;
    return says(comp, "stats") ? std::optional(QueuePart::kStatistics) : std::nullopt;
  }
  if (restype != nullptr) return std::nullopt;
  if (says(comp, "list")) return QueuePart::kList;
  if (says(comp, "metadata")) return QueuePart::kMetadata;
  return says(comp, "acl") ? std::optional(QueuePart::kPolicies) : std::nullopt;
}

}  // namespace

Result<const QueueRoute*> find_queue_route(QueueResource resource, const QueryParameters& parameters,
                                           std::string_view verb) {
  const std::optional<QueuePart> part = queue_part_of(resource, parameters);
  if (!part) return refused("InvalidQueryParameterValue", "comp and restype select nothing that this service has");
  bool has_part = false;
  for (const QueueRoute& route : kQueueRoutes) {
    if (route.resource != resource) continue;
    const bool is_asked = route.part == *part || (*part == QueuePart::kPeek && verb != "GET");
    if (is_asked && route.verb == verb) return &route;
    has_part = has_part || is_asked;
  }
  const bool is_read = verb == "GET" || verb == "HEAD";
  if (resource == QueueResource::kQueue && *part == QueuePart::kContent && is_read) {
    return refused("MissingRequiredQueryParameter",
                   "a read of a queue needs comp=metadata or comp=acl; its messages are at QUEUE/messages");
  }
  if (has_part) return refused("UnsupportedHttpVerb", "the resource does not support this verb");
  return refused("InvalidUri", "the URL and its comp name nothing that this service has");
}

}  // namespace varve::serve
