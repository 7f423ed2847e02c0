// Owns: the calls of the C interface on stores: opening and closing, accounts, tables, upkeep.
#include "varve/store.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/sized.h"
#include "api/c/values.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

/// Passes log lines and changes of health to functions in C.
class CListener final : public EventListener, public Logger {
 public:
  explicit CListener(const varve_resource_options& options) noexcept : options_(options) {}
  void on_health(std::string_view store_path, Health health, const Status& cause) noexcept override {
    if (options_.health == nullptr) return;
    varve_status* const shown = to_c(cause);
    options_.health(text_of(store_path), static_cast<int32_t>(health), shown, options_.context);
    varve_status_free(shown);
  }
  void log(std::string_view store_path, std::string_view line) noexcept override {
    if (options_.log != nullptr) options_.log(text_of(store_path), text_of(line), options_.context);
  }

 private:
  const varve_resource_options options_;
};

Result<std::optional<TableExpiry>> read_expiry(const varve_table_expiry* expiry) {
  if (expiry == nullptr) return std::optional<TableExpiry>();
  const Result<varve_table_expiry> given = read_sized(expiry);
  if (!given.ok()) return given.status();
  const Result<std::string_view> property = read_text(given->property, "property");
  if (!property.ok()) return property.status();
  return std::optional<TableExpiry>(TableExpiry{std::string(*property), to_milliseconds(given->age_ms)});
}

Status read_limits(const varve_limits* limits, std::optional<StoreLimits>* read) {
  if (limits == nullptr) return Status();
  const Result<varve_limits> given = read_sized(limits);
  if (!given.ok()) return given.status();
  StoreLimits made;
  const auto choose = [](std::uint32_t value, std::uint32_t* limit) {
    if (value != 0) *limit = value;
  };
  choose(given->key_code_units_max, &made.key_code_units_max);
  choose(given->custom_properties_max, &made.custom_properties_max);
  choose(given->string_code_units_max, &made.string_code_units_max);
  choose(given->binary_bytes_max, &made.binary_bytes_max);
  choose(given->entity_bytes_max, &made.entity_bytes_max);
  choose(given->transaction_operations_max, &made.transaction_operations_max);
  choose(given->transaction_bytes_max, &made.transaction_bytes_max);
  choose(given->page_entities_max, &made.page_entities_max);
  choose(given->filter_comparisons_max, &made.filter_comparisons_max);
  // Too high a limit stays too high, and the open refuses it.
  choose(static_cast<std::uint32_t>(std::min<std::uint64_t>(given->blob_appends_max, UINT32_MAX)),
         &made.blob_appends_max);
  *read = made;
  return Status();
}

Result<StoreOptions> read_store_options(const varve_store_options* options) {
  const Result<varve_store_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  StoreOptions read;
  read.create_if_absent = given->create_if_absent;
  read.read_only = given->read_only;
  read.short_pages = given->short_pages;
  if (given->default_durability == VARVE_SYNC || given->default_durability == VARVE_BUFFERED) {
    read.default_durability = static_cast<Durability>(given->default_durability);
  } else if (given->default_durability != VARVE_DURABILITY_DEFAULT) {
    return Status::invalid_argument("default_durability is " + std::to_string(given->default_durability) +
                                    "; 0, VARVE_SYNC (1) and VARVE_BUFFERED (2) are allowed");
  }
  // Too long a time stays too long, and the open refuses it.
  static constexpr std::uint64_t kDelayMax = std::uint64_t{1} << 42;
  const auto delay = [](std::uint64_t given_ms) { return std::chrono::milliseconds(std::min(given_ms, kDelayMax)); };
  read.recreation_delay = delay(given->recreation_delay_ms);
  if (given->reader_idle_max_ms != 0) read.reader_idle_max = delay(given->reader_idle_max_ms);
  if (given->staged_blocks_age_max_ms != 0) read.staged_blocks_age_max = delay(given->staged_blocks_age_max_ms);
  if (Status limits = read_limits(given->limits, &read.limits); !limits.ok()) return limits;
  if (given->resources != nullptr) {
    const Use<ResourcesObject> resources(given->resources);
    if (!resources.ok()) return resources.status();
    read.resources = resources->resources;
  }
  return read;
}

}  // namespace

Status open_store(std::string_view path, const varve_store_options* options, StoreGround ground, varve_store** store) {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return Status::invalid_argument("the path of a store must not be empty or contain a zero byte");
  }
  Result<StoreOptions> read = read_store_options(options);
  if (!read.ok()) return read.status();
  read->env = ground.env;
  auto gate = std::make_shared<Gate>(std::move(ground.owner));
  Result<std::unique_ptr<Store>> opened = Store::open(path, *read);
  if (!opened.ok()) return opened.status();
  return give_handle(std::make_unique<StoreObject>(*std::move(opened), std::move(gate)), store);
}

namespace {

Status give_table(const StoreObject& store, Result<Table> table, varve_table** opened) {
  if (!table.ok()) return table.status();
  if (opened == nullptr) return Status();
  return give_handle(std::make_unique<TableObject>(*std::move(table), store.store->limits(), store.gate()), opened);
}

}  // namespace
}  // namespace varve::c

varve_status* varve_resources_create(const varve_resource_options* options, varve_resources** resources) {
  return vc::guarded_call([&]() -> varve::Status {
    if (resources == nullptr) return vc::null_pointer("resources");
    *resources = nullptr;
    const varve::Result<varve_resource_options> given = vc::read_sized(options);
    if (!given.ok()) return given.status();
    varve::ResourceOptions read;
    if (given->write_buffer_bytes != 0) read.write_buffer_bytes = given->write_buffer_bytes;
    if (given->block_cache_bytes != 0) read.block_cache_bytes = given->block_cache_bytes;
    if (given->without_block_cache) read.block_cache_bytes = 0;
    if (given->log != nullptr || given->health != nullptr) {
      const auto listener = std::make_shared<vc::CListener>(*given);
      read.listener = listener;
      read.logger = listener;
    }
    varve::Result<std::shared_ptr<varve::Resources>> made = varve::Resources::create(read);
    if (!made.ok()) return made.status();
    return vc::give_handle(std::make_unique<vc::ResourcesObject>(*std::move(made)), resources);
  });
}

void varve_resources_free(varve_resources* resources) {
  vc::free_handle(resources, vc::Kind::kResources);
}

varve_status* varve_store_open(varve_text path, const varve_store_options* options, varve_store** store) {
  return vc::guarded_call([&]() -> varve::Status {
    if (store == nullptr) return vc::null_pointer("store");
    *store = nullptr;
    const varve::Result<std::string_view> directory = vc::read_text(path, "path");
    if (!directory.ok()) return directory.status();
    return vc::open_store(*directory, options, vc::StoreGround(), store);
  });
}

varve_status* varve_store_close(varve_store* store) {
  return vc::guarded_call([&]() -> varve::Status {
    const vc::Pin<vc::StoreObject> held(store);
    if (!held.ok()) return held.status();
    if (vc::Gate::is_in_call()) {
      return varve::Status::invalid_argument("a callback must not close a store; close it after the call");
    }
    if (!held->gate()->close()) return varve::Status(varve::Code::kClosed, "another thread closes the store");
    varve::Status closed = held->store->close();
    vc::free_handle(store, vc::Kind::kStore);
    return closed;
  });
}

varve_status* varve_store_sync(varve_store* store) {
  return vc::call_on<vc::StoreObject>(store, [](const vc::StoreObject& held) { return held.store->sync(); });
}

varve_status* varve_store_compact(varve_store* store) {
  return vc::call_on<vc::StoreObject>(store, [](const vc::StoreObject& held) { return held.store->compact(); });
}

varve_status* varve_store_checkpoint(varve_store* store, varve_text path, varve_checkpoint_figures* figures) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<std::string_view> directory = vc::read_text(path, "path");
    if (!directory.ok()) return directory.status();
    const varve::Result<varve::CheckpointStatistics> made = held.store->checkpoint(*directory);
    if (!made.ok()) return made.status();
    if (figures == nullptr) return varve::Status();
    return vc::write_sized(varve_checkpoint_figures{0, made->version.ticks, made->files_linked, made->linked_bytes,
                                                    made->files_copied, made->copied_bytes},
                           figures);
  });
}

varve_status* varve_store_snapshot(varve_store* store, varve_snapshot** snapshot) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (snapshot == nullptr) return vc::null_pointer("snapshot");
    *snapshot = nullptr;
    varve::Result<varve::Snapshot> taken = held.store->snapshot();
    if (!taken.ok()) return taken.status();
    return vc::give_handle(std::make_unique<vc::SnapshotObject>(*std::move(taken), held.gate()), snapshot);
  });
}

varve_status* varve_snapshot_version(const varve_snapshot* snapshot, varve_datetime* version) {
  return vc::call_on<vc::SnapshotObject>(snapshot, [&](const vc::SnapshotObject& held) -> varve::Status {
    if (version == nullptr) return vc::null_pointer("version");
    *version = held.snapshot.version().ticks;
    return varve::Status();
  });
}

void varve_snapshot_free(varve_snapshot* snapshot) {
  vc::free_handle(snapshot, vc::Kind::kSnapshot);
}

varve_status* varve_account_create(varve_store* store, varve_text account) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) {
    return vc::with_names(account, {}, "table", [&](auto name, auto) { return held.store->create_account(name); });
  });
}

varve_status* varve_account_drop(varve_store* store, varve_text account) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) {
    return vc::with_names(account, {}, "table", [&](auto name, auto) { return held.store->drop_account(name); });
  });
}

varve_status* varve_table_create(varve_store* store, varve_text account, varve_text table, varve_table** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) {
    return vc::with_names(account, table, "table", [&](auto owner, auto name) {
      return vc::give_table(held, held.store->create_table(owner, name), opened);
    });
  });
}

varve_status* varve_table_create_with(varve_store* store, varve_text account, varve_text table,
                                      const varve_table_options* options, varve_table** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<varve_table_options> given = vc::read_sized(options);
    if (!given.ok()) return given.status();
    const varve::Result<std::optional<varve::TableExpiry>> expiry = vc::read_expiry(given->expiry);
    if (!expiry.ok()) return expiry.status();
    return vc::with_names(account, table, "table", [&](auto owner, auto name) {
      const varve::TableOptions chosen{.has_large_values = given->has_large_values, .expiry = *expiry};
      return vc::give_table(held, held.store->create_table(owner, name, chosen), opened);
    });
  });
}

varve_status* varve_table_open(varve_store* store, varve_text account, varve_text table, varve_table** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (opened == nullptr) return vc::null_pointer("opened");
    return vc::with_names(account, table, "table", [&](auto owner, auto name) {
      return vc::give_table(held, held.store->open_table(owner, name), opened);
    });
  });
}

varve_status* varve_table_drop(varve_store* store, varve_text account, varve_text table) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) {
    return vc::with_names(account, table, "table",
                          [&](auto owner, auto name) { return held.store->drop_table(owner, name); });
  });
}

varve_status* varve_table_set_expiry(varve_store* store, varve_text account, varve_text table,
                                     const varve_table_expiry* expiry) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<std::optional<varve::TableExpiry>> rule = vc::read_expiry(expiry);
    if (!rule.ok()) return rule.status();
    return vc::with_names(account, table, "table",
                          [&](auto owner, auto name) { return held.store->set_table_expiry(owner, name, *rule); });
  });
}

varve_status* varve_table_show_expiry(varve_store* store, varve_text account, varve_text table, char* property,
                                      size_t capacity, size_t* bytes, uint64_t* age_ms) {
  if (bytes != nullptr) *bytes = 0;
  if (age_ms != nullptr) *age_ms = 0;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (property == nullptr && capacity != 0) return vc::null_pointer("property");
    return vc::with_names(account, table, "table", [&](auto owner, auto name) -> varve::Status {
      const varve::Result<std::optional<varve::TableExpiry>> rule = held.store->table_expiry(owner, name);
      if (!rule.ok()) return rule.status();
      if (!rule->has_value()) return varve::Status();
      const std::string& text = (*rule)->property;
      if (text.size() > capacity) {
        return varve::Status::too_large("the name of the property has " + std::to_string(text.size()) +
                                        " bytes and the buffer " + std::to_string(capacity) +
                                        "; a buffer of 1024 bytes always suffices");
      }
      if (!text.empty()) std::copy_n(text.data(), text.size(), property);  // without a zero
      if (bytes != nullptr) *bytes = text.size();
      if (age_ms != nullptr) *age_ms = static_cast<uint64_t>((*rule)->age.count());
      return varve::Status();
    });
  });
}

varve_status* varve_store_last_tag(varve_store* store, char* buffer, size_t capacity, size_t* bytes, bool* found) {
  if (bytes != nullptr) *bytes = 0;
  if (found != nullptr) *found = false;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (buffer == nullptr && capacity != 0) return vc::null_pointer("buffer");
    const varve::Result<std::optional<std::string>> tag = held.store->last_tag();
    if (!tag.ok()) return tag.status();
    if (!tag->has_value()) return varve::Status();
    const std::string& text = **tag;
    if (text.size() > capacity) {
      return varve::Status::too_large("the tag has " + std::to_string(text.size()) + " bytes and the buffer " +
                                      std::to_string(capacity) + "; a buffer of 1024 bytes always suffices");
    }
    std::copy_n(text.data(), text.size(), buffer);  // a tag is bytes, and gets no zero
    if (bytes != nullptr) *bytes = text.size();
    if (found != nullptr) *found = true;
    return varve::Status();
  });
}
