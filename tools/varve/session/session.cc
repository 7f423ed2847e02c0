#include "tools/varve/session/session.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "api/model/metrics_tables.h"
#include "tools/varve/reach/local_access.h"
#include "varve/names.h"

namespace varve::tool {

Status check_place(const Place& place) {
  const Status account = check_account_name(place.account);
  return account.ok() && !metrics_table(place.table) ? check_table_name(place.table) : account;
}

Result<OpenedStore> open_for_reading(const Place& place) {
  StoreOptions options;
  options.read_only = true;
  return open_state(place.store, options);
}

Result<OpenedStore> open_for_writing(const Place& place) {
  return open_here(place.store, StoreOptions());
}

Status check_parent(const Place& place) {
  namespace fs = std::filesystem;
  if (is_rados_address(place.store)) return Status();
  std::error_code error;
  const fs::path parent = (fs::path(place.store) / "").parent_path().parent_path();
  if (parent.empty() || fs::status(parent, error).type() != fs::file_type::not_found) return Status();
  return Status::invalid_argument("the directory " + parent.string() + " does not exist; create it before the store " +
                                  place.store);
}

Result<OpenedStore> open_or_make(const Place& place) {
  if (Status checked = check_parent(place); !checked.ok()) return checked;
  StoreOptions options;
  options.create_if_absent = true;
  return open_here(place.store, options);
}

namespace {

/// Goes through the server that has the store open. If there is none, opens the store by `open`.
Result<std::unique_ptr<StoreAccess>> reach(const Place& place, Result<OpenedStore> (*open)(const Place& place)) {
  if (is_address(place.store)) return access_to_address(place.store, place.account);
  if (std::unique_ptr<StoreAccess> access = access_through_server_of(place.store); access != nullptr) return access;
  Result<OpenedStore> opened = open(place);
  if (!opened.ok()) return opened.status();
  return access_to(*std::move(opened));
}

}  // namespace

Result<std::unique_ptr<StoreAccess>> reach_state(const Place& place) {
  if (is_address(place.store)) return access_to_address(place.store, place.account);
  Result<OpenedStore> opened = open_for_reading(place);
  if (!opened.ok()) return opened.status();
  return access_to(*std::move(opened));
}

Result<std::unique_ptr<StoreAccess>> reach_for_writing(const Place& place) {
  return reach(place, &open_for_writing);
}

Result<std::unique_ptr<StoreAccess>> reach_or_make(const Place& place) {
  return reach(place, &open_or_make);
}

Result<std::unique_ptr<StoreAccess>> reach_briefly(const Place& place) {
  return reach(place, [](const Place& of) {
    StoreOptions options;
    options.read_only = true;
    return open_here(of.store, options);
  });
}

Status reach_after_question(const Place& place, std::unique_ptr<StoreAccess>& store) {
  if (store->local() != nullptr) return Status();
  Result<std::unique_ptr<StoreAccess>> again = reach_for_writing(place);
  if (!again.ok()) return again.status();
  store = *std::move(again);
  return Status();
}

std::optional<Durability> durability_of(const std::string& word) {
  if (word == "sync") return Durability::kSync;
  if (word == "buffered") return Durability::kBuffered;
  return std::nullopt;
}

}  // namespace varve::tool
