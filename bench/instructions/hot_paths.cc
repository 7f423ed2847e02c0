#include "bench/instructions/hot_paths.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/instructions/queue_paths.h"
#include "bench/instructions/set_edits.h"
#include "bench/varve_bench/entities.h"
#include "varve/store.h"
#include "varve/view_page.h"

namespace varve::bench {

namespace {

using Counted = std::function<void(const std::function<void()>&)>;

constexpr std::string_view kAccount = "account1";
constexpr std::uint64_t kEntities = 20'000;  // 200 partitions of a hundred
constexpr std::uint64_t kTransactionEntities = 100;

using Setting = HotPath::Setting;

class Machine {
 public:
  explicit Machine(const std::string& directory) {
    const Result<std::shared_ptr<Resources>> resources =
        Resources::create({.write_buffer_bytes = 64 << 20, .block_cache_bytes = 64 << 20});
    StoreOptions options;
    options.create_if_absent = true;
    options.resources = *resources;
    store_ = *Store::open(directory, options);
    is_ready_ = store_->create_account(kAccount).ok();
    table_ = std::make_unique<Table>(*store_->create_table(kAccount, "Orders"));
  }

  Store& store() { return *store_; }
  Table& table() { return *table_; }
  bool is_ready() const noexcept { return is_ready_; }

  /// Writes entities 0 to kEntities, in one batch per partition. The values depend on `generation`.
  void fill(std::uint64_t generation = 0) {
    WriteOptions buffered;
    buffered.durability = Durability::kBuffered;
    for (std::uint64_t first = 0; first < kEntities; first += kEntitiesOfPartition) {
      EntityGroupTransaction batch;
      for (std::uint64_t n = first; n < first + kEntitiesOfPartition; ++n) {
        batch.add({WriteOperation::Kind::kInsertOrReplace, entity(n, generation), ETag::any()});
      }
      is_ready_ = table_->execute(batch, buffered).ok() && is_ready_;
    }
  }
  void compact() { is_ready_ = store_->compact().ok() && is_ready_; }

  static Entity entity(std::uint64_t n, std::uint64_t generation = 0) {
    const Keys keys = keys_of(n);
    Entity entity(keys.partition, keys.row);
    entity.set("Payload", std::string(payload_of(n + generation)));
    entity.set("LastName", std::string(n % 1000 == 0 ? "Smith" : "Smithson"));
    entity.set("Age", static_cast<std::int32_t>(n % 90));
    return entity;
  }

 private:
  std::unique_ptr<Store> store_;
  std::unique_ptr<Table> table_;
  bool is_ready_ = false;
};

bool put(const Setting& setting, const Counted& counted, Durability durability) {
  Machine machine(setting.directory);
  machine.fill();
  WriteOptions options;
  options.durability = durability;
  bool is_well = machine.is_ready();
  std::vector<Entity> entities;
  for (std::uint64_t i = 0; i < setting.operations; ++i) entities.push_back(Machine::entity(shuffled(i, kEntities), 1));
  counted([&] {
    for (const Entity& entity : entities) is_well = machine.table().insert_or_replace(entity, options).ok() && is_well;
  });
  return is_well;
}

bool put_durable(const Setting& setting, const Counted& counted) {
  return put(setting, counted, Durability::kSync);
}
bool put_buffered(const Setting& setting, const Counted& counted) {
  return put(setting, counted, Durability::kBuffered);
}

bool transaction_by_etags(const Setting& setting, const Counted& counted) {
  Machine machine(setting.directory);
  machine.fill();
  machine.compact();
  bool is_well = machine.is_ready();
  std::vector<EntityGroupTransaction> transactions(setting.operations);
  for (std::uint64_t i = 0; i < setting.operations; ++i) {
    for (std::uint64_t n = i * kTransactionEntities; n < (i + 1) * kTransactionEntities; ++n) {
      const Keys keys = keys_of(n);
      const auto before = machine.table().get(keys.partition, keys.row);
      is_well = before.ok() && before->has_value() && is_well;
      if (!is_well) return false;
      transactions[i].add({WriteOperation::Kind::kReplace, Machine::entity(n, 1), (*before)->etag()});
    }
  }
  counted([&] {
    for (const EntityGroupTransaction& transaction : transactions) {
      is_well = machine.table().execute(transaction).ok() && is_well;
    }
  });
  return is_well;
}

/// Each transaction inserts a partition of new entities, between those of the table or after them.
bool transaction_of_inserts(const Setting& setting, const Counted& counted, bool is_between) {
  Machine machine(setting.directory);
  machine.fill();
  machine.compact();
  std::vector<EntityGroupTransaction> transactions(setting.operations);
  for (std::uint64_t i = 0; i < setting.operations; ++i) {
    const std::string partition = partition_key(is_between ? i : kEntities / kEntitiesOfPartition + i) + "n";
    for (std::uint64_t n = 0; n < kTransactionEntities; ++n) {
      Entity entity(partition, keys_of(n).row);
      entity.set("Payload", std::string(payload_of(i * kTransactionEntities + n)));
      transactions[i].add({WriteOperation::Kind::kInsert, std::move(entity), ETag::any()});
    }
  }
  bool is_well = machine.is_ready();
  counted([&] {
    for (const EntityGroupTransaction& transaction : transactions) {
      is_well = machine.table().execute(transaction).ok() && is_well;
    }
  });
  return is_well;
}

bool inserts_between(const Setting& setting, const Counted& counted) {
  return transaction_of_inserts(setting, counted, true);
}
bool inserts_after(const Setting& setting, const Counted& counted) {
  return transaction_of_inserts(setting, counted, false);
}

/// Calls `read(table, i)` for the given number of reads: once to fill the cache, and then counted. `read` returns
/// whether it succeeded.
template <typename Read>
bool count_reads(const Setting& setting, const Counted& counted, std::uint64_t reads, const Read& read) {
  Machine machine(setting.directory);
  machine.fill();
  machine.compact();
  bool is_well = machine.is_ready();
  const auto all = [&] {
    for (std::uint64_t i = 0; i < reads; ++i) is_well = read(machine.table(), i) && is_well;
  };
  all();
  counted(all);
  return is_well;
}

bool cached_get(const Setting& setting, const Counted& counted) {
  return count_reads(setting, counted, setting.operations, [](const Table& table, std::uint64_t i) {
    const Keys keys = keys_of(shuffled(i, kEntities));
    const auto entity = table.get(keys.partition, keys.row);
    return entity.ok() && entity->has_value();
  });
}

/// Each entity of the table has an end, a thousand years away.
bool cached_get_of_ending(const Setting& setting, const Counted& counted) {
  Machine machine(setting.directory);
  constexpr std::string_view kTable = "Ending";
  const Result<DateTime> end = DateTime::parse("2999-01-01T00:00:00Z");
  Result<Table> table = machine.store().create_table(kAccount, kTable, {.expiry = TableExpiry::at("KeepUntil")});
  if (!end.ok() || !table.ok()) return false;
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  bool is_well = true;
  for (std::uint64_t n = 0; n < kEntities; ++n) {
    Entity entity = Machine::entity(n);
    entity.set("KeepUntil", *end);
    is_well = table->insert(entity, buffered).ok() && is_well;
  }
  machine.compact();
  const auto all = [&] {
    for (std::uint64_t i = 0; i < setting.operations; ++i) {
      const Keys keys = keys_of(shuffled(i, kEntities));
      const auto entity = table->get(keys.partition, keys.row);
      is_well = entity.ok() && entity->has_value() && is_well;
    }
  };
  all();
  counted(all);
  return is_well && machine.is_ready();
}

/// Each batch has keys of many partitions.
bool cached_get_many(const Setting& setting, const Counted& counted) {
  constexpr std::uint64_t kBatchKeys = 64;
  const std::uint64_t batches = setting.operations / kBatchKeys;
  return count_reads(setting, counted, batches, [](const Table& table, std::uint64_t batch) {
    std::vector<EntityKey> keys;
    for (std::uint64_t i = 0; i < kBatchKeys; ++i) {
      Keys next = keys_of(shuffled(batch * kBatchKeys + i, kEntities));
      keys.push_back({std::move(next.partition), std::move(next.row)});
    }
    const auto found = table.get_many(keys);
    if (!found.ok()) return false;
    return std::all_of(found->begin(), found->end(), [](const auto& entity) { return entity.has_value(); });
  });
}

bool absent_get(const Setting& setting, const Counted& counted) {
  return count_reads(setting, counted, setting.operations, [](const Table& table, std::uint64_t i) {
    const std::uint64_t n = shuffled(i, kEntities);
    const auto entity = table.get(keys_of(n).partition, absent_row_key(n % kEntitiesOfPartition));
    return entity.ok() && !entity->has_value();
  });
}

bool scan_of_partition(const Setting& setting, const Counted& counted) {
  return count_reads(setting, counted, setting.operations, [](const Table& table, std::uint64_t i) {
    Scan scan;
    scan.range = ScanRange::partition(partition_key(shuffled(i, kEntities / kEntitiesOfPartition)));
    const Result<Page> page = table.scan(scan);
    return page.ok() && page->entities.size() == kEntitiesOfPartition;
  });
}

bool scan_in_place(const Setting& setting, const Counted& counted) {
  return count_reads(setting, counted, setting.operations, [](const Table& table, std::uint64_t i) {
    Scan scan;
    scan.range = ScanRange::partition(partition_key(shuffled(i, kEntities / kEntitiesOfPartition)));
    std::uint64_t seen = 0;
    return table.scan_in_place(scan, [&seen](const EntityView&) { ++seen; }).ok() && seen == kEntitiesOfPartition;
  });
}

bool scan_as_views(const Setting& setting, const Counted& counted) {
  return count_reads(setting, counted, setting.operations, [](const Table& table, std::uint64_t i) {
    Scan scan;
    scan.range = ScanRange::partition(partition_key(shuffled(i, kEntities / kEntitiesOfPartition)));
    const Result<ViewPage> page = scan_views(table, scan);
    return page.ok() && page->entities.size() == kEntitiesOfPartition;
  });
}

/// One count evaluates all entities.
bool filter_scan(const Setting& setting, const Counted& counted) {
  if (setting.operations != kEntities) return false;
  return count_reads(setting, counted, 1, [](const Table& table, std::uint64_t /*i*/) {
    Scan scan;
    scan.filter = "not (LastName ne 'Smith')";  // statistics cannot exclude an entity, so none is skipped
    const Result<Count> found = table.count(scan);
    return found.ok() && found->entities == kEntities / 1000;
  });
}

std::string number_of(std::uint64_t n) {
  return "N" + std::to_string(1'000'000 + shuffled(n, kEntities));
}

/// Each look-up finds the one entity that has a number, by an index of the numbers.
bool find_by_index(const Setting& setting, const Counted& counted) {
  Machine machine(setting.directory);
  bool is_well = machine.store().create_index(kAccount, "Orders", {"ByNumber", {{"Number"}}}).ok();
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  for (std::uint64_t n = 0; n < kEntities; ++n) {
    Entity entity = Machine::entity(n);
    entity.set("Number", number_of(n));
    is_well = machine.table().insert(entity, buffered).ok() && is_well;
  }
  machine.compact();
  const auto all = [&] {
    for (std::uint64_t i = 0; i < setting.operations; ++i) {
      Scan scan;
      scan.filter = "Number eq '" + number_of(i) + "'";
      const Result<Page> page = machine.table().scan(scan);
      is_well = page.ok() && page->entities.size() == 1 && is_well;
    }
  };
  all();
  counted(all);
  return is_well && machine.is_ready();
}

bool flush(const Setting& setting, const Counted& counted) {
  Machine machine(setting.directory);
  machine.fill();
  bool is_well = machine.is_ready() && setting.operations == kEntities;
  counted([&] { machine.compact(); });
  return is_well && machine.is_ready();
}

/// Merges two runs of the same keys, one of them in memory.
bool merge(const Setting& setting, const Counted& counted) {
  Machine machine(setting.directory);
  machine.fill();
  machine.compact();
  machine.fill(1);
  bool is_well = machine.is_ready() && setting.operations == 2 * kEntities;
  counted([&] { machine.compact(); });
  return is_well && machine.is_ready();
}

bool edit_of_few(const Setting& setting, const Counted& counted) {
  return edits_of_set(1'000, setting, counted);
}
bool edit_of_many(const Setting& setting, const Counted& counted) {
  return edits_of_set(16'000, setting, counted);
}

}  // namespace

const std::vector<HotPath>& hot_paths() {
  static const std::vector<HotPath> all = [] {
    std::vector<HotPath> paths{
        {"put, durable", "an entity", 5'000, put_durable},
        {"put, buffered", "an entity", 5'000, put_buffered},
        {"transaction of 100 replaces by ETag", "a transaction", 50, transaction_by_etags},
        {"transaction of 100 inserts between others", "a transaction", 50, inserts_between},
        {"transaction of 100 inserts after others", "a transaction", 50, inserts_after},
        {"get, cached", "an entity", 5'000, cached_get},
        {"get, cached, of a table whose entities end", "an entity", 5'000, cached_get_of_ending},
        {"get_many of 64, cached", "an entity", 6'400, cached_get_many},
        {"get of an absent key", "a get", 5'000, absent_get},
        {"scan of a partition of 100", "a scan", 100, scan_of_partition},
        {"scan of a partition of 100, in place", "a scan", 100, scan_in_place},
        {"scan of a partition of 100, as views", "a scan", 100, scan_as_views},
        {"count by a filter", "an entity judged", kEntities, filter_scan},
        {"look-up by an index, cached", "a look-up", 5'000, find_by_index},
        {"flush", "an entity", kEntities, flush},
        {"flush and merge", "an entity read", 2 * kEntities, merge},
        {"edit in a store of 1,000 files", "an edit", 100, edit_of_few},
        {"edit in a store of 16,000 files", "an edit", 100, edit_of_many},
    };
    paths.insert(paths.end(), queue_paths().begin(), queue_paths().end());
    return paths;
  }();
  return all;
}

}  // namespace varve::bench
