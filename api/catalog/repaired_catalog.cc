// Owns: the decision about every table and account of a repaired store (repaired_catalog.h).
// Must never: change a row of the catalog that is certain.
#include "api/catalog/repaired_catalog.h"

#include <algorithm>

#include "api/catalog/work_rows.h"
#include "format/keys/sort_key.h"
#include "varve/names.h"

namespace varve {
namespace {

/// Numbers to skip if some may have been given without a trace, for tables that were created and dropped.
constexpr std::uint32_t kNumbersLeftFree = 1'000'000;

std::uint32_t raised(std::uint32_t number, std::uint32_t by, std::uint32_t end) noexcept {
  return by >= end - std::min(number, end) ? end : number + by;
}

}  // namespace

// -- Rows that were found ---------------------------------------------------------------------------------------------

void RepairedCatalog::take_system_rows(const engine::SystemRows& rows) {
  found_ = &rows;
  for (const engine::SystemRow& row : rows.rows) {
    Result<format::SortKey> key = format::decode_sort_key(row.key);
    if (!key.ok()) {
      mended_.push_back(row);
      continue;
    }
    switch (key->table) {
      case kAccountsTable: take_account(row, std::move(key->partition_key)); break;
      case kTablesTable: take_table(row, std::move(key->partition_key), std::move(key->row_key)); break;
      case kQueuesTable: take_queue(row, std::move(key->partition_key), std::move(key->row_key)); break;
      case kContainersTable: take_container(row, std::move(key->partition_key), std::move(key->row_key)); break;
      case kWorkTable: take_work(row); break;
      case kServiceTable:
        has_secret_ = has_secret_ || row.key == queue_secret_key();
        if (row.key == account_counter_key()) {
          counter_ = &row;
          break;
        }
        [[fallthrough]];
      default: mended_.push_back(row);
    }
  }
  std::erase_if(tables_, [&](const auto& entry) { return left_.contains(entry.first); });
  drop_orphaned_rows();
  for (const auto& [name, account] : accounts_) numbers_.insert(account.row.number);
  for (const auto& [id, table] : tables_) numbers_.insert(format::account_of(id));
  for (const format::TableId id : left_) numbers_.insert(format::account_of(id));
}

/// If the account was dropped, its row is a remnant: the deletion of the row was lost.
void RepairedCatalog::take_account(const engine::SystemRow& row, std::string name) {
  const Result<AccountRow> decoded = decode_account_row(name, row.version, row.value);
  if (!decoded.ok()) return mended_.push_back(row);  // Its bytes verified, so the store wrote it like this.
  highest_account_ = std::max(highest_account_, decoded->number);
  if (found_->is_dropped(format::make_table_id(decoded->number, 0))) return;
  accounts_[std::move(name)] = {*decoded, &row};
}

void RepairedCatalog::take_table(const engine::SystemRow& row, std::string account, std::string lower_name) {
  Result<TableRow> decoded = decode_table_row(account, lower_name, row.version, row.value);
  if (!decoded.ok()) return mended_.push_back(row);
  see(table_fence_of(decoded->id));
  for (const TableIndex& index : decoded->indexes.all) see(index.id);
  if (found_->is_dropped(table_fence_of(decoded->id))) return;
  const format::TableId id = decoded->id;
  tables_[id] = {std::move(account), std::move(lower_name), *std::move(decoded), &row};
}

void RepairedCatalog::take_queue(const engine::SystemRow& row, std::string account, std::string name) {
  const Result<QueueRow> decoded = decode_queue_row(account, name, row.version, row.value);
  if (!decoded.ok()) return mended_.push_back(row);
  see(decoded->id);
  if (found_->is_dropped(decoded->id)) return;
  tables_[decoded->id] = {
      std::move(account), name, {name, decoded->id, decoded->created}, &row, TableFound::Kind::kQueue};
}

void RepairedCatalog::take_container(const engine::SystemRow& row, std::string account, std::string name) {
  const Result<ContainerRow> decoded = decode_container_row(account, name, row.version, row.value);
  if (!decoded.ok()) return mended_.push_back(row);
  see(fence_of(decoded->id));
  // The fence is dropped with the row. The work row of that commit leads to the rows that are left (take_work).
  if (found_->is_dropped(fence_of(decoded->id))) return;
  tables_[decoded->id] = {
      std::move(account), name, {name, decoded->id, decoded->created}, &row, TableFound::Kind::kContainer};
}

/// The rows of a dropped container, or of a dropped table with large values, stay, so that the contents that they name can
/// lose these owners.
void RepairedCatalog::take_work(const engine::SystemRow& row) {
  mended_.push_back(row);
  const Result<Work> work = decode_work_key(row.key);
  const bool is_drop = work.ok() && (work->kind == WorkKind::kContainer || work->kind == WorkKind::kTable);
  if (!is_drop) return;
  see(work->kind == WorkKind::kTable ? table_fence_of(work->subject) : fence_of(work->subject));
  left_.insert(work->subject);
}

/// If an account was dropped and created again, lost deletions may have left table rows with the old number. If the
/// account's own row is lost, the row of its youngest table has the current number.
void RepairedCatalog::drop_orphaned_rows() {
  std::map<std::string, const TableFound*> youngest;
  for (const auto& [id, table] : tables_) {
    const TableFound*& best = youngest[table.account];
    if (best == nullptr || best->found->version < table.found->version) best = &table;
  }
  std::map<std::string, std::uint32_t> numbers;
  for (const auto& [name, table] : youngest) numbers[name] = format::account_of(table->row.id);
  for (const auto& [name, account] : accounts_) numbers[name] = account.row.number;
  std::erase_if(tables_,
                [&](const auto& entry) { return format::account_of(entry.first) != numbers.at(entry.second.account); });
}

void RepairedCatalog::see(format::TableId table) {
  if (format::is_index(table)) table = format::drawn_for_index(table);
  const std::uint32_t account = format::account_of(table);
  const auto number = static_cast<std::uint32_t>(table);
  highest_account_ = std::max(highest_account_, account);
  if (number >= kTableNumberEnd) return;
  std::uint32_t& highest = highest_table_[account];
  highest = std::max(highest, number);
}

bool RepairedCatalog::keeps(format::TableId table) {
  see(table_fence_of(table));
  if (found_->is_dropped(table)) return false;
  if (tables_.contains(table) || left_.contains(table)) return true;
  const auto number = static_cast<std::uint32_t>(table);
  // Blobs and entities that are kept name its rows. All other ids of the account were asked about before.
  if (number == kContentsNumber) return keeps_contents(format::account_of(table));
  const bool is_companion = number >= kTableNumberEnd && !has_large_values(table);
  if (number == 0 || is_companion || found_->is_dropped(table_fence_of(table))) return false;
  // Keeps the table only if its row may be among the lost ones, and if every drop is known.
  if (!found_->may_be_incomplete || !found_->drops_are_known) return false;
  orphans_.insert(table);
  numbers_.insert(format::account_of(table));
  return true;
}

bool RepairedCatalog::keeps_contents(std::uint32_t account) {
  if (!numbers_.contains(account)) return false;
  with_contents_.push_back(account);
  return true;
}

std::map<std::uint32_t, std::vector<format::TableId>> RepairedCatalog::owners_of_contents() const {
  std::map<std::uint32_t, std::vector<format::TableId>> ids;
  for (const format::TableId id : left_) ids[format::account_of(id)].push_back(id);
  for (const auto& [id, table] : tables_) {
    const bool owns = table.kind == TableFound::Kind::kContainer || has_large_values(id);
    if (owns) ids[format::account_of(id)].push_back(id);
  }
  for (const format::TableId id : orphans_) {
    if (has_large_values(id)) ids[format::account_of(id)].push_back(id);
  }
  return ids;
}

/// The id of a table with large values says what its rows are, so its names can be counted. It comes after all others.
bool RepairedCatalog::has_nameless_tables(std::uint32_t account) const {
  const auto orphan = orphans_.lower_bound(format::make_table_id(account, 0));
  return orphan != orphans_.end() && format::account_of(*orphan) == account && !has_large_values(*orphan);
}

// -- The rows of the repaired store -----------------------------------------------------------------------------------

void RepairedCatalog::write(std::string key, std::string value, format::CommitVersion version) {
  mended_.push_back({std::move(key), version, std::move(value), false});
}

/// Entries are not saved, so each index of the repaired store is built again. One whose drop is known is left out.
Status RepairedCatalog::mend_table(const TableFound& table, format::CommitVersion version) {
  if (table.kind != TableFound::Kind::kTable || table.row.indexes.all.empty()) {
    mended_.push_back(*table.found);
    return Status();
  }
  TableIndexes indexes = table.row.indexes;
  std::erase_if(indexes.all,
                [&](const TableIndex& index) { return index.is_maintained() && found_->is_dropped(index.id); });
  for (TableIndex& index : indexes.all) {
    if (index.is_maintained()) index.state = IndexState::kBuilding;
  }
  const Result<std::string> renewed = with_table_id(table.found->value, table.row, table.row.id);
  if (!renewed.ok()) return renewed.status();
  Result<std::string> mended = with_table_indexes(*renewed, indexes);
  if (!mended.ok()) return mended.status();
  write(table.found->key, *std::move(mended), version);
  to_index_.push_back(table.row.id);
  return Status();
}

Result<std::vector<engine::SystemRow>> RepairedCatalog::mended_rows(format::CommitVersion version) {
  for (const auto& [id, table] : tables_) {
    if (Status mended = mend_table(table, version); !mended.ok()) return mended;
    table_names_[id] = {table.account, table.row.name};
    if (table.kind == TableFound::Kind::kQueue) ++queues_;
    if (table.kind == TableFound::Kind::kContainer) ++containers_;
  }
  mend_secret(version);
  if (Status mended = mend_accounts(version); !mended.ok()) return mended;
  name_orphans(version);
  if (Status mended = mend_counter(version); !mended.ok()) return mended;
  return std::move(mended_);
}

Status RepairedCatalog::mend_accounts(format::CommitVersion version) {
  for (const auto& [name, account] : accounts_) account_names_[account.row.number] = name;
  for (const auto& [id, table] : tables_) {
    if (accounts_.contains(table.account)) continue;
    const std::uint32_t number = format::account_of(id);
    accounts_[table.account] = {{number, kFirstNumber, version}, nullptr};
    account_names_[number] = table.account;
    remade_.push_back(table.account);
  }
  for (const format::TableId orphan : orphans_) {
    const std::uint32_t number = format::account_of(orphan);
    if (account_names_.contains(number)) continue;
    const std::string name = name_for_account(number);
    accounts_[name] = {{number, kFirstNumber, version}, nullptr};
    account_names_[number] = name;
    remade_.push_back(name);
  }
  for (const auto& [name, account] : accounts_) {
    if (Status mended = mend_account(name, account, version); !mended.ok()) return mended;
  }
  return Status();
}

std::string RepairedCatalog::name_for_account(std::uint32_t number) const {
  std::string name = "recovered" + std::to_string(number);
  while (accounts_.contains(name)) name.push_back('x');
  return name;
}

Status RepairedCatalog::mend_account(const std::string& name, const Account& account, format::CommitVersion version) {
  const auto highest = highest_table_.find(account.row.number);
  const std::uint32_t least = highest == highest_table_.end() ? kFirstNumber : highest->second + 1;
  const bool is_certain = account.found != nullptr && !account.found->is_doubtful;
  if (is_certain && account.row.next_table >= least) {
    mended_.push_back(*account.found);
    return Status();
  }
  const std::uint32_t next =
      raised(std::max(account.row.next_table, least), is_certain ? 0 : kNumbersLeftFree, kTableNumberEnd);
  std::string made;
  if (account.found == nullptr) made = encode_account_row(account.row.number);
  const std::string& value = account.found == nullptr ? made : account.found->value;
  Result<std::string> row = with_next_table(value, account.row, next);
  if (!row.ok()) return row.status();
  write(account_row_key(name), *std::move(row), version);
  return Status();
}

/// Gives a name to each table whose row was lost. The table keeps its id, which includes the account's number.
void RepairedCatalog::name_orphans(format::CommitVersion version) {
  std::set<TableNames> taken;
  for (const auto& [id, names] : table_names_) taken.insert({names.first, lower_case(names.second)});
  for (const format::TableId orphan : orphans_) {
    const std::string& account = account_names_.at(format::account_of(orphan));
    std::string name = "Recovered" + std::to_string(static_cast<std::uint32_t>(orphan));
    while (!taken.insert({account, lower_case(name)}).second) name.push_back('x');
    write(table_row_key(account, lower_case(name)), encode_table_row(name, orphan), version);
    table_names_[orphan] = {account, name};
    renamed_.emplace_back(account).append("/").append(name);
  }
}

/// Without the secret, no queue can be used. A new one only makes earlier receipts invalid.
void RepairedCatalog::mend_secret(format::CommitVersion version) {
  if (queues_ > 0 && !has_secret_) write(queue_secret_key(), encode_queue_secret(version | 1), version);
}

Status RepairedCatalog::mend_counter(format::CommitVersion version) {
  const bool is_doubtful =
      counter_ != nullptr ? counter_->is_doubtful : found_->may_be_incomplete || !found_->drops_are_known;
  std::uint32_t next = kFirstNumber;
  if (counter_ != nullptr) {
    const Result<std::uint32_t> found = decode_account_counter(counter_->value);
    if (!found.ok()) return found.status();
    next = *found;
    if (!is_doubtful && next > highest_account_) {
      mended_.push_back(*counter_);
      return Status();
    }
  } else if (highest_account_ == 0 && !is_doubtful) {
    return Status();  // There never was an account.
  }
  next = raised(std::max(next, highest_account_ + 1), is_doubtful ? kNumbersLeftFree : 0, kAccountNumberEnd);
  if (counter_ == nullptr) {
    write(account_counter_key(), encode_account_counter(next), version);
    return Status();
  }
  Result<std::string> row = with_next_account(counter_->value, next);
  if (!row.ok()) return row.status();
  write(account_counter_key(), *std::move(row), version);
  return Status();
}

}  // namespace varve
