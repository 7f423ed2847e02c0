// Owns: reads of entities by their keys, and what every read begins with.
// Must never: take a lock of any partition, or decode what was not asked for.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "varve/query.h"
#include "varve/types.h"

namespace varve {

// What the grant does not include is refused before anything is read. Errors: as the verbs of Table.
Result<std::optional<Entity>> read_entity(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                          std::string_view partition_key, std::string_view row_key,
                                          const ReadOptions& options);
Result<std::vector<std::optional<Entity>>> read_entities(StoreCore& core, const TableName& name, NameEntry& entry,
                                                         const Grant& grant, std::span<const EntityKey> keys,
                                                         const ReadOptions& options);

// -- The steps of a read ---------------------------------------------------------------------------------------------

/// What is judged of each key before anything is read. Errors: as above.
Status check_read(const Grant& grant, std::span<const EntityKey> keys, const ReadOptions& options);
/// The sort keys of those that can be there, in their order, and their places among the keys.
struct WantedKeys {
  std::vector<std::string> sort_keys;
  std::vector<std::size_t> places;
  std::vector<std::string_view> views() const { return {sort_keys.begin(), sort_keys.end()}; }
};
Result<WantedKeys> wanted_keys(format::TableId table, std::span<const EntityKey> keys, const StoreLimits& limits);
/// Out of what was found of the wanted keys. Errors: kCorruption.
Result<std::vector<std::optional<Entity>>> decode_found(std::span<const EntityKey> keys, const WantedKeys& wanted,
                                                        std::span<const std::optional<engine::FoundEntry>> found,
                                                        const ReadOptions& options);
/// Errors: kInvalidArgument (InvalidInput).
Status check_selection(const ReadOptions& options);
/// The state a read sees and the table's id in it. Errors: kNotFound (TableNotFound), kInvalidArgument (InvalidInput: a
/// snapshot of another store), those of reading.
Result<ResolvedTable> resolve_for_read(StoreCore& core, const TableName& name, NameEntry& entry,
                                       const ReadOptions& options);

}  // namespace varve
