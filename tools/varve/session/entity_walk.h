// Owns: reading every entity of a table, of one state where the store is in this process.
// Must never: keep more than a page.
#pragma once

#include <functional>

#include "tools/varve/reach/table_access.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

/// Receives an entity. Returns false if no more entities are needed.
using EntityVisit = std::function<bool(const Entity&)>;

/// Returns options that read the present state of the store. A server has no snapshots, so that its pages may show
/// different states. Errors: those of Store::snapshot.
Result<ReadOptions> options_of_present_state(StoreAccess& store);

/// Calls `visit` for the entities in key order, and shows the progress. Errors: those of Table::scan.
Status for_each_entity(const TableAccess& table, const ReadOptions& options, Progress& progress,
                       const EntityVisit& visit);

}  // namespace varve::tool
