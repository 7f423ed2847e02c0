#include "api/rest/queues/queue_dispatcher.h"

#include <algorithm>
#include <utility>

#include "api/rest/protocol/query_parameters.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/queues/queue_routes.h"
#include "api/rest/queues/queue_target.h"

namespace varve::serve {
namespace {

/// An authenticated request for an existing kind of resource.
struct RoutedRequest {
  QueueTarget target;
  QueryParameters parameters;
  const QueueRoute* route;
};

/// Returns whether the secondary answers the route. A get of messages writes, so it does not. Source: QH-06.
bool is_read(const QueueRoute& route) noexcept {
  return (route.verb == "GET" || route.verb == "HEAD") && route.operation != Operation::kGetMessages;
}

Result<RoutedRequest> routed(const HttpRequest& request, const Address& address, std::string_view verb,
                             std::string_view version) {
  if (Status known = check_signature_is_known(request.head, version); !known.ok()) return known;
  Result<QueueTarget> target = parse_queue_target(address.resource);
  if (!target.ok()) return target.status();
  Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok()) return parameters.status();
  const Result<const QueueRoute*> route = find_queue_route(target->resource, *parameters, verb);
  if (!route.ok()) return route.status();
  if (address.is_secondary && !is_read(**route)) return secondary_is_for_reading();
  if (const Status timed = request_time_max(request.head.query).status(); !timed.ok()) return timed;
  if (Status digest = check_body_digest(request); !digest.ok()) return digest;
  return RoutedRequest{*std::move(target), *std::move(parameters), *route};
}

}  // namespace

QueueDispatcher::QueueDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log,
                                 std::vector<DeadLetterRule> dead_letters)
    : Dispatcher(store, std::move(keyring), std::move(clock), std::move(log), StorageService::kQueues,
                 "Varve-Queue/1.0"),
      store_(store),
      dead_letters_(std::move(dead_letters)) {}

const DeadLetterRule* QueueDispatcher::rule_of(std::string_view account, std::string_view queue) const noexcept {
  const auto found = std::find_if(dead_letters_.begin(), dead_letters_.end(), [&](const DeadLetterRule& rule) {
    return rule.account == account && rule.queue == queue;
  });
  return found == dead_letters_.end() ? nullptr : &*found;
}

Result<std::string> QueueDispatcher::verb_of(const HttpRequest& request, std::string_view /*version*/) const {
  return request.head.verb;
}

/// Judges the name of the queue, since the service does so before it authenticates the caller. Source: QN-02, QE-04.
Result<security::SignedPlace> QueueDispatcher::place_of(const HttpRequest& /*request*/, const Asked& asked) const {
  Result<QueueTarget> target = parse_queue_target(asked.address.resource);
  if (!target.ok()) return target.status();
  return security::SignedPlace{StorageService::kQueues, std::move(target->queue)};
}

Operation QueueDispatcher::operation_of(const HttpRequest& request, const Asked& asked) const {
  const Result<QueueTarget> target = parse_queue_target(asked.address.resource);
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!target.ok() || !parameters.ok()) return Operation::kUnresolved;
  const Result<const QueueRoute*> route = find_queue_route(target->resource, *parameters, asked.verb);
  return route.ok() ? (*route)->operation : Operation::kUnresolved;
}

Task<Result<HttpResponse>> QueueDispatcher::answer(const HttpRequest& request, const Asked& asked,
                                                   const security::AsyncSession& session, const ErrorTrailer& trailer,
                                                   HomeThread* home, Told& told) {
  const Result<RoutedRequest> found = routed(request, asked.address, asked.verb, asked.version);
  if (!found.ok()) co_return found.status();
  const QueueRoute& route = *found->route;
  told.operation = route.operation;
  Task<Status> checking = session.check(route.needs, stop_token(), found->target.queue);
  const Status allowed = co_await checking;
  co_await GoHome(home);
  if (!allowed.ok()) co_return allowed;
  const QueueCall call{
      {request, asked.address, found->parameters, told.version, trailer, home, stop_token(), store_, told.details},
      found->target,
      rule_of(asked.address.account, found->target.queue)};
  Answer answering = route.handler(call);
  Result<HttpResponse> outcome = co_await answering;
  if (route.operation == Operation::kSetQueueProperties) forget_properties(asked.address.account);
  co_return outcome;
}

HttpResponse QueueDispatcher::failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                                      const HttpRequest* /*request*/) const {
  return storage_failure(status, trailer, told.details, "queues");
}

}  // namespace varve::serve
