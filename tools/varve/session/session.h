// Owns: opening the store, the account and the table that a verb needs.
// Must never: create anything that the verb did not request.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/varve/reach/reach.h"
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

/// Opens the present state of a store for verbs that read. It writes nothing, and can run beside other readers and
/// beside a server that has the store open.
Result<OpenedStore> open_for_reading(const Place& place);
/// Opens an existing store for verbs that write.
Result<OpenedStore> open_for_writing(const Place& place);
/// Checks that the parent directory of the store exists. Errors: kInvalidArgument, which names it.
Status check_parent(const Place& place);
/// Opens a store for verbs that import data. Creates the store if it does not exist. Errors: those of opening and of
/// check_parent().
Result<OpenedStore> open_or_make(const Place& place);

/// @{
/// Reach a store for a verb on its tables: in this process, through the server that has the store open, or through the
/// server at an address. They open a store as the function for the same kind of verb above.
Result<std::unique_ptr<StoreAccess>> reach_state(const Place& place);
Result<std::unique_ptr<StoreAccess>> reach_for_writing(const Place& place);
Result<std::unique_ptr<StoreAccess>> reach_or_make(const Place& place);
/// @}
/// As reach_state(), for a verb that reads so little that the state of one moment matters less than the time of making
/// a checkpoint.
Result<std::unique_ptr<StoreAccess>> reach_briefly(const Place& place);

/// Reaches a store at a server again, for writing, after a question to a person: the server closes an idle connection. A
/// store in this process stays as it is. Tables of the earlier access must not be used then.
Status reach_after_question(const Place& place, std::unique_ptr<StoreAccess>& store);

/// Parses "sync" or "buffered". An empty word means the store's default.
std::optional<Durability> durability_of(const std::string& word);

}  // namespace varve::tool
