// Owns: the table of routes: which verb on which resource does what, and what it takes to be let in.
// Must never: hold a route without a permission; there is no way to write one down.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "api/security/account_sas.h"
#include "tools/serve/handlers.h"
#include "tools/serve/target.h"

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

}  // namespace varve::serve
