// Owns: opening the store, the account and the table that a verb needs.
// Must never: create anything that the verb did not request.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "varve/store.h"

namespace varve::tool {

/// The store, account and table of the command line.
struct Place {
  std::string store;
  std::string account = "devstoreaccount1";
  std::string table;
};

/// Checks the names of account and table. Errors: those of check_account_name() and check_table_name().
Status check_place(const Place& place);

/// Opens a store for verbs that read. It writes nothing, and can run beside other readers.
Result<std::unique_ptr<Store>> open_for_reading(const Place& place);
/// Opens an existing store for verbs that write.
Result<std::unique_ptr<Store>> open_for_writing(const Place& place);
/// Checks that the parent directory of the store exists. Errors: kInvalidArgument, which names it.
Status check_parent(const Place& place);
/// Opens a store for verbs that import data. Creates the store if it does not exist. Errors: those of opening and of
/// check_parent().
Result<std::unique_ptr<Store>> open_or_make(const Place& place);

Status make_account_if_absent(Store& store, const std::string& account);

/// Opens the table. Creates the table and its account if they do not exist.
Result<Table> open_or_make_table(Store& store, const Place& place);

/// Parses "sync" or "buffered". An empty word means the store's default.
std::optional<Durability> durability_of(const std::string& word);

}  // namespace varve::tool
