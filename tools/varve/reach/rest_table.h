// Owns: the verbs of a table as requests of the table service.
// Must never: depend on how a request is sent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/varve/reach/rest_door.h"
#include "tools/varve/reach/table_access.h"
#include "tools/varve/reach/wire.h"

namespace varve::tool {

/// Returns a request with the headers that every request of the table service has.
serve::HttpRequest service_request(std::string_view verb, std::string_view target, std::string body = {});

/// `root` is the path before the table's name. Without a door, verbs for which the table service has no request fail. The
/// table is checked to exist by its verbs, not here.
std::unique_ptr<TableAccess> table_through(std::shared_ptr<Wire> wire, std::string root, std::string table,
                                           std::optional<TableDoor> door);

}  // namespace varve::tool
