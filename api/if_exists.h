// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs that take for granted what is there already, or is gone already.
// Must never: hide any other error.
#pragma once

#include <string_view>

#include "options.h"
#include "result.h"
#include "status.h"
#include "store.h"
#include "table.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// Makes the account if it is not there. Errors: as Store::create_account, save for kExists.
Status create_account_if_absent(Store& store, std::string_view account);
/// The table, made if it is not there. Errors: as Store::create_table, save for kExists.
Result<Table> create_table_if_absent(Store& store, std::string_view account, std::string_view table);

/// True if there was one. Errors: as Store::drop_account, save for kNotFound.
Result<bool> drop_account_if_exists(Store& store, std::string_view account);
/// True if there was one. Errors: as Store::drop_table, save for kNotFound.
Result<bool> drop_table_if_exists(Store& store, std::string_view account, std::string_view table);

/// Deletes the entity; true if there was one. Errors: as Table::remove, save that an entity which is not there is none;
/// a table which is not there still is.
Result<bool> remove_if_exists(Table& table, std::string_view partition_key, std::string_view row_key,
                              ETag if_match = ETag::any(), const WriteOptions& options = {});

}  // namespace varve

#pragma GCC visibility pop
