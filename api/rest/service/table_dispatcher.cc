#include "api/rest/service/table_dispatcher.h"

#include <utility>

#include "api/rest/protocol/target.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/service/call.h"
#include "api/rest/service/routes.h"

namespace varve::serve {
namespace {

/// Returns whether the answer is XML. Only the query decides, so that errors before routing use XML too (E-02).
bool speaks_xml(const HttpRequest& request) {
  const Result<Part> part = part_of(request.head.query);
  return part.ok() && *part != Part::kContent && *part != Part::kIndexes;
}

/// Calls the route's handler with the access that the session allows.
Answer run(const Door& door, const Call& call, const security::AsyncSession& session, Store& store) {
  if (const auto* const route = std::get_if<EntityRoute>(&door)) {
    Task<Result<Table>> opening = session.table(call.target.table, call.stop);
    Result<Table> table = co_await opening;
    co_await GoHome(call.home);
    if (table.code() == Code::kForbidden) co_return table.status();
    Result<AsyncTable> fenced =
        table.ok() ? Result<AsyncTable>(AsyncTable(*std::move(table), call.home)) : table.status();
    Answer answer = route->handler(call, std::move(fenced));
    Result<HttpResponse> response = co_await answer;
    co_return response;
  }
  if (const auto* const route = std::get_if<AccountRoute>(&door)) {
    Task<Status> checking = session.check(route->operation, call.stop);
    const Status allowed = co_await checking;
    co_await GoHome(call.home);
    if (!allowed.ok()) co_return allowed;
    Answer answer = route->handler(call, store);
    Result<HttpResponse> response = co_await answer;
    co_return response;
  }
  Answer answer = std::get<BatchRoute>(door).handler(call, session);
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

/// An authenticated request for an existing kind of resource.
struct Prepared {
  Target target;
  Routed routed;
};

Result<Prepared> prepare(const HttpRequest& request, const Address& address, std::string_view verb,
                         std::string_view version) {
  if (Status known = check_signature_is_known(request.head, version); !known.ok()) return known;
  Result<Target> target = parse_resource(address.resource);
  if (!target.ok()) return target.status();
  const bool may_read = verb == "GET" || verb == "HEAD" || target->resource == Resource::kBatch;
  if (address.is_secondary && !may_read) return secondary_is_for_reading();  // a batch judges its parts
  const Result<Routed> routed = route_request(request, target->resource, verb, version);
  if (!routed.ok()) return routed.status();
  if (Status digest = check_body_digest(request); !digest.ok()) return digest;
  return Prepared{*std::move(target), *routed};
}

}  // namespace

TableDispatcher::TableDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log)
    : Dispatcher(store, std::move(keyring), std::move(clock), log, StorageService::kTables, "Varve-Table/1.0"),
      store_(store),
      index_builds_(store, std::move(log)) {}

Result<std::string> TableDispatcher::verb_of(const HttpRequest& request, std::string_view version) const {
  Result<std::string> verb = effective_verb(request.head.verb, request.head.headers);
  if (!verb.ok()) return verb;
  if (Status known = check_data_service_version(request.head.headers, version); !known.ok()) return known;
  return verb;
}

Result<security::SignedPlace> TableDispatcher::place_of(const HttpRequest& /*request*/, const Asked& /*asked*/) const {
  return security::SignedPlace();
}

Operation TableDispatcher::operation_of(const HttpRequest& request, const Asked& asked) const {
  const Result<Target> target = parse_resource(asked.address.resource);
  const Result<Part> part = part_of(request.head.query);
  if (!target.ok() || !part.ok()) return Operation::kUnresolved;
  const Result<const Route*> route = find_route(target->resource, *part, asked.verb);
  if (!route.ok()) return Operation::kUnresolved;
  return serve::operation_of((*route)->resource, (*route)->part, (*route)->verb);
}

Task<Result<HttpResponse>> TableDispatcher::answer(const HttpRequest& request, const Asked& asked,
                                                   const security::AsyncSession& session, const ErrorTrailer& trailer,
                                                   HomeThread* home, Told& told) {
  const Result<Prepared> prepared = prepare(request, asked.address, asked.verb, asked.version);
  if (!prepared.ok()) co_return prepared.status();
  const Routed& routed = prepared->routed;
  told.preference = routed.preference;
  told.level = routed.level;
  told.operation = serve::operation_of(routed.route->resource, routed.route->part, routed.route->verb);
  const Call call{request,
                  asked.address,
                  prepared->target,
                  asked.verb,
                  told.version,
                  told.level,
                  told.preference,
                  routed.time_max,
                  trailer,
                  home,
                  stop_token(),
                  store_.limits(),
                  blob_port_.load(std::memory_order_relaxed),
                  request.is_operator || has_extensions_.load(std::memory_order_relaxed),
                  &index_builds_};
  Answer answering = run(routed.route->door, call, session, store_);
  Result<HttpResponse> outcome = co_await answering;
  if (routed.route->part == Part::kProperties && asked.verb == "PUT") forget_properties(asked.address.account);
  co_return outcome;
}

HttpResponse TableDispatcher::failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                                      const HttpRequest* request) const {
  HttpResponse response = error_response(status, told.level, trailer, request != nullptr && speaks_xml(*request));
  add_preference(response, told.preference);
  return response;
}

}  // namespace varve::serve
