// Owns: the access to a store or an account through a server, by the protocol of the table service.
// Must never: report a write as done before the server has answered, or repeat a write.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/varve/reach/table_access.h"
#include "tools/varve/reach/wire.h"

namespace varve::tool {

/// The place of an account at a server.
struct RestPlace {
  /// The path before the resource, such as `/devstoreaccount1`. Empty if the host names the account.
  std::string path{};
  /// The only account that can be reached. Not set: all accounts of a store, each below `/ACCOUNT`. The server then
  /// also has the routes of operators.
  std::optional<std::string> account{};
};

std::unique_ptr<StoreAccess> access_through(std::shared_ptr<Wire> wire, RestPlace place);

}  // namespace varve::tool
