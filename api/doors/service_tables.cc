// Owns: opening and creating metrics tables for the server (service_tables.h).
// Must never: change a table that exists.
#include "api/doors/service_tables.h"

#include <memory>
#include <string>
#include <utility>

#include "api/core/store_core.h"
#include "api/core/table_state.h"
#include "api/model/guarded.h"
#include "api/model/metrics_tables.h"
#include "varve/names.h"

namespace varve {

Result<Table> ServiceTables::open(Store& store, std::string_view account, std::string_view table) {
  return guarded([&]() -> Result<Table> {
    StoreCore& core = *store.core_;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    if (metrics_table(table) != table) return Status::invalid_argument("the name is not that of a metrics table");
    if (!check_account_name(account).ok()) return no_such_account(account);
    std::shared_ptr<Table::State> state =
        Table::State::named(store.core_, TableName{std::string(account), std::string(table), lower_case(table)});
    const Status found = core.catalog().resolve_newest(state->name, *state->entry).status();
    if (!found.ok() && found.code() != Code::kNotFound) return found;
    if (!found.ok()) {
      const Status created = core.catalog().create_table(state->name);
      if (!created.ok() && created.code() != Code::kExists) return created;
    }
    return Table(std::move(state));
  });
}

}  // namespace varve
