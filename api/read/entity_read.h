// Owns: reads of entities by key, and the first steps of every read.
// Must never: take the lock of a partition, or decode properties that the caller did not request.
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

// If the grant does not permit a read, the call fails before it reads anything. Errors: as Table::get and
// Table::get_many.
Result<std::optional<Entity>> read_entity(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                          std::string_view partition_key, std::string_view row_key,
                                          const ReadOptions& options);
Result<std::vector<std::optional<Entity>>> read_entities(StoreCore& core, const TableName& name, NameEntry& entry,
                                                         const Grant& grant, std::span<const EntityKey> keys,
                                                         const ReadOptions& options);

// -- The steps of a read ---------------------------------------------------------------------------------------------

/// Checks each key and the selection before anything is read. Errors: as above.
Status check_read(const Grant& grant, std::span<const EntityKey> keys, const ReadOptions& options);
/// The sort keys of the keys that may exist, in the order of the keys, and their indexes among the keys. A key over the
/// length limit cannot exist.
struct WantedKeys {
  std::string sort_keys;          // one after another
  std::vector<std::size_t> ends;  // of each of them
  std::vector<std::size_t> places;
  /// Returns the sort keys, valid while this object exists and is not moved.
  std::vector<std::string_view> views() const;
};
Result<WantedKeys> wanted_keys(format::TableId table, std::span<const EntityKey> keys, const StoreLimits& limits);
/// Decodes the entries that were found for the wanted keys. Errors: kCorruption.
Result<std::vector<std::optional<Entity>>> decode_found(std::span<const EntityKey> keys, const WantedKeys& wanted,
                                                        std::span<const std::optional<engine::FoundEntry>> found,
                                                        const ReadOptions& options);
/// Checks the number of selected names. Errors: kInvalidArgument (InvalidInput).
Status check_selection(const ReadOptions& options);
/// Returns the state that a read sees, and the table's id in that state. Errors: kNotFound (TableNotFound),
/// kInvalidArgument (InvalidInput: a snapshot of another store), and those of reading.
Result<ResolvedTable> resolve_for_read(StoreCore& core, const TableName& name, NameEntry& entry,
                                       const ReadOptions& options);

}  // namespace varve
