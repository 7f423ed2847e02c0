// Owns: what stands behind a Table.
// Must never: be seen by users.
#pragma once

#include <memory>

#include "api/catalog.h"
#include "api/store_core.h"
#include "api/table.h"
#include "api/table_access.h"

namespace varve {

struct Table::State {
  std::shared_ptr<StoreCore> core;
  TableName name;
  std::shared_ptr<NameEntry> entry;
  /// Null: everything may be done.
  std::shared_ptr<const TableAccess> access;

  /// For one verb. Errors: those of the access rules.
  Result<Grant> grant() const { return access ? access->grant() : Grant(); }
  Result<ETag> put(TransactionOperation::Kind kind, const Entity& entity, ETag if_match,
                   const WriteOptions& options) const;
};

}  // namespace varve
