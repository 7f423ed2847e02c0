// Owns: the mapping of names to ids (catalog.h).
// Must never: wait for the disk while it holds a lock.
#include "api/catalog/catalog.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/catalog/service_property_rows.h"
#include "api/catalog/work_rows.h"
#include "api/commit/commit.h"
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

Status expires_no_owners(std::string_view table) {
  return service_error::invalid_input("table " + quoted(table) +
                                      " has large values, which have owners; its entities cannot expire");
}

Catalog::Catalog(Backend& backend, std::chrono::milliseconds recreation_delay)
    : backend_(backend),
      names_(backend.env().scheduler),
      queue_names_(backend.env().scheduler),
      container_names_(backend.env().scheduler),
      release_(NameRelease::Of::kTables, recreation_delay, backend.env().clock),
      queue_release_(NameRelease::Of::kQueues, recreation_delay, backend.env().clock),
      container_release_(NameRelease::Of::kContainers, recreation_delay, backend.env().clock) {}

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
  engine::ReadView view = backend_.view();
  if (entry.live_id() != before) return std::nullopt;
  return ResolvedTable{std::move(view), before};  // N1, and no drop between
}

Result<ResolvedTable> Catalog::look_up(const TableName& name, NameEntry& entry, TableRules& rules) {
  const std::uint64_t lookup = names_.begin_lookup(entry);
  engine::ReadView view = backend_.view();
  Result<std::optional<TableRow>> row = find_table(view, name.account, name.lower);
  if (!row.ok()) return row.status();
  if (!*row) return no_such_table(name.account, name.spelling);
  if ((*row)->expiry) rules.expiry = std::make_shared<const TableExpiry>(*(*row)->expiry);
  if ((*row)->indexes.shape != 0) rules.indexes = std::make_shared<const TableIndexes>(std::move((*row)->indexes));
  rules.read_at = view.version();
  names_.enter(entry, lookup, (*row)->id, rules);
  return ResolvedTable{std::move(view), (*row)->id};
}

Result<ResolvedTable> Catalog::resolve_newest(const TableName& name, NameEntry& entry) {
  if (std::optional<ResolvedTable> cached = resolve_cached(entry)) return *std::move(cached);
  TableRules rules;
  return look_up(name, entry, rules);
}

std::optional<WriteTarget> Catalog::target_in_cache(const NameEntry& entry) const {
  WriteTarget target{entry.live_id()};
  if (target.id == 0) return std::nullopt;
  if (!entry.has_rules()) return target;
  TableRules rules = names_.rules_of(entry);
  if (rules.expiry != nullptr && !backend_.has_ends()) return std::nullopt;
  if (rules.indexes != nullptr && !backend_.has_indexes()) return std::nullopt;
  // Another table may have taken the name meanwhile. Its rules are not this table's.
  if (entry.live_id() != target.id) return std::nullopt;
  target.expiry = std::move(rules.expiry);
  target.indexes = std::move(rules.indexes);
  return target;
}

Result<WriteTarget> Catalog::resolve_target(const TableName& name, NameEntry& entry) {
  if (std::optional<WriteTarget> cached = target_in_cache(entry)) return *std::move(cached);
  TableRules rules;
  const Result<ResolvedTable> resolved = look_up(name, entry, rules);
  if (!resolved.ok()) return resolved.status();
  // In a repaired store, a rule may have outlived its feature.
  if (rules.expiry != nullptr) {
    if (Status allowed = backend_.allow_ends(); !allowed.ok()) return allowed;
  }
  if (rules.indexes != nullptr) {
    if (Status allowed = backend_.allow_indexes(); !allowed.ok()) return allowed;
  }
  return WriteTarget{resolved->id, std::move(rules.expiry), std::move(rules.indexes)};
}

Result<format::TableId> Catalog::resolve_for_write(const TableName& name, NameEntry& entry) {
  const format::TableId live = entry.live_id();
  if (live != 0) return live;
  const Result<ResolvedTable> resolved = resolve_newest(name, entry);
  if (!resolved.ok()) return resolved.status();
  return resolved->id;
}

Status Catalog::change_row(const std::string& key, const std::function<Status(const engine::ReadView&)>& absent,
                           const std::function<Result<std::string>(const engine::Newest&)>& change) {
  RowChange row_change({key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) return {absent(view), row.version};
    const Result<std::string> changed = change(row);
    if (!changed.ok()) return changed.status();
    batch.put(key, *changed);
    return {};
  });
  row_change.paced_bytes = key.size();
  return commit(backend_, row_change).status();
}

Status Catalog::create_account(std::string_view account) {
  const std::string row_key = account_row_key(account);
  const std::string counter_key = account_counter_key();
  RowChange change(
      {row_key, counter_key}, [&](const auto& /*view*/, auto rows, format::BatchBuilder& batch) -> Refusal {
        const engine::Newest& row = rows[0];
        const engine::Newest& counter = rows[1];
        if (row.value) {
          return {service_error::resource_already_exists("account " + quoted(account) + " already exists"),
                  row.version};
        }
        std::uint32_t number = kFirstNumber;
        if (counter.value) {
          const Result<std::uint32_t> next = decode_account_counter(*counter.value);
          if (!next.ok()) return next.status();
          number = *next;
        }
        if (number == kAccountNumberEnd) return numbers_used_up("account");
        const Result<std::string> raised =
            counter.value ? with_next_account(*counter.value, number + 1) : encode_account_counter(number + 1);
        if (!raised.ok()) return raised.status();
        batch.put(row_key, encode_account_row(number));
        batch.put(counter_key, *raised);
        return {};
      });
  change.paced_bytes = row_key.size();
  change.request.durability = backend_.default_durability();
  return commit(backend_, change).status();
}

Result<DrawnNumber> draw_table_number(std::string_view account, const engine::Newest& account_row,
                                      std::uint32_t count) {
  const Result<AccountRow> row = decode_account_row(account, account_row.version, *account_row.value);
  if (!row.ok()) return row.status();
  if (kTableNumberEnd - row->next_table < count) return numbers_used_up("table");
  Result<std::string> raised = with_next_table(*account_row.value, *row, row->next_table + count);
  if (!raised.ok()) return raised.status();
  return DrawnNumber{format::make_table_id(row->number, row->next_table), *std::move(raised)};
}

Result<DrawnNumber> draw_number_for_large_values(std::string_view account, const engine::Newest& account_row) {
  Result<DrawnNumber> drawn = draw_table_number(account, account_row);
  if (!drawn.ok()) return drawn;
  if (static_cast<std::uint32_t>(drawn->id) >= kLargeValueTablesMax) return numbers_used_up("table");
  drawn->id = with_large_values(drawn->id);
  return drawn;
}

/// Lets entities of the store end, unless the table cannot be created anyway: older builds refuse such a store.
Status Catalog::allow_ends_for(const TableName& name) {
  const engine::ReadView view = backend_.view();
  const Result<std::optional<AccountRow>> owner = find_account(view, name.account);
  if (!owner.ok()) return owner.status();
  const Result<std::optional<TableRow>> row = find_table(view, name.account, name.lower);
  if (!row.ok()) return row.status();
  const Result<NameRelease::Found> dropped = release_.look(view, name.account, name.lower);
  if (!dropped.ok()) return dropped.status();
  return *owner && !*row && dropped->status.ok() ? backend_.allow_ends() : Status();
}

Status Catalog::create_table(const TableName& name, const TableOptions& options) {
  if (options.expiry) {
    if (Status allowed = allow_ends_for(name); !allowed.ok()) return allowed;
  }
  const std::string account_key = account_row_key(name.account);
  const std::string table_key = table_row_key(name.account, name.lower);
  RowChange change({account_key, table_key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& owner = rows[0];
    const engine::Newest& table = rows[1];
    if (!owner.value) return {no_such_account(name.account), owner.version};
    if (table.value) {
      return {service_error::table_already_exists("table " + quoted(name.lower) + " of account " +
                                                  quoted(name.account) + " already exists"),
              table.version};
    }
    const Result<NameRelease::Found> dropped = release_.look(view, name.account, name.lower);
    if (!dropped.ok()) return dropped.status();
    if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
    const Result<DrawnNumber> number = options.has_large_values ? draw_number_for_large_values(name.account, owner)
                                                                : draw_table_number(name.account, owner);
    if (!number.ok()) return number.status();
    batch.put(account_key, number->account_row);
    batch.put(table_key, encode_table_row(name.spelling, number->id, options.expiry));
    release_.forget(batch, *dropped, name.account, name.lower);
    return {};
  });
  change.paced_bytes = table_key.size();
  change.request.durability = backend_.default_durability();
  return commit(backend_, change).status();
}

Status Catalog::commit_drop(RowChange& change) {
  change.request.durability = Durability::kSync;
  change.request.frees_space = true;
  return commit(backend_, change).status();
}

Result<format::TableId> Catalog::drop_table(std::string_view account, std::string_view lower_name) {
  format::TableId id = 0;
  const std::string key = table_row_key(account, lower_name);
  RowChange change({key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) {
      const Result<NameRelease::Found> dropped = release_.look(view, account, lower_name);
      if (!dropped.ok()) return dropped.status();
      if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
      return {no_such_table(account, lower_name).with_service_error("ResourceNotFound"), row.version};
    }
    const Result<TableRow> table = decode_table_row(account, lower_name, row.version, *row.value);
    if (!table.ok()) return table.status();
    id = table->id;
    batch.remove(key);
    batch.retire_table(table_fence_of(id));
    for (const TableIndex& index : table->indexes.all) {
      if (index.is_maintained()) batch.retire_table(index.id);
    }
    if (has_large_values(id)) batch.put(work_key({WorkKind::kTable, id, table_fence_of(id)}), encode_work());
    release_.note_drop(batch, account, lower_name);
    return {};
  });
  const NameCache::DropMark mark = names_.mark_table_drop(account, lower_name);
  if (Status dropped = commit_drop(change); !dropped.ok()) return dropped;
  return id;
}

Result<std::uint32_t> Catalog::drop_account(std::string_view account) {
  std::uint32_t number = 0;
  const std::string account_key = account_row_key(account);
  const std::array<std::string, 3> prefixes{table_rows_prefix(account), queue_rows_prefix(account),
                                            container_rows_prefix(account)};
  const std::array<std::string, 2> service_keys{service_properties_key(account, StorageService::kQueues),
                                                service_properties_key(account, StorageService::kBlobs)};
  const NameCache::DropMark mark = names_.mark_account_drop(account);
  const NameCache::DropMark queues_mark = queue_names_.mark_account_drop(account);
  const NameCache::DropMark containers_mark = container_names_.mark_account_drop(account);
  for (;;) {
    bool is_unpublished = false;
    RowChange change(
        {account_key, service_keys[0], service_keys[1]},
        [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
          const engine::Newest& row = rows[0];
          if (!row.value) return {no_such_account(account), row.version};
          // A commit that adds a row of a table, queue or container also writes the account's row. So if this row is
          // published, the view has all those rows. If the drop of a row is not published, this deletes the row a
          // second time, which changes nothing.
          is_unpublished = row.version > view.version();
          if (is_unpublished) return {Status(Code::kConflict, "the account was changed meanwhile"), row.version};
          const Result<AccountRow> owner = decode_account_row(account, row.version, *row.value);
          if (!owner.ok()) return owner.status();
          for (const std::string& prefix : prefixes) {
            engine::Cursor rows_of_names = view.cursor(prefix, format::end_of_prefix(prefix));
            for (rows_of_names.seek_to_first(); rows_of_names.valid(); rows_of_names.next()) {
              batch.remove(rows_of_names.key());
            }
            if (!rows_of_names.status().ok()) return rows_of_names.status();
          }
          for (std::size_t i = 0; i < service_keys.size(); ++i) {
            if (rows[i + 1].value) batch.remove(service_keys[i]);
          }
          batch.remove(account_key);
          batch.retire_account(owner->number);
          number = owner->number;
          return {};
        });
    for (const std::string& prefix : prefixes) change.lock(prefix);
    const Status dropped = commit_drop(change);
    if (dropped.ok()) return number;
    if (!is_unpublished || dropped.code() != Code::kConflict) return dropped;
  }
}

}  // namespace varve
