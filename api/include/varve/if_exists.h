// SPDX-License-Identifier: Apache-2.0
// Owns: create operations that accept an existing object, and delete operations that accept a missing one.
// Must never: hide any other error.
#pragma once

#include <string_view>

#include "options.h"
#include "result.h"
#include "status.h"
#include "store.h"
#include "table.h"
#include "table_options.h"
#include "types.h"
#include "version.h"

namespace varve {

/// Creates the account if it does not exist. Errors: as Store::create_account, except kExists.
VARVE_EXPORT Status create_account_if_absent(Store& store, std::string_view account);
/// Opens the table, and creates it if it does not exist. Errors: as Store::create_table, except kExists; and kNotFound
/// (TableNotFound) if another caller drops the existing table before this call opens it. A table that exists keeps the
/// options that it was created with.
VARVE_EXPORT Result<Table> create_table_if_absent(Store& store, std::string_view account, std::string_view table,
                                                  const TableOptions& options = {});

/// Drops the account. Returns whether the account existed. Errors: as Store::drop_account, except kNotFound.
VARVE_EXPORT Result<bool> drop_account_if_exists(Store& store, std::string_view account);
/// Drops the table. Returns whether the table existed. Errors: as Store::drop_table, except kNotFound.
VARVE_EXPORT Result<bool> drop_table_if_exists(Store& store, std::string_view account, std::string_view table);

/// Deletes the entity. Returns whether the entity existed. Errors: as Table::remove, except kNotFound
/// (ResourceNotFound) for a missing entity. A missing table remains an error: kNotFound (TableNotFound).
VARVE_EXPORT Result<bool> remove_if_exists(Table& table, std::string_view partition_key, std::string_view row_key,
                                           ETag if_match = ETag::any(), const WriteOptions& options = {});

}  // namespace varve
