#include "tools/varve/session.h"

#include <filesystem>
#include <system_error>

#include "varve/names.h"

namespace varve::tool {

Status check_place(const Place& place) {
  const Status account = check_account_name(place.account);
  return account.ok() ? check_table_name(place.table) : account;
}

Result<std::unique_ptr<Store>> open_for_reading(const Place& place) {
  StoreOptions options;
  options.read_only = true;
  return Store::open(place.store, options);
}

Result<std::unique_ptr<Store>> open_for_writing(const Place& place) {
  return Store::open(place.store);
}

Status check_parent(const Place& place) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path parent = (fs::path(place.store) / "").parent_path().parent_path();
  if (parent.empty() || fs::status(parent, error).type() != fs::file_type::not_found) return Status();
  return Status::invalid_argument("the directory " + parent.string() + " does not exist; create it before the store " +
                                  place.store);
}

Result<std::unique_ptr<Store>> open_or_make(const Place& place) {
  if (Status checked = check_parent(place); !checked.ok()) return checked;
  StoreOptions options;
  options.create_if_missing = true;
  return Store::open(place.store, options);
}

Status make_account_if_absent(Store& store, const std::string& account) {
  const Status made = store.create_account(account);
  return made.code() == Code::kExists ? Status() : made;
}

Result<Table> open_or_make_table(Store& store, const Place& place) {
  Result<Table> table = store.open_table(place.account, place.table);
  if (table.code() != Code::kNotFound) return table;
  if (Status made = make_account_if_absent(store, place.account); !made.ok()) return made;
  table = store.create_table(place.account, place.table);
  if (table.code() != Code::kExists) return table;
  return store.open_table(place.account, place.table);
}

std::optional<Durability> durability_of(const std::string& word) {
  if (word == "sync") return Durability::kSync;
  if (word == "buffered") return Durability::kBuffered;
  return std::nullopt;
}

}  // namespace varve::tool
