// Owns: the access to a store that this process has open.
// Must never: add anything to the verbs of the store.
#pragma once

#include <memory>

#include "tools/varve/reach/opened_store.h"
#include "tools/varve/reach/table_access.h"

namespace varve::tool {

std::unique_ptr<StoreAccess> access_to(OpenedStore store);
std::unique_ptr<TableAccess> access_to(Table table);

}  // namespace varve::tool
