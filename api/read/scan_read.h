// Owns: scans: their checks and plans, and reading them page by page, counting or explaining them.
// Must never: keep anything between two pages but the plans of filters.
#pragma once

#include <stop_token>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "varve/entity_view.h"
#include "varve/query.h"
#include "varve/scan_plan.h"

namespace varve {

// These functions see only what the grant permits. If there is a reader, it receives the entities instead of the page.
// Errors: as the verbs of Table; kCancelled (`stop` was requested).
Result<Page> read_page(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant, const Scan& scan,
                       const std::stop_token& stop = {}, const EntityReader* reader = nullptr);
Result<Count> count_entities(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                             const Scan& scan, const std::stop_token& stop = {});
Result<ScanPlan> explain_scan(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                              const Scan& scan);

}  // namespace varve
