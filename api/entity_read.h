// Owns: reads of entities: by key, and page by page.
// Must never: take a lock of any partition, or decode what was not asked for.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/query.h"
#include "api/store_core.h"
#include "api/table_access.h"
#include "api/types.h"

namespace varve {

// What the grant does not include is refused before anything is read. Errors: as the verbs of Table.
Result<std::optional<Entity>> read_entity(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                          std::string_view partition_key, std::string_view row_key,
                                          const ReadOptions& options);
Result<std::vector<std::optional<Entity>>> read_entities(StoreCore& core, const TableName& name, NameEntry& entry,
                                                         const Grant& grant, std::span<const EntityKey> keys,
                                                         const ReadOptions& options);
Result<Page> read_page(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant, const Scan& scan);

}  // namespace varve
