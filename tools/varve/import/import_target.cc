#include "tools/varve/import/import_target.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "api/model/entity_codec.h"
#include "tools/varve/large/entity_contents.h"
#include "tools/varve/rows/key_template.h"
#include "varve/names.h"

namespace varve::tool {

Status check_entity(const Entity& entity, const StoreLimits& limits) {
  if (Status key = check_written_key(entity.partition_key(), "PartitionKey", KeyUse::kInsert, limits); !key.ok())
    return key;
  if (Status key = check_written_key(entity.row_key(), "RowKey", KeyUse::kInsert, limits); !key.ok()) return key;
  return check_properties(entity, limits);
}

Status with_remedy(const Status& refused, const Entity& entity) {
  for (const std::string& key : {entity.partition_key(), entity.row_key()}) {
    if (with_replaced_characters(key, "") == key) continue;
    const std::string message = std::string(refused.message()) + "; --key-replace TEXT replaces them";
    return Status(refused.code(), message).with_service_error(refused.error_name());
  }
  return refused;
}

Status ImportTarget::open() {
  std::error_code none;
  const bool is_directory = !is_address(place_.store) && !is_rados_address(place_.store);
  if (is_directory && !std::filesystem::exists(place_.store, none)) return check_parent(place_);
  Result<std::unique_ptr<StoreAccess>> store = reach_for_writing(place_);
  // The directory contains no store.
  if (store.code() == Code::kNotFound && store.status().service_error().empty()) return Status();
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  if (Status local = check_place_of_contents(); !local.ok()) return local;
  return open_table();
}

Status ImportTarget::check_place_of_contents() const {
  if (!has_contents_ || !is_address(place_.store)) return Status();
  return Status::invalid_argument("--contents writes into the store; give its directory in place of an address");
}

Result<ValueAccess*> ImportTarget::values() {
  if (values_ == nullptr) {
    Result<std::unique_ptr<ValueAccess>> reached = reach_values(*store_, place_);
    if (!reached.ok()) return reached.status();
    values_ = *std::move(reached);
  }
  return values_.get();
}

Status ImportTarget::open_table() {
  Result<std::unique_ptr<TableAccess>> table = store_->open_table(place_.account, place_.table);
  if (table.code() == Code::kNotFound && !table.status().service_error().empty()) return Status();
  if (!table.ok()) return table.status();
  if (loads_) return begin_load();
  table_ = *std::move(table);
  return note_time();
}

Status ImportTarget::begin_load() {
  Store* const store = store_->local();
  if (store == nullptr) {
    return Status::invalid_argument(
        "--load writes the files of the store, which a server has open; import without --load");
  }
  Result<Loader> loader = store->load_table(place_.account, place_.table);
  if (!loader.ok()) return loader.status();
  loader_.emplace(*std::move(loader));
  return Status();
}

Status ImportTarget::note_time() {
  const Result<DateTime> now = store_->now();
  if (!now.ok()) return now.status();
  begun_ = *now;
  return Status();
}

Status ImportTarget::check(const Entity& entity) const {
  if (is_ready()) return Status();
  if (store_ != nullptr && store() == nullptr) return Status();  // the server knows its limits
  return check_entity(entity, store_ == nullptr ? StoreLimits() : store()->limits());
}

Status ImportTarget::create() {
  if (store_ == nullptr) {
    Result<std::unique_ptr<StoreAccess>> store = reach_or_make(place_);
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
  }
  if (loads_) {
    const Status made = store_->create_account(place_.account);
    return made.ok() || made.code() == Code::kExists ? begin_load() : made;
  }
  const TableOptions options{.has_large_values = has_contents_};
  Result<std::unique_ptr<TableAccess>> table = open_or_make_table(*store_, place_.account, place_.table, options);
  if (!table.ok()) return table.status();
  table_ = *std::move(table);
  return note_time();
}

Status ImportTarget::close() {
  if (store_ == nullptr) return Status();
  const Status synced = store_->local() == nullptr ? Status() : store_->local()->sync();
  const Status closed = store_->close();
  return synced.ok() ? closed : synced;
}

}  // namespace varve::tool
