// Owns: the mapping of names to ids (catalog.h).
// Must never: wait for the disk while it holds a lock.
#include "api/catalog/catalog.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

Status numbers_used_up(std::string_view what) {
  return Status::no_space("no " + std::string(what) + " number is left; dropped numbers are never used again");
}

}  // namespace

Status no_such_account(std::string_view account) {
  return service_error::resource_not_found("account " + quoted(account) + " does not exist");
}

Status no_such_table(std::string_view account, std::string_view table) {
  return service_error::table_not_found("account " + quoted(account) + " has no table " + quoted(table));
}

Catalog::Catalog(engine::Engine& engine, std::chrono::milliseconds recreation_delay)
    : engine_(engine), names_(engine.env().scheduler), release_(recreation_delay, engine.env().clock) {}

Result<std::optional<AccountRow>> Catalog::find_account(const engine::ReadView& view, std::string_view account) {
  const auto found = view.get(account_row_key(account));
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<AccountRow>();
  Result<AccountRow> row = decode_account_row(account, (*found)->version, (*found)->value);
  if (!row.ok()) return row.status();
  return std::optional<AccountRow>(*row);
}

Result<std::optional<TableRow>> Catalog::find_table(const engine::ReadView& view, std::string_view account,
                                                    std::string_view lower_name) {
  const auto found = view.get(table_row_key(account, lower_name));
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<TableRow>();
  Result<TableRow> row = decode_table_row(account, lower_name, (*found)->version, (*found)->value);
  if (!row.ok()) return row.status();
  return std::optional<TableRow>(*std::move(row));
}

Result<format::TableId> Catalog::resolve_at(const engine::ReadView& view, const TableName& name) {
  const Result<std::optional<TableRow>> row = find_table(view, name.account, name.lower);
  if (!row.ok()) return row.status();
  if (!*row) return no_such_table(name.account, name.spelling);
  return (*row)->id;
}

std::optional<ResolvedTable> Catalog::resolve_cached(const NameEntry& entry) const {
  const format::TableId before = entry.live_id();
  if (before == 0) return std::nullopt;
  engine::ReadView view = engine_.view();
  if (entry.live_id() != before) return std::nullopt;
  return ResolvedTable{std::move(view), before};  // N1, and no drop between
}

Result<ResolvedTable> Catalog::resolve_newest(const TableName& name, NameEntry& entry) {
  if (std::optional<ResolvedTable> cached = resolve_cached(entry)) return *std::move(cached);
  const std::uint64_t lookup = names_.begin_lookup(entry);
  engine::ReadView view = engine_.view();
  const Result<format::TableId> id = resolve_at(view, name);
  if (!id.ok()) return id.status();
  names_.enter(entry, lookup, *id);
  return ResolvedTable{std::move(view), *id};
}

Result<format::TableId> Catalog::resolve_for_write(const TableName& name, NameEntry& entry) {
  const format::TableId live = entry.live_id();
  if (live != 0) return live;
  const Result<ResolvedTable> resolved = resolve_newest(name, entry);
  if (!resolved.ok()) return resolved.status();
  return resolved->id;
}

Status Catalog::refuse(engine::PartitionGuard guard, engine::CommitVersion rests_on, const Status& refusal) {
  guard.release();
  if (Status published = engine_.await_published(rests_on); !published.ok()) return published;
  return refusal;
}

Result<engine::PartitionGuard> Catalog::lock_rows(std::initializer_list<std::string_view> keys) {
  std::vector<std::uint64_t> hashes;
  for (const std::string_view key : keys) hashes.push_back(format::partition_hash(format::partition_of(key)));
  return engine_.lock_partitions(hashes);
}

Status Catalog::commit(format::BatchBuilder& batch, engine::PartitionGuard guard, bool is_drop) {
  engine::CommitRequest request;
  request.batch = batch.finish();
  request.locks = std::move(guard);
  request.durability = is_drop ? engine::Durability::kSync : engine_.default_durability();
  request.frees_space = is_drop;
  return engine_.commit(std::move(request)).status();
}

Status Catalog::change_row(const std::string& key, const std::function<Status(const engine::ReadView&)>& absent,
                           const std::function<Result<std::string>(const engine::Newest&)>& change) {
  engine_.pace(key.size());
  Result<engine::PartitionGuard> guard = lock_rows({key});
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> row = view->newest(key);
  if (!row.ok()) return row.status();
  if (!row->value) return refuse(*std::move(guard), row->version, absent(*view));
  const Result<std::string> changed = change(*row);
  if (!changed.ok()) return changed.status();

  format::BatchBuilder batch;
  batch.put(key, *changed);
  view.reset();  // The view would keep memory for which the commit may wait.
  engine::CommitRequest request;
  request.batch = batch.finish();
  request.locks = *std::move(guard);
  request.durability = engine::Durability::kSync;
  return engine_.commit(std::move(request)).status();
}

Status Catalog::create_account(std::string_view account) {
  const std::string row_key = account_row_key(account);
  const std::string counter_key = account_counter_key();
  engine_.pace(row_key.size());
  Result<engine::PartitionGuard> guard = lock_rows({row_key, counter_key});
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> row = view->newest(row_key);
  if (!row.ok()) return row.status();
  if (row->value) {
    return refuse(*std::move(guard), row->version,
                  service_error::resource_already_exists("account " + quoted(account) + " already exists"));
  }
  const Result<engine::Newest> counter = view->newest(counter_key);
  if (!counter.ok()) return counter.status();
  std::uint32_t number = kFirstNumber;
  if (counter->value) {
    const Result<std::uint32_t> next = decode_account_counter(*counter->value);
    if (!next.ok()) return next.status();
    number = *next;
  }
  if (number == kAccountNumberEnd) return numbers_used_up("account");

  Result<std::string> raised =
      counter->value ? with_next_account(*counter->value, number + 1) : encode_account_counter(number + 1);
  if (!raised.ok()) return raised.status();
  format::BatchBuilder batch;
  batch.put(row_key, encode_account_row(number));
  batch.put(counter_key, *raised);
  view.reset();  // The view would keep memory for which the commit may wait.
  return commit(batch, *std::move(guard), false);
}

Status Catalog::create_table(const TableName& name) {
  const std::string account_key = account_row_key(name.account);
  const std::string table_key = table_row_key(name.account, name.lower);
  engine_.pace(table_key.size());
  Result<engine::PartitionGuard> guard = lock_rows({account_key, table_key});
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> owner = view->newest(account_key);
  if (!owner.ok()) return owner.status();
  if (!owner->value) return refuse(*std::move(guard), owner->version, no_such_account(name.account));
  const Result<engine::Newest> table = view->newest(table_key);
  if (!table.ok()) return table.status();
  if (table->value) {
    return refuse(*std::move(guard), table->version,
                  service_error::table_already_exists("table " + quoted(name.lower) + " of account " +
                                                      quoted(name.account) + " already exists"));
  }
  const Result<NameRelease::Found> dropped = release_.look(*view, name.account, name.lower);
  if (!dropped.ok()) return dropped.status();
  if (!dropped->status.ok()) return refuse(*std::move(guard), dropped->rests_on, dropped->status);
  const Result<AccountRow> account = decode_account_row(name.account, owner->version, *owner->value);
  if (!account.ok()) return account.status();
  if (account->next_table == kTableNumberEnd) return numbers_used_up("table");

  const Result<std::string> raised = with_next_table(*owner->value, *account, account->next_table + 1);
  if (!raised.ok()) return raised.status();
  format::BatchBuilder batch;
  batch.put(account_key, *raised);
  batch.put(table_key, encode_table_row(name.spelling, format::make_table_id(account->number, account->next_table)));
  NameRelease::forget(batch, *dropped, name.account, name.lower);
  view.reset();
  return commit(batch, *std::move(guard), false);
}

Status Catalog::drop_table(std::string_view account, std::string_view lower_name) {
  const std::string key = table_row_key(account, lower_name);
  Result<engine::PartitionGuard> guard = lock_rows({key});
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> row = view->newest(key);
  if (!row.ok()) return row.status();
  if (!row->value) {
    const Result<NameRelease::Found> dropped = release_.look(*view, account, lower_name);
    if (!dropped.ok()) return dropped.status();
    if (!dropped->status.ok()) return refuse(*std::move(guard), dropped->rests_on, dropped->status);
    return refuse(*std::move(guard), row->version,
                  no_such_table(account, lower_name).with_service_error("ResourceNotFound"));
  }
  const Result<TableRow> table = decode_table_row(account, lower_name, row->version, *row->value);
  if (!table.ok()) return table.status();

  const NameCache::DropMark mark = names_.mark_table_drop(account, lower_name);
  format::BatchBuilder batch;
  batch.remove(key);
  batch.retire_table(table->id);
  release_.note_drop(batch, account, lower_name);
  view.reset();
  return commit(batch, *std::move(guard), true);
}

/// Returns false if an unpublished commit changed the account. In that case the view does not show all of its tables.
Result<bool> Catalog::try_drop_account(std::string_view account) {
  const std::string account_key = account_row_key(account);
  const std::string tables_prefix = table_rows_prefix(account);
  const std::array<std::uint64_t, 2> hashes = {format::partition_hash(format::partition_of(account_key)),
                                               format::partition_hash(tables_prefix)};
  Result<engine::PartitionGuard> guard = engine_.lock_partitions(hashes);
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> row = view->newest(account_key);
  if (!row.ok()) return row.status();
  if (!row->value) return refuse(*std::move(guard), row->version, no_such_account(account));
  if (row->version > view->version()) {
    guard->release();
    if (Status published = engine_.await_published(row->version); !published.ok()) return published;
    return false;
  }
  const Result<AccountRow> owner = decode_account_row(account, row->version, *row->value);
  if (!owner.ok()) return owner.status();

  // A commit that adds a table row also writes the account's row, so the view contains the rows of all tables. If the
  // drop of a row is not published, this deletes the row a second time, which changes nothing.
  const NameCache::DropMark mark = names_.mark_account_drop(account);
  format::BatchBuilder batch;
  {
    engine::Cursor tables = view->cursor(tables_prefix, format::end_of_prefix(tables_prefix));
    for (tables.seek_to_first(); tables.valid(); tables.next()) batch.remove(tables.key());
    if (!tables.status().ok()) return tables.status();
  }
  view.reset();
  batch.remove(account_key);
  batch.retire_account(owner->number);
  if (Status dropped = commit(batch, *std::move(guard), true); !dropped.ok()) return dropped;
  return true;
}

Status Catalog::drop_account(std::string_view account) {
  for (;;) {
    const Result<bool> done = try_drop_account(account);
    if (!done.ok()) return done.status();
    if (*done) return Status();
  }
}

}  // namespace varve
