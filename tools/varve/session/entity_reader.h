// Owns: reading a table entity by entity, and the comparison of two entities.
// Must never: keep more than a page.
#pragma once

#include <cstddef>

#include "tools/varve/reach/table_access.h"

namespace varve::tool {

class EntityReader {
 public:
  /// `table` must outlive the reader.
  EntityReader(const TableAccess& table, ReadOptions options);

  /// Returns the next entity in key order, or null at the end. It lasts until the next call. Errors: those of
  /// Table::scan.
  Result<const Entity*> next();

 private:
  const TableAccess& table_;
  Scan scan_;
  Page page_;
  std::size_t used_ = 0;
  bool is_last_ = false;
};

/// Returns whether keys, names, types and values are the same. Timestamps may differ. A NaN is the same as a NaN.
bool have_same_values(const Entity& a, const Entity& b);

}  // namespace varve::tool
