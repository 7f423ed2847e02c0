// Owns: the parsing and planning of the filter of a scan, unless an earlier page did both.
// Must never: use a plan of another text, or one that the grammar of the scan refuses.
#pragma once

#include <memory>

#include "api/filter/filter.h"
#include "api/filter/plan_cache.h"
#include "format/keys/sort_key.h"
#include "varve/query.h"
#include "varve/result.h"
#include "varve/store_limits.h"

namespace varve {

/// Either a plan that an earlier page made, perhaps for another table, or the parsed filter.
struct AskedFilter {
  std::shared_ptr<const PlannedFilter> kept;
  Filter parsed;
};

/// Finds the plan of the scan's filter, or parses the filter. `asked` is empty before. Errors: those of parse_filter().
Status ask_filter(const PlanCache& plans, const StoreLimits& limits, const Scan& scan, AskedFilter& asked);

/// Returns the plan for the table, which may take the parsed filter. Returns null if the parsed filter and the range of the scan
/// are the plan, as for a filter that matches everything. Errors: as ask_filter().
Result<std::shared_ptr<const PlannedFilter>> plan_asked(PlanCache& plans, const StoreLimits& limits, const Scan& scan,
                                                        AskedFilter& asked, format::TableId table);

}  // namespace varve
