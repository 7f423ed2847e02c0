// Owns: opening a table by a name that a person wrote, and the nearest names if there is none.
// Must never: list more than a page of names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/varve/reach/table_access.h"
#include "tools/varve/session/session.h"

namespace varve::tool {

/// Opens the table of the place. Errors: those of StoreAccess::open_table; kNotFound has the nearest name as its hint.
Result<std::unique_ptr<TableAccess>> open_named_table(StoreAccess& store, const Place& place);

/// Returns the failure with the nearest names as its hint, if it says that the table or the account does not exist.
Status with_nearest_names(StoreAccess& store, const Place& place, const Status& failure);

/// Returns "did you mean table `Orders`?", or the names if none is near. Empty without names. `kind` is "table" and so
/// on.
std::string hint_among(const std::string& kind, const std::string& wanted, const std::vector<std::string>& names);

}  // namespace varve::tool
