// Owns: what stands behind a Table.
// Must never: be seen by users.
#pragma once

#include <memory>

#include "api/catalog.h"
#include "api/store_core.h"
#include "api/table.h"

namespace varve {

struct Table::State {
  std::shared_ptr<StoreCore> core;
  TableName name;
  std::shared_ptr<NameEntry> entry;
};

}  // namespace varve
