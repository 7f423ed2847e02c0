// Owns: the indexes of a table, as properties of the table's row (catalog_rows.h).
// Must never: lose a field of an index that it does not know.
//
// The row has IndexShape (Int64), a number that rises with each change of the indexes, and Index0, Index1 and so on
// (Binary). Each of these is tagged fields: 1 the index's name, 3 its id (number), 5 its state (number: 1 building,
// 2 ready, 3 failed), 7 its definition (format/keys/index_key.h), 9 the reason of a failed build (text; only if failed).
// IndexShape is absent while a table never had an index. A row with it may have no index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/entity.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"
#include "varve/table_index.h"

namespace varve {

struct TableIndex {
  std::string name;
  format::TableId id = 0;
  IndexState state = IndexState::kBuilding;
  format::IndexDefinition definition{};
  std::string failure{};
  /// Fields that this build does not know, byte for byte.
  std::string unknown_fields{};

  /// Returns whether writers add and remove its entries.
  bool is_maintained() const noexcept { return state != IndexState::kFailed; }
  bool operator==(const TableIndex&) const = default;
};

inline constexpr std::size_t kTableIndexesMax = 16;

struct TableIndexes {
  /// Zero if the table never had an index.
  std::uint64_t shape = 0;
  std::vector<TableIndex> all{};

  TableIndex* find(std::string_view name) noexcept;
  const TableIndex* find(std::string_view name) const noexcept;
};

/// Checks the name, the definition and the names of properties in it. Errors: kInvalidArgument (InvalidInput), those of
/// check_property_name().
Status check_index(std::string_view name, const format::IndexDefinition& definition);

/// Reads the indexes of the table `table` from its row. Errors: kCorruption, kUnsupported; the message names no row.
Result<TableIndexes> decode_table_indexes(const format::EncodedEntity& row, format::TableId table);
/// Returns the row with other indexes, and everything else unchanged. Errors: those of opening `row`.
Result<std::string> with_table_indexes(std::string_view row, const TableIndexes& indexes);

}  // namespace varve
