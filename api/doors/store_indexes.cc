// Owns: the verbs of a store for the indexes of tables (store.h).
// Must never: do the work itself. The catalog and the build do.
#include <algorithm>
#include <utility>

#include "api/core/store_core.h"
#include "api/model/guarded.h"
#include "api/model/metrics_tables.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/write/index_build.h"
#include "varve/names.h"
#include "varve/store.h"

namespace varve {
namespace {

Result<TableName> indexed_table(std::string_view account, std::string_view table) {
  if (!check_account_name(account).ok()) return no_such_account(account);
  if (!check_table_name(table).ok()) return no_such_table(account, table);
  return TableName{std::string(account), std::string(table), lower_case(table)};
}

format::IndexDefinition stored_definition(const IndexDefinition& definition) {
  format::IndexDefinition stored;
  stored.carried = definition.carried;
  stored.is_unique = definition.is_unique;
  for (const IndexComponent& component : definition.components) {
    format::IndexComponent& added = stored.components.emplace_back();
    added.is_descending = component.is_descending;
    if (component.property == "PartitionKey") {
      added.source = format::IndexSource::kPartitionKey;
    } else if (component.property == "RowKey") {
      added.source = format::IndexSource::kRowKey;
    } else if (component.property == "Timestamp") {
      added.source = format::IndexSource::kTimestamp;
    } else {
      added.property = component.property;
    }
  }
  return stored;
}

IndexInfo shown(const TableIndex& index) {
  IndexInfo info{{index.name, {}, index.definition.carried, index.definition.is_unique}, index.state, index.failure};
  for (const format::IndexComponent& component : index.definition.components) {
    std::string name = component.property;
    if (component.source == format::IndexSource::kPartitionKey) name = "PartitionKey";
    if (component.source == format::IndexSource::kRowKey) name = "RowKey";
    if (component.source == format::IndexSource::kTimestamp) name = "Timestamp";
    info.definition.components.push_back({std::move(name), component.is_descending});
  }
  return info;
}

/// Returns the index of this name if it has this definition, or declares it.
Result<TableIndex> declared_index(StoreCore& core, const TableName& name, const IndexDefinition& definition) {
  const format::IndexDefinition wanted = stored_definition(definition);
  Result<TableIndex> made = core.catalog().create_index(name, definition.name, wanted);
  if (made.ok() || made.code() != Code::kExists) return made;
  const Result<TableIndexes> now = Catalog::find_indexes(core.backend().view(), name);
  if (!now.ok()) return now.status();
  const TableIndex* const index = now->find(definition.name);
  return index != nullptr && index->definition == wanted ? Result<TableIndex>(*index) : made;
}

}  // namespace

Status Store::create_index(std::string_view account, std::string_view table, const IndexDefinition& definition,
                           const std::function<bool(const IndexBuildProgress&)>& progress) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (metrics_table(table)) return metrics_are_read_only(table);
    const Result<TableName> name = indexed_table(account, table);
    if (!name.ok()) return name.status();
    const Result<TableIndex> index = declared_index(*core_, *name, definition);
    if (!index.ok()) return index.status();
    // The row may be older than the manifest, which a repair made anew.
    if (Status allowed = core_->backend().allow_indexes(); !allowed.ok()) return allowed;
    return varve::build_index(*core_, *name, index->id, progress);
  });
}

Status Store::build_index(std::string_view account, std::string_view table, std::string_view index,
                          const std::function<bool(const IndexBuildProgress&)>& progress) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    const Result<TableName> name = indexed_table(account, table);
    if (!name.ok()) return name.status();
    const Result<TableIndexes> now = Catalog::find_indexes(core_->backend().view(), *name);
    if (!now.ok()) return now.status();
    const TableIndex* const found = now->find(index);
    if (found == nullptr) {
      return service_error::resource_not_found("table " + quoted(name->spelling) + " has no index " + quoted(index));
    }
    if (Status allowed = core_->backend().allow_indexes(); !allowed.ok()) return allowed;
    return varve::build_index(*core_, *name, found->id, progress);
  });
}

Status Store::drop_index(std::string_view account, std::string_view table, std::string_view index) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    const Result<TableName> name = indexed_table(account, table);
    if (!name.ok()) return name.status();
    return core_->catalog().drop_index(*name, index);
  });
}

Result<std::vector<IndexInfo>> Store::indexes(std::string_view account, std::string_view table) const {
  return guarded([&]() -> Result<std::vector<IndexInfo>> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    const Result<TableName> name = indexed_table(account, table);
    if (!name.ok()) return name.status();
    const Result<TableIndexes> found = Catalog::find_indexes(core_->backend().view(), *name);
    if (!found.ok()) return found.status();
    std::vector<IndexInfo> infos;
    for (const TableIndex& index : found->all) infos.push_back(shown(index));
    return infos;
  });
}

}  // namespace varve
