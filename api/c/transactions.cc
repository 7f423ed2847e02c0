// Owns: the calls of the C interface on transactions over many tables and partitions, and on bulk loads.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/page.h"
#include "api/c/sized.h"
#include "api/c/values.h"
#include "varve/store_transaction.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Result<StoreTransaction> begin(const StoreObject& store) {
  return store.store->begin_transaction();
}

Status begin_into(const StoreObject& store, varve_transaction** transaction) {
  Result<StoreTransaction> begun = begin(store);
  if (!begun.ok()) return begun.status();
  return give_handle(std::make_unique<TransactionObject>(*std::move(begun), store.gate()), transaction);
}

/// Frees a transaction at the end of an attempt.
class Attempt {
 public:
  Attempt() = default;
  ~Attempt() { varve_transaction_free(transaction); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  varve_transaction* transaction = nullptr;
};

}  // namespace
}  // namespace varve::c

varve_status* varve_transaction_begin(varve_store* store, varve_transaction** transaction) {
  if (transaction != nullptr) *transaction = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (transaction == nullptr) return vc::null_pointer("transaction");
    return vc::begin_into(held, transaction);
  });
}

varve_status* varve_transaction_get_many(varve_transaction* transaction, const varve_table* table,
                                         const varve_key* keys, size_t count, const varve_read_options* options,
                                         varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    const vc::Use<vc::TableObject> from(table);
    if (!from.ok()) return from.status();
    const varve::Result<varve::ReadOptions> chosen = vc::read_read_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::vector<varve::EntityKey>> read = vc::read_keys(keys, count);
    if (!read.ok()) return read.status();
    const varve::Result<std::vector<std::optional<varve::Entity>>> found =
        held.transaction.get_many(from->table, *read, *chosen);
    if (!found.ok()) return found.status();
    return vc::give_handle(vc::page_of(*read, *found), page);
  });
}

varve_status* varve_transaction_add(varve_transaction* transaction, const varve_table* table,
                                    const varve_operation* operation) {
  return varve_transaction_add_if(transaction, table, operation, varve_text{});
}

varve_status* varve_transaction_add_if(varve_transaction* transaction, const varve_table* table,
                                       const varve_operation* operation, varve_text condition) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::TableObject> to(table);
    if (!to.ok()) return to.status();
    if (operation == nullptr) return vc::null_pointer("operation");
    varve::Result<varve::WriteOperation> read = vc::read_operation(*operation, condition);
    if (!read.ok()) return read.status();
    held.transaction.add(to->table, *std::move(read));
    return varve::Status();
  });
}

varve_status* varve_transaction_patch(varve_transaction* transaction, const varve_table* table,
                                      const varve_patch* patch) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::TableObject> to(table);
    if (!to.ok()) return to.status();
    varve::Result<vc::ReadPatch> read = vc::read_patch(patch);
    if (!read.ok()) return read.status();
    if (read->may_insert) {
      held.transaction.insert_or_patch(to->table, std::move(read->patch));
    } else {
      held.transaction.patch(to->table, std::move(read->patch), read->if_match);
    }
    return varve::Status();
  });
}

varve_status* varve_transaction_patched(const varve_transaction* transaction, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TransactionObject>(transaction, [&](const vc::TransactionObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    auto made = std::make_unique<vc::PageObject>();
    for (const varve::Entity& entity : held.transaction.patched_entities()) made->add(entity);
    return vc::give_handle(std::move(made), page);
  });
}

varve_status* varve_transaction_commit(varve_transaction* transaction, const varve_write_options* options,
                                       varve_etag* etag) {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::vector<varve::ETag>> written = held.transaction.commit(*chosen);
    if (!written.ok()) return written.status();
    for (const varve::ETag one : *written) {
      if (!one.is_none()) vc::give_etag(one, etag);
    }
    return varve::Status();
  });
}

varve_status* varve_store_transact(varve_store* store, varve_transaction_body body, void* context,
                                   uint32_t attempts_max, const varve_write_options* options, varve_etag* etag) {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (body == nullptr) return vc::null_pointer("body");
    const std::uint32_t last = attempts_max == 0 ? 16 : attempts_max;
    for (std::uint32_t attempt = 1;; ++attempt) {
      vc::Attempt current;
      if (varve::Status begun = vc::begin_into(held, &current.transaction); !begun.ok()) return begun;
      if (varve_status* const refused = body(current.transaction, context); refused != nullptr) {
        return vc::take_status(refused);
      }
      varve_status* const failed = varve_transaction_commit(current.transaction, options, etag);
      if (varve_status_code(failed) != VARVE_CONFLICT || attempt >= last) return vc::take_status(failed);
      varve_status_free(failed);
    }
  });
}

void varve_transaction_free(varve_transaction* transaction) {
  vc::free_handle(transaction, vc::Kind::kTransaction);
}

varve_status* varve_loader_open(varve_store* store, varve_text account, varve_text table, varve_loader** loader) {
  if (loader != nullptr) *loader = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (loader == nullptr) return vc::null_pointer("loader");
    const varve::Result<std::string_view> owner = vc::read_text(account, "account");
    if (!owner.ok()) return owner.status();
    const varve::Result<std::string_view> name = vc::read_text(table, "table");
    if (!name.ok()) return name.status();
    varve::Result<varve::Loader> begun = held.store->load_table(*owner, *name);
    if (!begun.ok()) return begun.status();
    return vc::give_handle(std::make_unique<vc::LoaderObject>(*std::move(begun), held.gate()), loader);
  });
}

varve_status* varve_loader_add(varve_loader* loader, const varve_entity* entity) {
  return vc::call_on<vc::LoaderObject>(loader, [&](vc::LoaderObject& held) -> varve::Status {
    const varve::Result<varve::Entity> read = vc::read_entity(entity);
    return read.ok() ? held.loader.add(*read) : read.status();
  });
}

varve_status* varve_loader_finish(varve_loader* loader, varve_etag* etag) {
  return varve_loader_finish_with(loader, nullptr, nullptr, etag);
}

varve_status* varve_loader_finish_with(varve_loader* loader, varve_index_progress progress, void* context,
                                       varve_etag* etag) {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  return vc::call_on<vc::LoaderObject>(loader, [&](vc::LoaderObject& held) -> varve::Status {
    std::function<bool(const varve::IndexBuildProgress&)> shown;
    if (progress != nullptr) {
      shown = [&](const varve::IndexBuildProgress& now) { return progress(now.entities, now.entries, context); };
    }
    const varve::Result<varve::ETag> loaded = held.loader.finish(shown);
    if (!loaded.ok()) return loaded.status();
    vc::give_etag(*loaded, etag);
    return varve::Status();
  });
}

varve_status* varve_loader_unbuilt_index(const varve_loader* loader, size_t index, varve_text* name,
                                         varve_status** reason) {
  if (name != nullptr) *name = varve_text{};
  if (reason != nullptr) *reason = nullptr;
  return vc::call_on<vc::LoaderObject>(loader, [&](const vc::LoaderObject& held) -> varve::Status {
    if (name == nullptr) return vc::null_pointer("name");
    if (reason == nullptr) return vc::null_pointer("reason");
    const std::vector<varve::UnbuiltIndex>& unbuilt = held.loader.unbuilt_indexes();
    if (index >= unbuilt.size()) return varve::Status(varve::Code::kNotFound, "the load has built all other indexes");
    *name = vc::text_of(unbuilt[index].name);
    *reason = vc::to_c(unbuilt[index].reason);
    return varve::Status();
  });
}

varve_status* varve_loader_progress(const varve_loader* loader, varve_load_progress* progress) {
  return vc::call_on<vc::LoaderObject>(loader, [&](const vc::LoaderObject& held) {
    const varve::LoadProgress now = held.loader.progress();
    return vc::write_sized(varve_load_progress{0, now.entities, now.bytes, now.sorted_entities, now.written_bytes},
                           progress);
  });
}

void varve_loader_free(varve_loader* loader) {
  vc::free_handle(loader, vc::Kind::kLoader);
}
