// Owns: what every verb needs first: the store, the account, the table, opened as the verb asks.
// Must never: create anything that the verb did not ask for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "varve/store.h"

namespace varve::tool {

/// What the command line says about where to work.
struct Place {
  std::string store;
  std::string account = "devstoreaccount1";
  std::string table;
};

/// Whether account and table can have these names. Errors: those of check_account_name() and check_table_name().
Status check_place(const Place& place);

/// For verbs that read: writes nothing, and may run beside other readers.
Result<std::unique_ptr<Store>> open_for_reading(const Place& place);
/// For verbs that write to a store that is there.
Result<std::unique_ptr<Store>> open_for_writing(const Place& place);
/// Whether the directory that holds the store, or is to hold it, exists. Errors: kInvalidArgument, naming it.
Status check_parent(const Place& place);
/// For verbs that bring data: makes the store if it is absent. Errors: those of opening and of check_parent().
Result<std::unique_ptr<Store>> open_or_make(const Place& place);

Status make_account_if_absent(Store& store, const std::string& account);

/// The table, made with its account if it is absent.
Result<Table> open_or_make_table(Store& store, const Place& place);

/// "sync" or "buffered"; empty is the store's default.
std::optional<Durability> durability_of(const std::string& word);

}  // namespace varve::tool
