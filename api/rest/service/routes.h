// Owns: the table of routes: the handler of each verb and resource, and the permission that it requires.
// Must never: contain a route without a permission. The types of the doors prevent it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

#include "api/rest/protocol/target.h"
#include "api/rest/service/handlers.h"
#include "varve/security/account_sas.h"

namespace varve::serve {

/// The part of a resource that the query parameters `comp` and `restype` select.
enum class Part : std::uint8_t { kContent, kPolicies, kIndexes, kProperties, kStatistics };

/// Returns the part that the query selects. Errors: kInvalidArgument (InvalidQueryParameterValue: an unknown value of
/// `comp` or `restype`, or one of them is missing where both are required).
Result<Part> part_of(std::string_view query);

/// Entities of the table in the address. The handler receives a handle that is restricted to the caller's permissions.
struct EntityRoute {
  explicit constexpr EntityRoute(Answer (*does)(const Call&, Result<AsyncTable>)) noexcept : handler(does) {}
  Answer (*handler)(const Call& call, Result<AsyncTable> table);
};
/// An operation on the account. The caller must have permission for it.
struct AccountRoute {
  constexpr AccountRoute(security::AccountOperation needs, Answer (*does)(const Call&, Store&)) noexcept
      : operation(needs), handler(does) {}
  security::AccountOperation operation;
  Answer (*handler)(const Call& call, Store& store);
};
/// Several entities. The handler opens each table through the session.
struct BatchRoute {
  explicit constexpr BatchRoute(Answer (*does)(const Call&, const security::AsyncSession&)) noexcept : handler(does) {}
  Answer (*handler)(const Call& call, const security::AsyncSession& session);
};
/// Every alternative requires its permission, so a Route without a Door does not compile.
using Door = std::variant<EntityRoute, AccountRoute, BatchRoute>;

struct Route {
  Resource resource;
  Part part;
  std::string_view verb;
  Door door;
};

/// Returns the route. Errors: kInvalidArgument (MethodNotAllowed: the resource has only other verbs;
/// InvalidQueryParameterValue: it has no such part). Source: H-02, O-18.
Result<const Route*> find_route(Resource resource, Part part, std::string_view verb);

/// The route of a request or of a batch's part, with all values from its address, query and headers.
struct Routed {
  const Route* route = nullptr;
  /// The time limit, at most 30 s (H-04).
  std::chrono::seconds time_max{0};
  PayloadLevel level = PayloadLevel::kMinimal;
  /// The preference of a create. Other operations ignore it (H-30).
  Preference preference = Preference::kNone;
};

/// Routes a request. Whole requests and parts of batches share this function, so that a parameter has one meaning in
/// both.
/// Errors: those of part_of(), find_route(), request_time_max(), check_content_is_known() and requested_level();
/// kInvalidArgument (InvalidQueryParameterValue: the protocol version has no access policies).
Result<Routed> route_request(const HttpRequest& request, Resource resource, std::string_view verb,
                             std::string_view version);

}  // namespace varve::serve
