// Owns: reading every entity of a table at one snapshot.
// Must never: mix two states of the table.
#pragma once

#include <functional>

#include "tools/varve/progress.h"
#include "varve/store.h"

namespace varve::tool {

/// Receives an entity. Returns false if no more entities are needed.
using EntityVisit = std::function<bool(const Entity&)>;

/// Calls `visit` for the entities in key order, and shows the progress. Errors: those of Table::scan.
Status for_each_entity(const Table& table, const Snapshot& snapshot, Progress& progress, const EntityVisit& visit);

}  // namespace varve::tool
