#include "tests/lab/kill/operations.h"

#include "varve/loader.h"

namespace varve::lab {

namespace {

constexpr int kRowsEach = 3;
constexpr int kSlots = 12;
constexpr int kLoadedRows = 60;
constexpr std::string_view kTableWord = "Own";

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

/// Returns the kind of operation. The three steps of a table follow one another, so that each thread has at most one
/// table.
KillVerb verb_of(std::uint64_t number, std::uint64_t chance) {
  constexpr std::uint64_t kTableEvery = 20;
  switch (number % kTableEvery) {
    case 11: return number / kTableEvery % 3 == 2 ? KillVerb::kLoadTable : KillVerb::kMakeTable;
    case 13: return number / kTableEvery % 3 == 2 ? KillVerb::kGroup : KillVerb::kFillTable;
    case 17: return KillVerb::kDropTable;
    default: break;
  }
  switch (chance % 8) {
    case 0: return KillVerb::kRemove;
    case 1: return KillVerb::kTransaction;
    default: return KillVerb::kGroup;
  }
}

/// Returns one of two alternating names, so that the name of a dropped table is reused.
std::string table_of(const KillOperation& operation) {
  return std::string(kTableWord) + std::to_string(operation.thread) + "x" + std::to_string(operation.number / 20 % 2);
}

std::string partition_of(std::uint32_t thread, bool second) {
  return "t" + std::to_string(thread) + (second ? "b" : "a");
}

struct WrittenRow {
  std::string partition;
  std::string row;
  std::string value;
};

std::string value_of(const KillOperation& operation, int row) {
  std::string value = std::to_string(operation.number) + "." + std::to_string(row) + " ";
  std::uint64_t state = operation.chance;
  const std::uint64_t bytes = state % 5 == 0 ? state / 5 % 3000 : 20;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    state = mixed(state + i);
    value.push_back(static_cast<char>('!' + state % 90));
  }
  return value;
}

/// Returns the rows that a group or a transaction writes or removes.
std::vector<WrittenRow> rows_of(const KillOperation& operation) {
  std::vector<WrittenRow> rows;
  const std::string slot = std::to_string(operation.chance / 8 % kSlots);
  for (int row = 0; row < kRowsEach; ++row) {
    const bool second = operation.verb == KillVerb::kTransaction ? row == 1 : operation.chance / 97 % 2 == 1;
    rows.push_back(
        {partition_of(operation.thread, second), "slot" + slot + "." + std::to_string(row), value_of(operation, row)});
  }
  return rows;
}

/// Returns the rows of the thread's own table after it is filled or loaded.
std::vector<WrittenRow> table_rows_of(const KillOperation& operation) {
  std::vector<WrittenRow> rows;
  const int count = operation.verb == KillVerb::kLoadTable ? kLoadedRows : kRowsEach;
  for (int row = 0; row < count; ++row) {
    const std::string name = std::to_string(100 + row);
    rows.push_back({"own", name, value_of(operation, row)});
  }
  return rows;
}

Entity entity_of(const WrittenRow& row) {
  return Entity(row.partition, row.row).set("V", row.value);
}

Result<std::uint64_t> version_of(const Result<std::vector<ETag>>& etags) {
  if (!etags.ok()) return etags.status();
  for (const ETag& etag : *etags) {
    if (!etag.is_none()) return etag.timestamp().ticks;
  }
  return std::uint64_t{0};
}

Result<std::uint64_t> write_group(Table& table, const std::vector<WrittenRow>& rows, const WriteOptions& options) {
  EntityGroupTransaction transaction;
  for (const WrittenRow& row : rows) transaction.insert_or_replace(entity_of(row));
  return version_of(table.execute(transaction, options));
}

Result<std::uint64_t> remove_group(Table& table, const KillOperation& operation, const ThreadState& state,
                                   const WriteOptions& options) {
  EntityGroupTransaction transaction;
  for (const WrittenRow& row : rows_of(operation)) {
    if (state.rows.contains(row.partition + "/" + row.row)) transaction.remove(row.partition, row.row, ETag::any());
  }
  if (transaction.empty()) return std::uint64_t{0};
  return version_of(table.execute(transaction, options));
}

Result<std::uint64_t> transact(Store& store, const Table& table, const KillOperation& operation,
                               const WriteOptions& options) {
  return version_of(store.transact(
      [&](StoreTransaction& transaction) {
        for (const WrittenRow& row : rows_of(operation)) {
          const auto found = transaction.get(table, row.partition, row.row);
          if (!found.ok()) return found.status();
          transaction.insert_or_replace(table, entity_of(row));
        }
        return Status();
      },
      options));
}

Result<std::uint64_t> load(Store& store, const KillOperation& operation) {
  Result<Loader> loader = store.load_table(kKillAccount, table_of(operation));
  if (!loader.ok()) return loader.status();
  for (const WrittenRow& row : table_rows_of(operation)) {
    if (Status added = loader->add(entity_of(row)); !added.ok()) return added;
  }
  const Result<ETag> finished = loader->finish();
  if (!finished.ok()) return finished.status();
  return finished->timestamp().ticks;
}

Status scan_rows(const Store& store, std::string_view name, std::map<std::string, std::string>& rows) {
  const Result<Table> table = store.open_table(kKillAccount, name);
  if (!table.ok()) return table.status();
  Scan scan;
  for (;;) {
    const Result<Page> page = table->scan(scan);
    if (!page.ok()) return page.status();
    for (const Entity& entity : page->entities) {
      const Value* const value = entity.find("V");
      const std::string* const text = value == nullptr ? nullptr : value->get_if<std::string>();
      rows[entity.partition_key() + "/" + entity.row_key()] = text == nullptr ? "(not a text)" : *text;
    }
    if (!page->continuation) return Status();
    scan.continuation = *page->continuation;
  }
}

std::string difference(const std::map<std::string, std::string>& expected,
                       const std::map<std::string, std::string>& found) {
  for (const auto& [key, value] : expected) {
    const auto at = found.find(key);
    if (at == found.end()) return key + " is not there, of " + value.substr(0, 20);
    if (at->second != value) return key + " is " + at->second.substr(0, 20) + ", not " + value.substr(0, 20);
  }
  for (const auto& [key, value] : found) {
    if (!expected.contains(key)) return key + " is there, with " + value.substr(0, 20);
  }
  return std::string();
}

}  // namespace

KillOperation operation_of(std::uint64_t seed, std::uint32_t thread, std::uint64_t number) {
  KillOperation operation;
  operation.thread = thread;
  operation.number = number;
  operation.chance = mixed(mixed(seed ^ (std::uint64_t{thread} << 32)) + number);
  operation.verb = verb_of(number, operation.chance);
  operation.durability = operation.chance / 1009 % 2 == 0 ? Durability::kSync : Durability::kBuffered;
  return operation;
}

void apply(const KillOperation& operation, ThreadState& state) {
  switch (operation.verb) {
    case KillVerb::kGroup:
    case KillVerb::kTransaction:
      for (const WrittenRow& row : rows_of(operation)) state.rows[row.partition + "/" + row.row] = row.value;
      return;
    case KillVerb::kRemove:
      for (const WrittenRow& row : rows_of(operation)) state.rows.erase(row.partition + "/" + row.row);
      return;
    case KillVerb::kMakeTable: state.tables[table_of(operation)]; return;
    case KillVerb::kFillTable:
    case KillVerb::kLoadTable:
      for (const WrittenRow& row : table_rows_of(operation)) {
        state.tables[table_of(operation)][row.partition + "/" + row.row] = row.value;
      }
      return;
    case KillVerb::kDropTable: state.tables.erase(table_of(operation)); return;
  }
}

Result<std::uint64_t> perform(Store& store, const KillOperation& operation, const ThreadState& state) {
  WriteOptions options;
  options.durability = operation.durability;
  if (operation.verb == KillVerb::kLoadTable) return load(store, operation);
  if (operation.verb == KillVerb::kMakeTable) {
    const Result<Table> made = store.create_table(kKillAccount, table_of(operation));
    if (!made.ok()) return made.status();
    return std::uint64_t{0};
  }
  if (operation.verb == KillVerb::kDropTable) {
    if (Status dropped = store.drop_table(kKillAccount, table_of(operation)); !dropped.ok()) return dropped;
    return std::uint64_t{0};
  }
  const bool is_own = operation.verb == KillVerb::kFillTable;
  Result<Table> table = store.open_table(kKillAccount, is_own ? table_of(operation) : std::string(kSharedTable));
  if (!table.ok()) return table.status();
  if (is_own) return write_group(*table, table_rows_of(operation), options);
  if (operation.verb == KillVerb::kRemove) return remove_group(*table, operation, state, options);
  if (operation.verb == KillVerb::kTransaction) return transact(store, *table, operation, options);
  return write_group(*table, rows_of(operation), options);
}

Result<std::vector<ThreadState>> read_states(const Store& store) {
  std::vector<ThreadState> states(kKillThreads);
  std::map<std::string, std::string> all;
  if (Status scanned = scan_rows(store, kSharedTable, all); !scanned.ok()) return scanned;
  const auto thread_in = [](std::string_view text) { return static_cast<std::uint32_t>(text.front() - '0'); };
  for (auto& [key, value] : all) states.at(thread_in(key.substr(1))).rows[key] = std::move(value);
  ListOptions options;
  for (;;) {
    const Result<TablePage> page = store.list_tables(kKillAccount, options);
    if (!page.ok()) return page.status();
    for (const TableInfo& table : page->tables) {
      if (table.name == kSharedTable) continue;
      auto& rows = states.at(thread_in(table.name.substr(kTableWord.size()))).tables[table.name];
      if (Status scanned = scan_rows(store, table.name, rows); !scanned.ok()) return scanned;
    }
    if (!page->continuation) return states;
    options.continuation = *page->continuation;
  }
}

std::string difference(const ThreadState& expected, const ThreadState& found) {
  if (std::string rows = difference(expected.rows, found.rows); !rows.empty()) return rows;
  for (const auto& [name, rows] : expected.tables) {
    const auto at = found.tables.find(name);
    if (at == found.tables.end()) return "table " + name + " is not there";
    if (std::string one = difference(rows, at->second); !one.empty()) return "table " + name + ": " + one;
  }
  for (const auto& [name, rows] : found.tables) {
    if (!expected.tables.contains(name)) return "table " + name + " is there";
  }
  return std::string();
}

}  // namespace varve::lab
