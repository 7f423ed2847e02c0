// Owns: pages of the entities of a partition whose RowKeys are folded at a delimiter.
// Must never: read more than the first entity of those that have a common prefix.
#pragma once

#include <stop_token>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "varve/query.h"

namespace varve {

/// Lists only what the grant permits to see. Errors: as Table::list_rows(); kCancelled (`stop` was requested).
Result<RowListingPage> list_rows(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                 const RowListing& listing, const std::stop_token& stop = {});

}  // namespace varve
