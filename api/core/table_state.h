// Owns: the implementation of a Table.
// Must never: be visible to users.
#pragma once

#include <memory>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "varve/table.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL Table::State {
  std::shared_ptr<StoreCore> core;
  TableName name;
  std::shared_ptr<NameEntry> entry;
  /// If null, everything is permitted.
  std::shared_ptr<const TableAccess> access;

  static std::shared_ptr<State> named(std::shared_ptr<StoreCore> core, TableName name) {
    auto state = std::make_shared<State>();
    state->entry = core->catalog().names().find_or_add(name.account, name.lower);
    state->core = std::move(core);
    state->name = std::move(name);
    return state;
  }

  /// Returns the grant of one verb. Errors: those of the access rules.
  Result<Grant> grant() const { return access ? access->grant() : Grant(); }
  /// If there is a reader, it receives the entities instead of the page.
  Result<Page> read_page(const Scan& scan, const EntityReader* reader) const;
};

}  // namespace varve
