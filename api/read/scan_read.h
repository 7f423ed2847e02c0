// Owns: scans: their checks and plans, and reading them page by page, counting or explaining them.
// Must never: keep anything between two pages but the plans of filters.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "varve/entity_view.h"
#include "varve/query.h"
#include "varve/scan_plan.h"
#include "varve/store_limits.h"

namespace varve {

// The checks that scans and listings share. Errors: kInvalidArgument.
/// Refuses a text that is not UTF-8. The message begins with `name`, for example "the bound".
Status check_utf8(std::string_view name, std::string_view text);
/// Checks the limits that a caller asks for one page.
Status check_page_bounds(std::uint32_t entities_max, std::chrono::milliseconds time_max, const StoreLimits& limits);

// These functions see only what the grant permits. If there is a reader, it receives the entities instead of the page.
// Errors: as the verbs of Table; kCancelled (`stop` was requested).
Result<Page> read_page(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant, const Scan& scan,
                       const std::stop_token& stop = {}, const EntityReader* reader = nullptr);
Result<Count> count_entities(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                             const Scan& scan, const std::stop_token& stop = {});
Result<ScanPlan> explain_scan(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                              const Scan& scan);

}  // namespace varve
