// Owns: pages of account and table names.
// Must never: show a name that is not there at its version.
#pragma once

#include <string_view>

#include "engine/engine.h"
#include "varve/store.h"

namespace varve {

// `view` is the state to be listed; the account's name is legal. Errors: as the verbs of Store.
Result<AccountPage> list_account_page(const engine::ReadView& view, const ListOptions& options);
Result<TablePage> list_table_page(const engine::ReadView& view, std::string_view account, const ListOptions& options);

}  // namespace varve
