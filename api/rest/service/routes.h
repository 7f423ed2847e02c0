// Owns: the table of routes: which verb on which resource does what, and what it takes to be let in.
// Must never: hold a route without a permission; there is no way to write one down.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

#include "api/rest/protocol/target.h"
#include "api/rest/service/handlers.h"
#include "varve/security/account_sas.h"

namespace varve::serve {

/// What of a resource is meant, by the query's `comp` and `restype`.
enum class Part : std::uint8_t { kContent, kPolicies, kProperties, kStatistics };

/// Errors: kInvalidArgument (InvalidQueryParameterValue: another value of `comp` or `restype`, or not both where both
/// are needed).
Result<Part> part_of(std::string_view query);

/// Entities of the table that the address names: the handler is given a handle that can do what the caller may.
struct EntityRoute {
  explicit constexpr EntityRoute(Answer (*does)(const Call&, Result<AsyncTable>)) noexcept : handler(does) {}
  Answer (*handler)(const Call& call, Result<AsyncTable> table);
};
/// Something of the account: the caller must be allowed the operation.
struct AccountRoute {
  constexpr AccountRoute(security::AccountOperation needs, Answer (*does)(const Call&, Store&)) noexcept
      : operation(needs), handler(does) {}
  security::AccountOperation operation;
  Answer (*handler)(const Call& call, Store& store);
};
/// Several entities: the handler asks the session for each table.
struct BatchRoute {
  explicit constexpr BatchRoute(Answer (*does)(const Call&, const security::AsyncSession&)) noexcept : handler(does) {}
  Answer (*handler)(const Call& call, const security::AsyncSession& session);
};
/// None is made without saying what it takes, so that a Route without a Door does not compile.
using Door = std::variant<EntityRoute, AccountRoute, BatchRoute>;

struct Route {
  Resource resource;
  Part part;
  std::string_view verb;
  Door door;
};

/// Errors: kInvalidArgument (MethodNotAllowed: the resource knows other verbs; InvalidQueryParameterValue: it has no
/// such part). Source: H-02, O-18.
Result<const Route*> find_route(Resource resource, Part part, std::string_view verb);

/// A request for something that there is, or a part of a batch: all that its address, query and headers ask for.
struct Routed {
  const Route* route = nullptr;
  /// At most 30 s (H-04).
  std::chrono::seconds time_max{0};
  PayloadLevel level = PayloadLevel::kMinimal;
  /// Of creates; others ignore it (H-30).
  Preference preference = Preference::kNone;
};

/// Requests and parts of batches share it, so that no parameter means something to one and nothing to the other.
/// Errors: those of part_of(), find_route(), request_time_max(), check_content_is_known() and requested_level();
/// kInvalidArgument (InvalidQueryParameterValue: the protocol version has no access policies).
Result<Routed> route_request(const HttpRequest& request, Resource resource, std::string_view verb,
                             std::string_view version);

}  // namespace varve::serve
