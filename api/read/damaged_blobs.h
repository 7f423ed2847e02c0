// Owns: finding the blobs and entities that damaged contents belong to, so that a verification can name them.
// Must never: be called for a store without damage: it reads every list of blocks.
#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "api/blob/content_rows.h"
#include "engine/engine.h"
#include "varve/status.h"

namespace varve {

/// Calls `report` with the name of each blob of the container that has a content of the set, or a list of blocks that
/// cannot be read. Skips blobs whose rows are damaged. Errors: those of reading.
Status find_damaged_blobs(const engine::ReadView& view, format::TableId container, const std::set<ContentId>& damaged,
                          const std::function<void(std::string_view name)>& report);

/// Does the same for the entities of a table that have a large value whose content is in the set.
Status find_damaged_entities(
    const engine::ReadView& view, format::TableId table, const std::set<ContentId>& damaged,
    const std::function<void(std::string_view partition_key, std::string_view row_key)>& report);

}  // namespace varve
