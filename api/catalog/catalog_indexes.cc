// Owns: the commits that declare, change and drop the indexes of a table (catalog.h).
// Must never: change what writers must maintain without giving the table another shape in the same commit.
#include <algorithm>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/commit/commit.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"

namespace varve {
namespace {

Status no_such_index(const TableName& name, std::string_view index) {
  return service_error::resource_not_found("table " + quoted(name.spelling) + " of account " + quoted(name.account) +
                                           " has no index " + quoted(index));
}

Status index_exists(const TableName& name, std::string_view index) {
  return service_error::resource_already_exists("table " + quoted(name.spelling) + " of account " +
                                                quoted(name.account) + " has an index " + quoted(index) +
                                                " with another definition already; drop it, or give another name");
}

Status too_many_indexes(const TableName& name) {
  return service_error::invalid_input("table " + quoted(name.spelling) + " of account " + quoted(name.account) +
                                      " has " + std::to_string(kTableIndexesMax) + " indexes already; drop one");
}

/// Draws the ids of indexes from the numbers of tables. Returns the first of them; the others follow it.
Result<DrawnNumber> draw_index_numbers(std::string_view account, const engine::Newest& account_row,
                                       std::uint32_t count) {
  Result<DrawnNumber> drawn = draw_table_number(account, account_row, count);
  if (!drawn.ok()) return drawn;
  if (static_cast<std::uint32_t>(drawn->id) + count > format::kIndexTablesMax) {
    return Status::no_space("no index number is left; dropped numbers are never used again");
  }
  drawn->id = format::index_of_drawn(drawn->id);
  return drawn;
}

}  // namespace

Result<TableIndexes> Catalog::find_indexes(const engine::ReadView& view, const TableName& name) {
  Result<std::optional<TableRow>> row = find_table(view, name.account, name.lower);
  if (!row.ok()) return row.status();
  if (!*row) return no_such_table(name.account, name.spelling);
  return std::move((*row)->indexes);
}

Result<std::shared_ptr<const TableIndexes>> Catalog::indexes_at(const ResolvedTable& table, const TableName& name,
                                                                const NameEntry& entry) const {
  std::optional<TableRules> cached = names_.rules_at(entry, table.id, table.view.version());
  if (cached) return std::move(cached->indexes);
  Result<std::optional<TableRow>> row = find_table(table.view, name.account, name.lower);
  if (!row.ok()) return row.status();
  if (!*row || (*row)->id != table.id) return std::shared_ptr<const TableIndexes>();
  return std::shared_ptr<const TableIndexes>(std::make_shared<TableIndexes>(std::move((*row)->indexes)));
}

Status Catalog::change_indexes(const TableName& name, bool drops, const IndexChange& make) {
  const std::string account_key = account_row_key(name.account);
  const std::string table_key = table_row_key(name.account, name.lower);
  engine::CommitRequest* request = nullptr;
  RowChange change({account_key, table_key},
                   [&](const auto& /*view*/, auto rows, format::BatchBuilder& batch) -> Refusal {
                     const engine::Newest& owner = rows[0];
                     const engine::Newest& row = rows[1];
                     if (!owner.value) return {no_such_account(name.account), owner.version};
                     if (!row.value) return {no_such_table(name.account, name.spelling), row.version};
                     Result<TableRow> table = decode_table_row(name.account, name.lower, row.version, *row.value);
                     if (!table.ok()) return table.status();
                     if (Status made = make(table->indexes, owner, batch); !made.ok()) {
                       return {made, std::max(owner.version, row.version)};
                     }
                     ++table->indexes.shape;
                     const Result<std::string> renewed = with_table_id(*row.value, *table, table->id);
                     if (!renewed.ok()) return renewed.status();
                     const Result<std::string> changed = with_table_indexes(*renewed, table->indexes);
                     if (!changed.ok()) return changed.status();
                     batch.put(table_key, *changed);
                     request->reshapes = engine::TableShape{table->id, table->indexes.shape};
                     return {};
                   });
  request = &change.request;
  // Writes that begin meanwhile read the row.
  const NameCache::DropMark mark = names_.mark_table_drop(name.account, name.lower);
  if (drops) return commit_drop(change);
  change.request.durability = Durability::kSync;
  return commit(backend_, change).status();
}

Result<TableIndex> Catalog::create_index(const TableName& name, std::string_view index,
                                         const format::IndexDefinition& definition) {
  if (Status checked = check_index(index, definition); !checked.ok()) return checked;
  {
    // Older builds refuse a store with indexes, so the feature is not set for a name that cannot get one.
    const Result<TableIndexes> now = find_indexes(backend_.view(), name);
    if (!now.ok()) return now.status();
    if (now->find(index) != nullptr) return index_exists(name, index);
  }
  if (Status allowed = backend_.allow_indexes(); !allowed.ok()) return allowed;
  TableIndex made{std::string(index), 0, IndexState::kBuilding, definition};
  const Status changed = change_indexes(
      name, false, [&](TableIndexes& indexes, const engine::Newest& owner, format::BatchBuilder& batch) -> Status {
        if (indexes.find(index) != nullptr) return index_exists(name, index);
        if (indexes.all.size() == kTableIndexesMax) return too_many_indexes(name);
        const Result<DrawnNumber> number = draw_index_numbers(name.account, owner, 1);
        if (!number.ok()) return number.status();
        made.id = number->id;
        indexes.all.push_back(made);
        batch.put(account_row_key(name.account), number->account_row);
        return Status();
      });
  if (!changed.ok()) return changed;
  return made;
}

Status renew_indexes(std::string_view account, const engine::Newest& account_row, TableIndexes& indexes,
                     format::BatchBuilder& batch) {
  std::uint32_t maintained = 0;
  for (const TableIndex& index : indexes.all) maintained += index.is_maintained() ? 1U : 0U;
  if (maintained == 0) return Status();
  const Result<DrawnNumber> drawn = draw_index_numbers(account, account_row, maintained);
  if (!drawn.ok()) return drawn.status();
  format::TableId next = drawn->id;
  for (TableIndex& index : indexes.all) {
    if (!index.is_maintained()) continue;
    batch.retire_table(index.id);
    index.id = next++;
    index.state = IndexState::kBuilding;
  }
  batch.put(account_row_key(account), drawn->account_row);
  return Status();
}

Status Catalog::drop_index(const TableName& name, std::string_view index) {
  return change_indexes(name, true,
                        [&](TableIndexes& indexes, const engine::Newest& /*owner*/, format::BatchBuilder& batch) {
                          const TableIndex* const dropped = indexes.find(index);
                          if (dropped == nullptr) return no_such_index(name, index);
                          if (dropped->is_maintained()) batch.retire_table(dropped->id);
                          indexes.all.erase(indexes.all.begin() + (dropped - indexes.all.data()));
                          return Status();
                        });
}

Status Catalog::end_index_build(const TableName& name, format::TableId index, const Status& result) {
  return change_indexes(
      name, !result.ok(), [&](TableIndexes& indexes, const engine::Newest& /*owner*/, format::BatchBuilder& batch) {
        const auto built = std::find_if(indexes.all.begin(), indexes.all.end(), [&](const TableIndex& each) {
          return each.id == index && each.state == IndexState::kBuilding;
        });
        if (built == indexes.all.end()) {
          return service_error::resource_not_found("the index was dropped while it was being built");
        }
        built->state = result.ok() ? IndexState::kReady : IndexState::kFailed;
        if (result.ok()) return Status();
        built->failure = std::string(result.message());
        batch.retire_table(index);
        return Status();
      });
}

}  // namespace varve
