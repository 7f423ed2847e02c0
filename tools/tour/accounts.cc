#include "tools/tour/accounts.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "tools/tour/writer.h"
#include "varve/store.h"

namespace varve::tour {

namespace {

std::uint64_t count_table_files(const std::string& store) {
  std::uint64_t files = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(store, error)) {
    files += entry.path().extension() == ".sst" ? 1U : 0U;
  }
  return files;
}

/// Returns the number of existing rows of each transaction.
Result<std::map<std::string, int>> rows_of_each(const Table& table, const std::string& partition) {
  std::map<std::string, int> rows;
  Scan scan;
  scan.range = ScanRange::partition(partition);
  for (;;) {
    const Result<Page> page = table.scan(scan);
    if (!page.ok()) return page.status();
    for (const Entity& entity : page->entities) ++rows[entity.row_key().substr(0, entity.row_key().find('.'))];
    if (!page->continuation) return rows;
    scan.continuation = *page->continuation;
  }
}

Status check_ledger(Store& store, const std::vector<Promise>& heard, std::uint32_t round, Account* account) {
  const Result<Table> table = store.open_table(kAccount, kLedger);
  if (!table.ok()) return table.status();
  for (std::uint32_t thread = 0; thread < kLedgerThreads; ++thread) {
    const Promise any{Promise::Kind::kCommitted, round, thread, 0};
    const Result<std::map<std::string, int>> rows = rows_of_each(*table, partition_of(any));
    if (!rows.ok()) return rows.status();
    account->recovered += rows->size();
    for (const auto& [name, count] : *rows) account->torn += count == kLedgerRowsEach ? 0U : 1U;
    for (const Promise& promise : heard) {
      if (promise.kind != Promise::Kind::kCommitted || promise.thread != thread) continue;
      ++account->acknowledged;
      account->lost += rows->contains(row_of(promise)) ? 0U : 1U;
    }
  }
  return Status();
}

Result<std::set<std::string>> tables_with(const Store& store, const std::string& prefix) {
  std::set<std::string> names;
  ListOptions list;
  list.prefix = prefix;
  for (;;) {
    const Result<TablePage> page = store.list_tables(kAccount, list);
    if (!page.ok()) return page.status();
    for (const TableInfo& table : page->tables) names.insert(table.name);
    if (!page->continuation) return names;
    list.continuation = *page->continuation;
  }
}

Result<std::uint64_t> count_rows(const Store& store, const std::string& name) {
  const Result<Table> table = store.open_table(kAccount, name);
  if (!table.ok()) return table.status();
  std::uint64_t rows = 0;
  Scan scan;
  for (;;) {
    const Result<Page> page = table->scan(scan);
    if (!page.ok()) return page.status();
    rows += page->entities.size();
    if (!page->continuation) return rows;
    scan.continuation = *page->continuation;
  }
}

/// Checks the tables of one thread. Only the last table that the thread reported, or the one after it, may exist.
Status check_tables(Store& store, const std::vector<Promise>& heard, std::uint32_t round, std::uint32_t thread,
                    Account* account) {
  const Result<std::set<std::string>> there = tables_with(store, table_prefix(round, thread));
  if (!there.ok()) return there.status();
  constexpr std::uint64_t kRows = std::uint64_t{kDroppedTableBatches} * kDroppedTableRowsEach;
  Promise last{};
  for (const Promise& promise : heard) {
    if (promise.kind == Promise::Kind::kCommitted || promise.thread != thread) continue;
    last = promise;
    if (promise.kind != Promise::Kind::kTableDropped) continue;
    ++account->dropped;
    account->resurrected += there->contains(table_of(promise)) ? 1U : 0U;
  }
  // The table may be gone, because its drop may have begun. But it must not be incomplete.
  if (last.kind == Promise::Kind::kTableFilled && there->contains(table_of(last))) {
    const Result<std::uint64_t> rows = count_rows(store, table_of(last));
    if (!rows.ok()) return rows.status();
    account->lost += kRows - std::min(*rows, kRows);
  }
  for (const std::string& name : *there) {
    if (Status dropped = store.drop_table(kAccount, name); !dropped.ok()) return dropped;
  }
  return Status();
}

Status check(Store& store, const std::vector<Promise>& heard, std::uint32_t round, Memory memory, Account* account) {
  if (Status status = check_ledger(store, heard, round, account); !status.ok()) return status;
  for (std::uint32_t thread = 0; memory == Memory::kScarce && thread < kDropThreads; ++thread) {
    if (Status status = check_tables(store, heard, round, thread, account); !status.ok()) return status;
  }
  return Status();
}

}  // namespace

void Account::add(const Account& other) noexcept {
  acknowledged += other.acknowledged;
  recovered += other.recovered;
  lost += other.lost;
  torn += other.torn;
  dropped += other.dropped;
  resurrected += other.resurrected;
  files_cleared += other.files_cleared;
  strays += other.strays;
  findings += other.findings;
}

Result<Account> give_account(const std::string& store_path, const std::vector<Promise>& heard, std::uint32_t round,
                             Memory memory) {
  const Result<StoreOptions> options = options_for(memory);
  if (!options.ok()) return options.status();
  Account account;
  {
    const std::uint64_t files_before = count_table_files(store_path);
    const Result<std::unique_ptr<Store>> store = Store::open(store_path, *options);
    if (!store.ok()) return store.status();
    const std::uint64_t files_after = count_table_files(store_path);
    account.files_cleared = files_before - std::min(files_before, files_after);
    if (Status status = check(**store, heard, round, memory, &account); !status.ok()) return status;
    if (Status closed = (*store)->close(); !closed.ok()) return closed;
  }
  const Result<VerifyReport> report = Store::verify(store_path);
  if (!report.ok()) return report.status();
  const std::uint64_t files = count_table_files(store_path);
  account.strays = files - std::min(files, report->table_files);
  account.findings = report->finding_count;
  return account;
}

Status drop_ledger(const std::string& store_path) {
  const Result<std::unique_ptr<Store>> store = Store::open(store_path);
  if (!store.ok()) return store.status();
  if (Status dropped = (*store)->drop_table(kAccount, kLedger); !dropped.ok()) return dropped;
  return (*store)->close();
}

}  // namespace varve::tour
