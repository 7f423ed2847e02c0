// Owns: copying a table into another table of the store.
// Must never: leave a part of a copy.
#pragma once

#include <cstdint>
#include <string>

#include "tools/varve/terminal/progress.h"
#include "varve/store.h"

namespace varve::tool {

struct TableName {
  std::string account;
  std::string table;
};

/// Copies the present entities into a new or empty table, which has all of them or, after an error, none. Their
/// Timestamps are new, and they keep their ends. A new table gets the expiry, and a table that exists keeps its own. Creates
/// the account. Returns the number of entities. Errors: those of Store::load_table and Loader; kInvalidArgument (both are
/// one table; the table may have large values); kCancelled (a signal asked for the end).
Result<std::uint64_t> copy_table(Store& store, const TableName& from, const TableName& to, Progress& progress);

/// Copies the table, compares the copy with it, and drops it. If the process dies in between, both tables exist, and
/// the copy is whole. Errors: as copy_table(); kExists (the new name is taken).
Result<std::uint64_t> rename_table(Store& store, const TableName& from, const TableName& to, Progress& progress);

}  // namespace varve::tool
