// Owns: the two commits of a load (catalog.h): one assigns its id and version, and the other gives its table the name.
// Must never: give a name to a load while the table with that name may contain an entity.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "engine/load/load.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

constexpr std::string_view kMadeAgain = "was created or loaded again during the load";

Status not_loadable(const TableName& name, std::string_view what) {
  return service_error::table_already_exists("table " + quoted(name.spelling) + " of account " + quoted(name.account) +
                                             " " + std::string(what) + "; load into a new or an empty table");
}

Status counts_owners(const TableName& name) {
  return service_error::invalid_input("table " + quoted(name.spelling) + " of account " + quoted(name.account) +
                                      " may have large values, which a load cannot count; insert its entities");
}

/// Refuses a table with a unique index. A load does not compare values.
Status check_indexes(const TableName& name, const TableIndexes& indexes) {
  for (const TableIndex& index : indexes.all) {
    if (!index.is_maintained() || !index.definition.is_unique) continue;
    return service_error::invalid_input("table " + quoted(name.spelling) + " of account " + quoted(name.account) +
                                        " has the unique index " + quoted(index.name) +
                                        ", whose values a load does not compare; insert its entities");
  }
  return Status();
}

Status dropped_meanwhile(const TableName& name) {
  return service_error::table_not_found("table " + quoted(name.spelling) + " of account " + quoted(name.account) +
                                        " was dropped during the load; start the load again");
}

/// Returns the version of an entity in the table, or nothing if the table is empty.
Result<std::optional<format::CommitVersion>> find_entity(const engine::ReadView& view, format::TableId table) {
  const std::string prefix = format::encode_table(table);
  engine::Cursor entities = view.cursor(prefix, format::end_of_prefix(prefix));
  entities.seek_to_first();
  if (!entities.status().ok()) return entities.status();
  return entities.valid() ? std::optional(entities.version()) : std::nullopt;
}

/// Gives the table the id. Its indexes get fresh ids, and are built after the commit.
Status renew_table_row(const TableName& name, const engine::Newest& owner, const engine::Newest& row,
                       format::TableId id, format::BatchBuilder& batch) {
  Result<TableRow> table = decode_table_row(name.account, name.lower, row.version, *row.value);
  if (!table.ok()) return table.status();
  if (Status renewed = renew_indexes(name.account, owner, table->indexes, batch); !renewed.ok()) return renewed;
  Result<std::string> renewed = with_table_id(*row.value, *table, id);
  if (renewed.ok() && !table->indexes.all.empty()) renewed = with_table_indexes(*renewed, table->indexes);
  if (!renewed.ok()) return renewed.status();
  batch.put(table_row_key(name.account, name.lower), *renewed);
  return Status();
}

/// Checks whether the load's table can still have its name, from the newest states of the account's row and the table's
/// row.
Status judge_load(const TableName& name, const LoadTarget& target, const engine::Newest& owner,
                  const engine::Newest& row) {
  if (!owner.value) return no_such_account(name.account);
  const Result<AccountRow> account = decode_account_row(name.account, owner.version, *owner.value);
  if (!account.ok()) return account.status();
  if (account->number != format::account_of(target.id)) return no_such_account(name.account);
  if (!row.value) return target.replaced ? dropped_meanwhile(name) : Status();
  const Result<TableRow> table = decode_table_row(name.account, name.lower, row.version, *row.value);
  if (!table.ok()) return table.status();
  if (!target.replaced) return not_loadable(name, "was created during the load");
  if (table->id != *target.replaced) return not_loadable(name, kMadeAgain);
  return check_indexes(name, table->indexes);
}

/// Refuses the load of a table that is not empty, or that a load cannot fill. Finds most tables that are not empty.
Refusal judge_replaced(const TableName& name, const engine::ReadView& view, const TableRow& table,
                       engine::CommitVersion version) {
  if (has_large_values(table.id)) return {counts_owners(name), version};
  if (Status indexes = check_indexes(name, table.indexes); !indexes.ok()) return {indexes, version};
  const Result<std::optional<format::CommitVersion>> entity = find_entity(view, table.id);
  if (!entity.ok()) return entity.status();
  return *entity ? Refusal(not_loadable(name, "contains entities"), std::max(version, **entity)) : Refusal();
}

}  // namespace

Result<LoadTarget> Catalog::begin_load(const TableName& name, engine::Load& load) {
  const std::string account_key = account_row_key(name.account);
  const std::string table_key = table_row_key(name.account, name.lower);
  LoadTarget target;
  RowChange change({account_key, table_key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& owner = rows[0];
    const engine::Newest& row = rows[1];
    if (!owner.value) return {no_such_account(name.account), owner.version};
    if (row.value) {
      const Result<TableRow> table = decode_table_row(name.account, name.lower, row.version, *row.value);
      if (!table.ok()) return table.status();
      if (Refusal refusal = judge_replaced(name, view, *table, row.version); refusal.is_refused()) return refusal;
      target.replaced = table->id;
      target.expiry = table->expiry;
      target.has_indexes = !table->indexes.all.empty();
      load.watch(table->id);
    } else {
      const Result<NameRelease::Found> dropped = release_.look(view, name.account, name.lower);
      if (!dropped.ok()) return dropped.status();
      if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
    }
    const Result<AccountRow> account = decode_account_row(name.account, owner.version, *owner.value);
    if (!account.ok()) return account.status();
    if (account->next_table == kTableNumberEnd)
      return Status::no_space("no table number is left; dropped numbers are never used again");
    target.id = format::make_table_id(account->number, account->next_table);
    const Result<std::string> raised = with_next_table(*owner.value, *account, account->next_table + 1);
    if (!raised.ok()) return raised.status();
    batch.put(account_key, *raised);
    return {};
  });
  const Result<engine::CommitVersion> version = commit(backend_, change);
  if (!version.ok()) return version.status();
  target.version = *version;
  if (target.replaced) {
    const engine::ReadView view = backend_.view();
    const Result<format::TableId> now = resolve_at(view, name);
    // The rows of a table that lost its name may be any earlier ones.
    if (!now.ok()) return service_error::is_table_gone(now.status()) ? dropped_meanwhile(name) : now.status();
    if (*now != *target.replaced) return not_loadable(name, kMadeAgain);
    const Result<std::optional<format::CommitVersion>> entity = find_entity(view, *target.replaced);
    if (!entity.ok()) return entity.status();
    if (*entity) return not_loadable(name, "contains entities");
  }
  if (target.expiry) {  // In a repaired store, the rule may have outlived the feature.
    if (Status allowed = backend_.allow_ends(); !allowed.ok()) return allowed;
  }
  if (target.has_indexes) {
    if (Status allowed = backend_.allow_indexes(); !allowed.ok()) return allowed;
  }
  load.begin(target.id, target.version);
  return target;
}

Status Catalog::finish_load(const TableName& name, const LoadTarget& target, engine::Load& load) {
  const std::string account_key = account_row_key(name.account);
  const std::string table_key = table_row_key(name.account, name.lower);
  RowChange change({account_key, table_key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& owner = rows[0];
    const engine::Newest& row = rows[1];
    if (Status judged = judge_load(name, target, owner, row); !judged.ok()) {
      return {judged, std::max(owner.version, row.version)};
    }
    if (load.has_entries()) batch.adopt(target.id);
    if (target.replaced) {
      if (Status renewed = renew_table_row(name, owner, row, target.id, batch); !renewed.ok()) return renewed;
      batch.retire_table(*target.replaced);
      return {};
    }
    const Result<NameRelease::Found> dropped = release_.look(view, name.account, name.lower);
    if (!dropped.ok()) return dropped.status();
    if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
    batch.put(account_key, *owner.value);  // A drop of the account waits for its newest row, and so for this commit.
    batch.put(table_key, encode_table_row(name.spelling, target.id));
    release_.forget(batch, *dropped, name.account, name.lower);
    return {};
  });
  change.request.load = &load;
  change.request.tables = {target.id};
  if (!target.replaced) return commit(backend_, change).status();
  change.request.tables.push_back(*target.replaced);
  change.request.shapes = {{*target.replaced, engine::kAnyShape}};  // judge_load() asks for the indexes.
  const NameCache::DropMark mark = names_.mark_table_drop(name.account, name.lower);
  const Status committed = commit(backend_, change).status();
  if (committed.code() == Code::kPreconditionFailed) return not_loadable(name, "was written to during the load");
  return service_error::is_table_gone(committed) ? dropped_meanwhile(name) : committed;
}

}  // namespace varve
