// Owns: reading an entity together with the contents that it names, in one view.
// Must never: give out a byte that was not compared with its hash.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/blob/reader_pins.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "format/keys/sort_key.h"
#include "varve/large_value.h"
#include "varve/query.h"
#include "varve/result.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL LargeValueReader::State {
  std::shared_ptr<StoreCore> core;  // destroyed last
  std::unique_ptr<ReaderPin> pin;
  format::TableId contents = 0;
  LargeValue value{};
};

/// A table, and what the caller may read there.
struct GrantedTable {
  const std::shared_ptr<StoreCore>& core;
  const TableName& name;
  NameEntry& entry;
  const Grant& grant;
};

/// Reads the entity, and opens the values of these names. Errors: as Table::get_opened.
Result<std::optional<OpenedEntity>> read_opened_entity(const GrantedTable& from, std::string_view partition_key,
                                                       std::string_view row_key,
                                                       std::span<const std::string> properties,
                                                       const ReadOptions& options);

/// Opens the content of this number. Errors: as Store::open_large_value.
Result<LargeValueReader> open_large_value(const std::shared_ptr<StoreCore>& core, std::string_view account,
                                          std::uint64_t id);

/// Reads the entity, and opens one of its values. Errors: as Table::open_large_value.
Result<LargeValueReader> open_large_value(const GrantedTable& from, std::string_view partition_key,
                                          std::string_view row_key, std::string_view property,
                                          const ReadOptions& options);

}  // namespace varve
