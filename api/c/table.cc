// Owns: the calls of the C interface on the entities of one table: writes, look-ups, entity group transactions.
#include "varve/table.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/page.h"
#include "api/c/sized.h"
#include "api/c/values.h"
#include "api/model/guarded.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

/// Reads the arguments of a write of one entity, and calls `verb` with them.
template <typename Verb>
varve_status* write(const varve_table* table, const varve_entity* entity, const varve_write_options* options,
                    varve_etag* etag, const Verb& verb) noexcept {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  return call_on<TableObject>(table, [&](TableObject& held) -> Status {
    const Result<WriteOptions> chosen = read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    const Result<Entity> given = read_entity(entity);
    if (!given.ok()) return given.status();
    const Result<ETag> written = verb(held.table, *given, *chosen);
    if (!written.ok()) return written.status();
    give_etag(*written, etag);
    return Status();
  });
}

/// Gives the entities after patches. The patches are committed, so a lack of memory must not read as no change.
Status give_patched(std::span<const Entity> entities, varve_page** page) {
  const Status given = guarded([&] {
    auto made = std::make_unique<PageObject>();
    for (const Entity& entity : entities) made->add(entity);
    return give_handle(std::move(made), page);
  });
  if (given.code() != Code::kOutOfMemory) return given;
  return Status(Code::kUnknown, "the patch is committed, but there was no memory for the entity; read it");
}

/// Appends at most `most` operations. One above the limit of a transaction is enough for the verb to refuse all.
/// `conditions` is null, or has one for each operation.
Status add_operations(const varve_operation* operations, std::size_t count, const varve_text* conditions,
                      std::size_t most, EntityGroupTransaction& transaction) {
  if (operations == nullptr && count != 0) return null_pointer("operations");
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    Result<WriteOperation> operation =
        read_operation(operations[i], conditions == nullptr ? varve_text{} : conditions[i]);
    if (!operation.ok()) return operation.status().at_operation(static_cast<std::uint32_t>(i));
    transaction.add(*std::move(operation));
  }
  return Status();
}

/// The patches lie as far apart as the first one says: those of a caller with a later header are larger.
Status add_patches(const varve_patch* patches, std::size_t count, std::size_t most,
                   EntityGroupTransaction& transaction) {
  if (patches == nullptr && count != 0) return null_pointer("patches");
  const char* at = reinterpret_cast<const char*>(patches);
  for (std::size_t i = 0; i < count && transaction.size() < most; ++i, at += patches->size) {
    Result<ReadPatch> read = read_patch(reinterpret_cast<const varve_patch*>(at));
    if (!read.ok()) return read.status().at_operation(static_cast<std::uint32_t>(transaction.size()));
    if (read->may_insert) {
      transaction.insert_or_patch(std::move(read->patch));
    } else {
      transaction.patch(std::move(read->patch), read->if_match);
    }
  }
  return Status();
}

std::size_t operations_read(const TableObject& table) noexcept {
  return std::size_t{table.limits.transaction_operations_max} + 1;
}

varve_status* execute_group(const varve_table* table, const varve_group_writes* writes,
                            const varve_write_options* options, varve_etag* etag, varve_page** page) noexcept {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  if (page != nullptr) *page = nullptr;
  return call_on<TableObject>(table, [&](TableObject& held) -> Status {
    if (writes == nullptr) return null_pointer("writes");
    const Result<varve_group_writes> group = read_sized(writes);
    if (!group.ok()) return group.status();
    const Result<WriteOptions> chosen = read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    EntityGroupTransaction transaction;
    Status added = add_operations(group->operations, group->operation_count, group->conditions, operations_read(held),
                                  transaction);
    if (added.ok()) added = add_patches(group->patches, group->patch_count, operations_read(held), transaction);
    if (!added.ok()) return added;
    const Result<ExecutedTransaction> done = held.table.execute_with_messages(transaction.operations(), {}, *chosen);
    if (!done.ok()) return done.status();
    for (const ETag one : done->etags) {
      if (!one.is_none()) give_etag(one, etag);
    }
    return page != nullptr ? give_patched(done->patched, page) : Status();
  });
}

}  // namespace
}  // namespace varve::c

varve_status* varve_table_insert(const varve_table* table, const varve_entity* entity,
                                 const varve_write_options* options, varve_etag* etag) {
  return vc::write(table, entity, options, etag,
                   [](auto& to, const auto& given, const auto& how) { return to.insert(given, how); });
}

varve_status* varve_table_replace(const varve_table* table, const varve_entity* entity, varve_etag if_match,
                                  const varve_write_options* options, varve_etag* etag) {
  return vc::write(table, entity, options, etag, [&](auto& to, const auto& given, const auto& how) {
    return to.replace(given, vc::to_etag(if_match), how);
  });
}

varve_status* varve_table_merge(const varve_table* table, const varve_entity* entity, varve_etag if_match,
                                const varve_write_options* options, varve_etag* etag) {
  return vc::write(table, entity, options, etag, [&](auto& to, const auto& given, const auto& how) {
    return to.merge(given, vc::to_etag(if_match), how);
  });
}

varve_status* varve_table_insert_or_replace(const varve_table* table, const varve_entity* entity,
                                            const varve_write_options* options, varve_etag* etag) {
  return vc::write(table, entity, options, etag,
                   [](auto& to, const auto& given, const auto& how) { return to.insert_or_replace(given, how); });
}

varve_status* varve_table_insert_or_merge(const varve_table* table, const varve_entity* entity,
                                          const varve_write_options* options, varve_etag* etag) {
  return vc::write(table, entity, options, etag,
                   [](auto& to, const auto& given, const auto& how) { return to.insert_or_merge(given, how); });
}

varve_status* varve_table_patch(const varve_table* table, const varve_patch* patch, const varve_write_options* options,
                                varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](vc::TableObject& held) -> varve::Status {
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<vc::ReadPatch> read = vc::read_patch(patch);
    if (!read.ok()) return read.status();
    const varve::Result<varve::Entity> patched = read->may_insert
                                                     ? held.table.insert_or_patch(read->patch, *chosen)
                                                     : held.table.patch(read->patch, read->if_match, *chosen);
    if (!patched.ok()) return patched.status();
    return page != nullptr ? vc::give_patched({&*patched, 1}, page) : varve::Status();
  });
}

varve_status* varve_table_remove(const varve_table* table, varve_text partition_key, varve_text row_key,
                                 varve_etag if_match, const varve_write_options* options) {
  return vc::call_on<vc::TableObject>(table, [&](vc::TableObject& held) -> varve::Status {
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve_key key{partition_key, row_key};
    const varve::Result<std::vector<varve::EntityKey>> keys = vc::read_keys(&key, 1);
    if (!keys.ok()) return keys.status();
    return held.table.remove(keys->front().partition_key, keys->front().row_key, vc::to_etag(if_match), *chosen);
  });
}

varve_status* varve_table_execute(const varve_table* table, const varve_operation* operations, size_t count,
                                  const varve_write_options* options, varve_etag* etag) {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  return vc::call_on<vc::TableObject>(table, [&](vc::TableObject& held) -> varve::Status {
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    varve::EntityGroupTransaction transaction;
    varve::Status added = vc::add_operations(operations, count, nullptr, vc::operations_read(held), transaction);
    if (!added.ok()) return added;
    const varve::Result<std::vector<varve::ETag>> written = held.table.execute(transaction, *chosen);
    if (!written.ok()) return written.status();
    for (const varve::ETag one : *written) {
      if (!one.is_none()) vc::give_etag(one, etag);
    }
    return varve::Status();
  });
}

// NOLINTNEXTLINE(readability-function-size): what C returns is a parameter.
varve_status* varve_table_execute_patches(const varve_table* table, const varve_operation* operations, size_t count,
                                          const varve_patch* patches, size_t patch_count,
                                          const varve_write_options* options, varve_etag* etag, varve_page** page) {
  const varve_group_writes writes{sizeof writes, operations, count, nullptr, patches, patch_count};
  return vc::execute_group(table, &writes, options, etag, page);
}

varve_status* varve_table_execute_with(const varve_table* table, const varve_group_writes* writes,
                                       const varve_write_options* options, varve_etag* etag, varve_page** page) {
  return vc::execute_group(table, writes, options, etag, page);
}

varve_status* varve_table_write_if(const varve_table* table, const varve_operation* operation, varve_text condition,
                                   const varve_write_options* options, varve_etag* etag) {
  if (etag != nullptr) *etag = VARVE_ETAG_NONE;
  return vc::call_on<vc::TableObject>(table, [&](vc::TableObject& held) -> varve::Status {
    if (operation == nullptr) return vc::null_pointer("operation");
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<varve::WriteOperation> read = vc::read_operation(*operation, condition);
    if (!read.ok()) return read.status();
    const varve::Result<varve::ETag> written = held.table.write(*read, *chosen);
    if (!written.ok()) return written.status();
    vc::give_etag(*written, etag);
    return varve::Status();
  });
}

varve_status* varve_table_get(const varve_table* table, varve_text partition_key, varve_text row_key,
                              const varve_read_options* options, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    const varve::Result<varve::ReadOptions> chosen = vc::read_read_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::string_view> partition = vc::read_text(partition_key, "PartitionKey");
    if (!partition.ok()) return partition.status();
    const varve::Result<std::string_view> row = vc::read_text(row_key, "RowKey");
    if (!row.ok()) return row.status();
    const varve::Result<std::optional<varve::Entity>> found = held.table.get(*partition, *row, *chosen);
    if (!found.ok()) return found.status();
    auto made = std::make_unique<vc::PageObject>();
    if (found->has_value()) made->add(**found);
    return vc::give_handle(std::move(made), page);
  });
}

varve_status* varve_table_get_many(const varve_table* table, const varve_key* keys, size_t count,
                                   const varve_read_options* options, varve_page** page) {
  if (page != nullptr) *page = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    const varve::Result<varve::ReadOptions> chosen = vc::read_read_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::vector<varve::EntityKey>> read = vc::read_keys(keys, count);
    if (!read.ok()) return read.status();
    const varve::Result<std::vector<std::optional<varve::Entity>>> found = held.table.get_many(*read, *chosen);
    if (!found.ok()) return found.status();
    return vc::give_handle(vc::page_of(*read, *found), page);
  });
}

varve_status* varve_table_restrict(const varve_table* table, const varve_access* access, varve_table** restricted) {
  if (restricted != nullptr) *restricted = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (restricted == nullptr) return vc::null_pointer("restricted");
    const varve::Result<varve::Access> read = vc::read_access(access);
    if (!read.ok()) return read.status();
    varve::Result<varve::Table> made = held.table.restricted_to(*read);
    if (!made.ok()) return made.status();
    return vc::give_handle(std::make_unique<vc::TableObject>(*std::move(made), held.limits, held.gate()), restricted);
  });
}

void varve_table_free(varve_table* table) {
  vc::free_handle(table, vc::Kind::kTable);
}
