#include "tools/varve/import/import_target.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "api/model/entity_codec.h"
#include "varve/names.h"

namespace varve::tool {

Status check_entity(const Entity& entity, const StoreLimits& limits) {
  if (Status key = check_written_key(entity.partition_key(), "PartitionKey", KeyUse::kInsert, limits); !key.ok())
    return key;
  if (Status key = check_written_key(entity.row_key(), "RowKey", KeyUse::kInsert, limits); !key.ok()) return key;
  return check_properties(entity, limits);
}

Status ImportTarget::open() {
  std::error_code none;
  if (!std::filesystem::exists(place_.store, none)) return check_parent(place_);
  Result<std::unique_ptr<Store>> store = open_for_writing(place_);
  // The directory contains no store.
  if (store.code() == Code::kNotFound && store.status().service_error().empty()) return Status();
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  return open_table();
}

Status ImportTarget::open_table() {
  Result<Table> table = store_->open_table(place_.account, place_.table);
  if (table.code() == Code::kNotFound && !table.status().service_error().empty()) return Status();
  if (!table.ok()) return table.status();
  if (loads_) return begin_load();
  table_ = *std::move(table);
  return note_version();
}

Status ImportTarget::begin_load() {
  Result<Loader> loader = store_->load_table(place_.account, place_.table);
  if (!loader.ok()) return loader.status();
  loader_.emplace(*std::move(loader));
  return Status();
}

Status ImportTarget::note_version() {
  const Result<Snapshot> now = store_->snapshot();
  if (!now.ok()) return now.status();
  begun_ = now->version();
  return Status();
}

Status ImportTarget::check(const Entity& entity) const {
  if (is_ready()) return Status();
  return check_entity(entity, store_ ? store_->limits() : StoreLimits());
}

Status ImportTarget::create() {
  if (!store_) {
    Result<std::unique_ptr<Store>> store = open_or_make(place_);
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
  }
  if (loads_) {
    const Status made = make_account_if_absent(*store_, place_.account);
    return made.ok() ? begin_load() : made;
  }
  Result<Table> table = open_or_make_table(*store_, place_);
  if (!table.ok()) return table.status();
  table_ = *std::move(table);
  return note_version();
}

Status ImportTarget::close() {
  if (!store_) return Status();
  const Status synced = store_->sync();
  const Status closed = store_->close();
  return synced.ok() ? closed : synced;
}

}  // namespace varve::tool
