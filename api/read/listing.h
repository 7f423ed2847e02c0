// Owns: pages of the names of accounts, tables, queues and containers.
// Must never: list a name that does not exist at the listed version.
#pragma once

#include <string_view>

#include "api/model/stored_row.h"
#include "engine/engine.h"
#include "varve/store.h"

namespace varve {

// `view` is the state to list. The account's name must be legal. Errors: as Store::list_accounts and
// Store::list_tables.
Result<AccountPage> list_account_page(const engine::ReadView& view, const ListOptions& options);
Result<TablePage> list_table_page(const engine::ReadView& view, std::string_view account, const ListOptions& options);

Result<QueuePage> list_queue_page(const engine::ReadView& view, std::string_view account, const ListOptions& options);

/// Shows leases as they are at `now`.
Result<ContainerPage> list_container_page(const engine::ReadView& view, std::string_view account,
                                          const ListOptions& options, Ticks now);

}  // namespace varve
