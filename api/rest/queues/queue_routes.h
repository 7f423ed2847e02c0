// Owns: the table of routes of the queue service: the handler of each verb and resource, and the permission it requires.
// Must never: contain a route without a permission.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/rest/protocol/query_parameters.h"
#include "api/rest/queues/queue_call.h"
#include "api/rest/queues/queue_target.h"
#include "api/rest/service/operation.h"
#include "varve/security/account_sas.h"

namespace varve::serve {

/// The part of a resource that the query parameters `comp`, `restype` and `peekonly` select.
enum class QueuePart : std::uint8_t { kContent, kList, kMetadata, kPolicies, kPeek, kProperties, kStatistics };

struct QueueRoute {
  QueueResource resource;
  QueuePart part;
  std::string_view verb;
  security::AccountOperation needs;
  Operation operation;
  Answer (*handler)(const QueueCall& call);
};

/// Returns the route. Errors: kInvalidArgument (UnsupportedHttpVerb: the resource has only other verbs; InvalidUri: it
/// has no such part; InvalidQueryParameterValue: `comp` or `restype` has an unknown value). Source: QN-04, QN-06.
Result<const QueueRoute*> find_queue_route(QueueResource resource, const QueryParameters& parameters,
                                           std::string_view verb);

}  // namespace varve::serve
