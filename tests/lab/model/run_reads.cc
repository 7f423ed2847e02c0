// Owns: the reads of a run (run.h): by key, by range, by filter, page by page, at snapshots, and of the whole store.
// Must never: change the store.
#include <algorithm>

#include "api/core/store_core.h"
#include "tests/api/filter/slow_filter.h"
#include "tests/lab/model/run.h"

namespace varve::lab {
namespace {

constexpr std::uint32_t kBackward = 1;
constexpr std::uint32_t kSelects = 2;
constexpr std::uint32_t kFewBytes = 4;
constexpr std::uint32_t kPagesMax = 100'000;  // more than any list has keys; a scan with more pages is in a loop

std::optional<test::SlowFilter> filter_of(std::uint32_t number) {
  if (number == 0) return std::nullopt;
  test::RandomEngine random(number);
  return test::random_filter(random, 3);
}

/// Returns the name under which a handle is kept.
std::string handle_name(const std::string& account, const std::string& lower) {
  std::string name = account;
  return name.append("/").append(lower);
}

/// Returns the entity with only the selected properties.
Entity selected(const Entity& entity) {
  Entity out(entity.partition_key(), entity.row_key());
  for (const std::string& name : selection()) {
    if (const Value* const value = entity.find(name)) out.add(name, *value);
  }
  out.set_etag(entity.etag());
  return out;
}

}  // namespace

void Run::compare_entity(const Entity& found, const Entity& expected, const char* where) {
  count("entities compared");
  if (same_entity(found, expected)) return;
  broken(std::string(where) + ": an entity differs: expected " + entity_text(expected) + ", found " +
         entity_text(found));
}

void Run::get(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  if (!table || failed()) return;
  const KeyText& partition = key_of(numbers[1]);
  const KeyText& row = key_of(numbers[2]);
  const Result<std::optional<Entity>> found = table->get({partition.text, row.text});
  answer(found.status());
  if (partition.problem == KeyProblem::kForbidden || row.problem == KeyProblem::kForbidden) {
    if (found.code() != Code::kInvalidArgument) broken("a read: of a forbidden key: " + found.status().to_string());
    return;
  }
  const TablePointer rows = table_now(name);
  if (rows == nullptr) {
    if (found.status().service_error() != "TableNotFound") broken("a read: of no table: " + found.status().to_string());
    return;
  }
  if (!found.ok()) return broken("a read: " + found.status().to_string());
  const Entity* const expected = rows->find(partition.text, row.text);
  if (found->has_value() != (expected != nullptr)) return broken("a read: an entity's being there differs");
  if (expected == nullptr) return;
  compare_entity(**found, *expected, "a read");
  answer(**found);
}

void Run::get_many(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  const TablePointer rows = table_now(name);
  if (!table || rows == nullptr || failed()) return;
  io::SeededRandom random(numbers[1]);
  std::vector<EntityKey> keys;
  for (std::uint32_t i = 0; i < numbers[2] % 40; ++i) {
    const auto draw = [&random] {
      return key_of(static_cast<std::uint32_t>(io::random_below(random, kLegalKeys + 1))).text;
    };
    std::string partition = draw();
    keys.push_back({std::move(partition), draw()});
  }
  const Result<std::vector<std::optional<Entity>>> found = table->get_many(keys);
  if (!found.ok()) return broken("a read of many: " + found.status().to_string());
  if (found->size() != keys.size()) return broken("a read of many: not one answer a key");
  for (std::size_t i = 0; i < keys.size() && !failed(); ++i) {
    const Entity* const expected = rows->find(keys[i].partition_key, keys[i].row_key);
    const std::optional<Entity>& entity = (*found)[i];
    if (entity.has_value() != (expected != nullptr)) return broken("a read of many: an entity's being there differs");
    if (expected == nullptr) continue;
    compare_entity(*entity, *expected, "a read of many");
    answer(*entity);
  }
}

void Run::compare_scan(TableVerbs& table, Scan scan, const std::vector<RowPointer>& expected, const char* where) {
  if (profile_.single_entity_pages) scan.page_entities_max = 1;
  std::size_t at = 0;
  for (std::uint32_t pages = 0;; ++pages) {
    const Result<Page> page = table.scan(scan);
    if (!page.ok()) return broken(std::string(where) + ": " + page.status().to_string());
    if (page->entities.size() > scan.page_entities_max) return broken(std::string(where) + ": a page is too large");
    for (const Entity& entity : page->entities) {
      if (at == expected.size()) return broken(std::string(where) + ": one entity too many: " + entity_text(entity));
      const Entity& wanted = expected[at++]->entity;
      compare_entity(entity, scan.read.select.empty() ? wanted : selected(wanted), where);
      if (failed()) return;
      answer(entity);
    }
    count("pages");
    if (page->cost.entities_examined < page->entities.size()) count("pages that entries answered");
    if (!page->continuation) break;
    if (pages > kPagesMax) return broken(std::string(where) + ": the pages do not end");
    scan.continuation = *page->continuation;
  }
  if (at < expected.size()) broken(std::string(where) + ": missing: " + entity_text(expected[at]->entity));
}

void Run::scan(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  const TablePointer rows = table_now(name);
  if (!table || rows == nullptr || failed()) return;
  const std::optional<test::SlowFilter> filter = filter_of(numbers[2]);
  Scan wanted;
  wanted.range = range_of(numbers[1]);
  if (filter) wanted.filter = filter->text();
  if (numbers[3] != 0) wanted.page_entities_max = numbers[3] % 20 + 1;
  if (numbers[4] != 0) wanted.take = numbers[4] % 30;
  wanted.backward = (numbers[5] & kBackward) != 0;
  if ((numbers[5] & kSelects) != 0) wanted.read.select = selection();
  if ((numbers[5] & kFewBytes) != 0) wanted.page_bytes_max = 300;
  std::vector<RowPointer> expected =
      rows_in(*rows, wanted.range, [&filter](const Entity& entity) { return !filter || filter->matches(entity); });
  if (wanted.backward) std::reverse(expected.begin(), expected.end());
  if (wanted.take && expected.size() > *wanted.take) expected.resize(*wanted.take);
  compare_scan(*table, std::move(wanted), expected, "a scan");
  count("scans");
}

void Run::count_entities(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  const TablePointer rows = table_now(name);
  if (!table || rows == nullptr || failed()) return;
  const std::optional<test::SlowFilter> filter = filter_of(numbers[2]);
  Scan wanted;
  wanted.range = range_of(numbers[1]);
  if (filter) wanted.filter = filter->text();
  const std::size_t expected = rows_in(*rows, wanted.range, [&filter](const Entity& entity) {
                                 return !filter || filter->matches(entity);
                               }).size();
  std::uint64_t counted = 0;
  for (;;) {
    const Result<Count> part = table->count(wanted);
    if (!part.ok()) return broken("a count: " + part.status().to_string());
    counted += part->entities;
    if (!part->continuation) break;
    wanted.continuation = *part->continuation;
  }
  if (counted != expected) broken("a count: " + std::to_string(counted) + " in place of " + std::to_string(expected));
  answer(std::to_string(counted));
  count("counts");
}

void Run::begin_walk(const Numbers& numbers) {
  walk_ = Walk();
  walk_->table = numbers[0];
  walk_->scan.range = range_of(numbers[1]);
  walk_->scan.page_entities_max = numbers[2] % 10 + 1;
  walk_->scan.backward = numbers[3] % 2 == 1;
  continue_walk();
}

/// Reads the next page of a walk. The token names the next entity as of the last page. So a change after that place is
/// seen, and a change before it is not. If pages are short, the token names a place between the last entity and the
/// next one. Entities inserted there may be seen.
void Run::continue_walk() {
  if (!walk_) return;
  const TableName name = table_name(walk_->table);
  std::optional<TableVerbs> table = verbs(name);
  const TablePointer rows = table_now(name);
  if (!table || rows == nullptr || failed()) return walk_.reset();
  std::vector<RowPointer> expected = rows_in(*rows, walk_->scan.range, {});
  if (walk_->scan.backward) std::reverse(expected.begin(), expected.end());
  const auto is_before = [this](const RowPointer& row, const std::optional<Units>& place) {
    return place && (walk_->scan.backward ? row->units > *place : row->units < *place);
  };
  auto at = expected.begin();
  while (at != expected.end() && is_before(*at, profile_.short_pages ? walk_->last : walk_->next)) ++at;
  if (profile_.short_pages && at != expected.end() && walk_->last == (*at)->units) ++at;
  const bool anywhere = profile_.short_pages && !walk_->next && !walk_->scan.continuation.empty();
  const auto may_be_missed = [&](const RowPointer& row) { return anywhere || is_before(row, walk_->next); };
  const Result<Page> page = table->scan(walk_->scan);
  if (!page.ok()) return broken("a walk: " + page.status().to_string());
  for (const Entity& entity : page->entities) {
    const Units units{code_units(entity.partition_key()), code_units(entity.row_key())};
    while (at != expected.end() && (*at)->units != units && may_be_missed(*at)) ++at;
    if (at == expected.end()) return broken("a walk: an entity too many: " + entity_text(entity));
    compare_entity(entity, (*at)->entity, "a walk");
    walk_->last = (*at++)->units;
  }
  count("pages of walks");
  while (!page->continuation && at != expected.end() && may_be_missed(*at)) ++at;
  if (!page->continuation && at != expected.end()) return broken("a walk: missing: " + entity_text((*at)->entity));
  if (!page->continuation) return walk_.reset();
  if (at == expected.end() && !profile_.short_pages) return broken("a walk: a token, and nothing left");
  walk_->scan.continuation = *page->continuation;
  while (at != expected.end() && may_be_missed(*at)) ++at;
  walk_->next.reset();
  if (at != expected.end()) walk_->next = (*at)->units;
}

void Run::take_snapshot(std::uint32_t slot) {
  const Result<Snapshot> snapshot = store_->snapshot();
  if (!snapshot.ok()) return broken("a snapshot: " + snapshot.status().to_string());
  Held held{*snapshot, living(*state_, StoreCore::time_of(*snapshot)), {}};
  for (const auto& [account, tables] : state_->accounts) {
    for (const auto& [lower, table] : tables) {
      const Result<Table> opened = store_->open_table(account, lower);
      if (!opened.ok()) return broken("a table is not there: " + opened.status().to_string());
      held.tables.emplace(handle_name(account, lower), *opened);
    }
  }
  held_[slot % kSlots] = std::move(held);
  count("snapshots taken");
}

void Run::read_snapshot(std::uint32_t slot) {
  const std::optional<Held>& held = held_[slot % kSlots];
  if (!held) return;
  Scan scan;
  scan.read.snapshot = held->snapshot;
  for (const auto& [account, tables] : held->state->accounts) {
    for (const auto& [lower, table] : tables) {
      TableVerbs handle(held->tables.at(handle_name(account, lower)), machine_->scheduler(), profile_.asynchronous);
      compare_scan(handle, scan, table->rows, "a snapshot");
      if (failed()) return;
    }
  }
  count("snapshots read");
  if (held->snapshot.version().ticks != version_) count("snapshots read later");
}

void Run::compare_tables(Store& store, const State& state, const std::string& account, const char* where) {
  const auto& tables = state.accounts.at(account);
  const Result<TablePage> page = store.list_tables(account);
  if (!page.ok()) return broken(std::string(where) + ": tables: " + page.status().to_string());
  if (page->tables.size() != tables.size()) return broken(std::string(where) + ": the number of tables differs");
  auto found = page->tables.begin();
  for (const auto& [lower, table] : tables) {
    if (found->name != table->spelling) return broken(std::string(where) + ": a table's name differs: " + found->name);
    ++found;
    const Result<Table> opened = store.open_table(account, lower);
    if (!opened.ok()) return broken(std::string(where) + ": " + opened.status().to_string());
    TableVerbs handle(*opened, machine_->scheduler(), false);
    compare_scan(handle, Scan(), table->rows, where);
    if (failed()) return;
    const Result<std::vector<AccessPolicy>> policies = opened->access_policies();
    if (!policies.ok() || *policies != table->policies) return broken(std::string(where) + ": the policies differ");
    compare_indexes(store, *table, {account, lower, lower}, where);
  }
}

void Run::compare_store(Store& store, const State& versions, const char* where) {
  const Result<Snapshot> snapshot = store.snapshot();
  if (!snapshot.ok()) return broken(std::string(where) + ": a snapshot: " + snapshot.status().to_string());
  const StatePointer shown = living(versions, StoreCore::time_of(*snapshot));
  const State& state = *shown;
  const Result<AccountPage> page = store.list_accounts();
  if (!page.ok()) return broken(std::string(where) + ": accounts: " + page.status().to_string());
  if (page->accounts.size() != state.accounts.size()) {
    return broken(std::string(where) + ": the number of accounts differs");
  }
  auto found = page->accounts.begin();
  for (const auto& [account, tables] : state.accounts) {
    if (found->name != account) return broken(std::string(where) + ": an account's name differs: " + found->name);
    ++found;
    compare_tables(store, state, account, where);
    if (failed()) return;
  }
  const Result<std::optional<std::string>> tag = store.last_tag();
  if (!tag.ok() || *tag != state.tag) broken(std::string(where) + ": the last tag differs");
  count("stores compared");
}

}  // namespace varve::lab
