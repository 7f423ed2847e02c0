// Owns: Varve in the race, through its public interface only.
// Must never: include code below api/.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "bench/varve_bench/contender.h"
#include "bench/varve_bench/entities.h"
#include "bench/varve_bench/machine.h"
#include "varve/async.h"
#include "varve/loader.h"
#include "varve/store.h"
#include "varve/store_transaction.h"

namespace varve::bench {

namespace {

constexpr std::uint32_t kTablesOfAccount = 100;

/// Returns the account of a table. A few tables share one account. If there are many tables, later tables use the same
/// accounts again.
std::string account_name(std::uint32_t table, std::uint32_t tables) {
  const std::uint32_t accounts = std::max<std::uint32_t>(1, tables / kTablesOfAccount);
  return "bench" + std::to_string(table / kTablesOfAccount % accounts);
}

std::string table_name(std::uint32_t table) {
  return "Table" + std::to_string(table);
}

WriteOptions write_options(Promise promise) {
  return {.durability = promise == Promise::kDurable ? Durability::kSync : Durability::kBuffered};
}

Entity entity_of(std::string_view partition, const Row& row) {
  Entity entity{std::string(partition), row.key};
  if (row.group != kNoGroup) entity.add(std::string(kGroupName), row.group);
  for_properties(row, [&](std::string name, std::string_view text, bool is_binary) {
    entity.add(std::move(name), is_binary ? Value(Binary{std::string(text)}) : Value(text));
  });
  return entity;
}

/// The keys that one thread requests, and the results.
struct SideBySide {
  std::span<const Keys> keys;
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> found{0};
};

/// Reads one key after the other while keys are left. Many of these tasks run concurrently.
Task<Status> get_one_by_one(AsyncTable table, SideBySide& shared) {
  for (;;) {
    const std::size_t mine = shared.next.fetch_add(1, std::memory_order_relaxed);
    if (mine >= shared.keys.size()) co_return Status();
    const Keys& key = shared.keys[mine];
    const Result<std::optional<Entity>> entity = co_await table.get(key.partition, key.row);
    if (!entity.ok()) co_return entity.status();
    if (entity->has_value()) shared.found.fetch_add(1, std::memory_order_relaxed);
  }
}

/// The puts that one thread has in flight, and their progress.
struct PutsSideBySide {
  std::span<const KeyedRow> rows;
  WriteOptions options;
  std::atomic<std::size_t> next{0};
};

Task<Status> put_one_by_one(AsyncTable table, PutsSideBySide& shared) {
  for (;;) {
    const std::size_t mine = shared.next.fetch_add(1, std::memory_order_relaxed);
    if (mine >= shared.rows.size()) co_return Status();
    const KeyedRow& one = shared.rows[mine];
    const Result<ETag> put = co_await table.insert_or_replace(entity_of(one.partition, one.row), shared.options);
    if (!put.ok()) co_return put.status();
  }
}

class VarveContender final : public Contender {
 public:
  VarveContender(std::string directory, std::unique_ptr<Store> store, std::vector<Table> tables)
      : directory_(std::move(directory)), store_(std::move(store)), tables_(std::move(tables)) {}

  std::string back_end() const override {
    const Result<Statistics> statistics = store_->statistics();
    return statistics.ok() ? statistics->back_end + (statistics->direct_io ? ", direct" : ", page cache") : "unknown";
  }

  std::uint64_t table_bytes() const override { return occupied_bytes(directory_, ".sst"); }

  Status put(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Check check,
             Promise promise) override {
    if (table >= tables_.size()) return put_in_new_table(table, partition, rows, promise);
    const WriteOptions options = write_options(promise);
    if (rows.size() == 1) {
      const Entity entity = entity_of(partition, rows.front());
      return check == Check::kAbsent ? tables_[table].insert(entity, options).status()
                                     : tables_[table].insert_or_replace(entity, options).status();
    }
    EntityGroupTransaction transaction;
    transaction.reserve(rows.size());
    for (const Row& row : rows) {
      if (check == Check::kAbsent) {
        transaction.insert(entity_of(partition, row));
      } else {
        transaction.insert_or_replace(entity_of(partition, row));
      }
    }
    return tables_[table].execute(transaction, options).status();
  }

  Status remove(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Promise promise) override {
    EntityGroupTransaction transaction;
    transaction.reserve(rows.size());
    for (const Row& row : rows) transaction.remove(std::string(partition), row.key, ETag::any());
    return tables_[table].execute(transaction, write_options(promise)).status();
  }

  Status replace_unchanged(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                           Promise promise) override {
    ETag known;
    {
      const std::lock_guard lock(known_mutex_);
      known = known_[std::string(partition)];
    }
    EntityGroupTransaction transaction;
    transaction.reserve(rows.size());
    for (const Row& row : rows) {
      if (known.is_none()) {
        transaction.insert(entity_of(partition, row));
      } else {
        transaction.replace(entity_of(partition, row), known);
      }
    }
    const Result<std::vector<ETag>> etags = tables_[table].execute(transaction, write_options(promise));
    if (!etags.ok()) return etags.status();
    const std::lock_guard lock(known_mutex_);
    known_[std::string(partition)] = etags->front();  // All ETags of one transaction are equal.
    return Status();
  }

  Status load(std::uint32_t table, std::uint64_t count, LoadWay way) override {
    switch (way) {
      case LoadWay::kBatches: return load_batches(table, count);
      case LoadWay::kNoLog: return Status::unsupported("every write of an open table goes through the log");
      case LoadWay::kFiles: return load_files(table, count);
    }
    return Status();
  }

  Result<bool> get(std::uint32_t table, std::string_view partition, std::string_view row) override {
    const Result<std::optional<Entity>> entity = tables_[table].get(partition, row);
    if (!entity.ok()) return entity.status();
    return entity->has_value();
  }

  Result<std::uint64_t> get_side_by_side(std::uint32_t table, std::span<const Keys> keys,
                                         std::size_t in_flight) override {
    SideBySide shared{keys};
    std::vector<Task<Status>> running;
    for (std::size_t i = 0; i < in_flight; ++i) running.push_back(get_one_by_one(AsyncTable(tables_[table]), shared));
    for (const Status& ended : wait(all(std::move(running)))) {
      if (!ended.ok()) return ended;
    }
    return shared.found.load();
  }

  Result<std::uint64_t> get_batch(std::uint32_t table, std::span<const Keys> keys) override {
    std::vector<EntityKey> wanted;
    for (const Keys& key : keys) wanted.push_back({key.partition, key.row});
    const Result<std::vector<std::optional<Entity>>> entities = tables_[table].get_many(wanted);
    if (!entities.ok()) return entities.status();
    return static_cast<std::uint64_t>(
        std::count_if(entities->begin(), entities->end(), [](const auto& entity) { return entity.has_value(); }));
  }

  Result<std::uint64_t> scan_from(std::uint32_t table, std::string_view partition, std::uint32_t count_max) override {
    Scan scan;
    scan.range = ScanRange::partitions(partition);
    scan.page_entities_max = count_max;
    const Result<Page> page = tables_[table].scan(scan);
    if (!page.ok()) return page.status();
    return page->entities.size();
  }

  Result<std::uint64_t> query_group(std::uint32_t table, std::optional<std::string_view> partition,
                                    std::int32_t group) override {
    Scan scan;
    if (partition) scan.range = ScanRange::partition(*partition);
    scan.filter = std::string(kGroupName) + " eq " + std::to_string(group);
    return count_pages(table, std::move(scan), Scanned::kMade);
  }

  Status put_side_by_side(std::uint32_t table, std::span<const KeyedRow> rows, std::size_t in_flight) override {
    PutsSideBySide shared{rows, write_options(Promise::kDurable)};
    std::vector<Task<Status>> running;
    for (std::size_t i = 0; i < in_flight; ++i) running.push_back(put_one_by_one(AsyncTable(tables_[table]), shared));
    for (Status& ended : wait(all(std::move(running)))) {
      if (!ended.ok()) return std::move(ended);
    }
    return Status();
  }

  Status update_property(std::uint32_t table, const Keys& keys, std::string_view name, std::string_view text,
                         Promise promise) override {
    Entity entity(keys.partition, keys.row);
    entity.add(std::string(name), text);
    return tables_[table].merge(entity, ETag::any(), write_options(promise)).status();
  }

  Result<bool> replace_if_as_read(std::uint32_t table, std::string_view partition, const Row& row, bool conflict,
                                  Promise promise) override {
    const Result<std::optional<Entity>> read = tables_[table].get(partition, row.key);
    if (!read.ok()) return read.status();
    if (!read->has_value()) return false;
    ETag known = (*read)->etag();
    if (conflict) known = ETag::of_timestamp(DateTime{known.timestamp().ticks - 1});
    const Status replaced = tables_[table].replace(entity_of(partition, row), known, write_options(promise)).status();
    if (replaced.code() == Code::kPreconditionFailed || replaced.code() == Code::kNotFound) return false;
    if (!replaced.ok()) return replaced;
    return true;
  }

  Result<bool> erase(std::uint32_t table, const Keys& keys, Promise promise) override {
    Status removed = tables_[table].remove(keys.partition, keys.row, ETag::any(), write_options(promise));
    if (removed.code() == Code::kNotFound) return false;
    if (!removed.ok()) return removed;
    return true;
  }

  Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition, std::uint32_t count_max,
                                       Scanned scanned) override {
    Scan scan;
    scan.range = ScanRange::partition(partition);
    scan.page_entities_max = count_max;
    std::uint64_t count = 0;
    const Result<Page> page = read_page(table, scan, scanned, count);
    if (!page.ok()) return page.status();
    return count;
  }

  Result<std::uint64_t> scan_table(std::uint32_t table, Scanned scanned) override {
    return count_pages(table, Scan(), scanned);
  }

  Result<std::uint64_t> scan_pages(std::uint32_t table, std::uint32_t page_entities) override {
    Scan scan;
    scan.page_entities_max = page_entities;
    return count_pages(table, std::move(scan), Scanned::kMade);
  }

  Result<bool> transfer(std::uint32_t table, const Keys& from, const Keys& to, std::string_view payload,
                        Promise promise) override {
    Result<StoreTransaction> transaction = store_->begin_transaction();
    if (!transaction.ok()) return transaction.status();
    for (const Keys* keys : {&from, &to}) {
      const Result<std::optional<Entity>> read = transaction->get(tables_[table], keys->partition, keys->row);
      if (!read.ok()) return read.status();
      if (!*read) return Status::corruption("an entity that was loaded is not there");
      transaction->replace(tables_[table], entity_of(keys->partition, {keys->row, payload}), (*read)->etag());
    }
    const Status committed = transaction->commit(write_options(promise)).status();
    if (committed.code() == Code::kConflict || committed.code() == Code::kPreconditionFailed) return false;
    if (!committed.ok()) return committed;
    return true;
  }

  Status create_table(std::uint32_t table) override {
    return store_->create_table(account_of(table), table_name(table)).status();
  }

  Status drop_table(std::uint32_t table) override { return store_->drop_table(account_of(table), table_name(table)); }
  Status reclaim(std::uint32_t /*table*/) override { return Status(); }  // Varve frees space by itself

  /// Waits until nothing was flushed or merged for 200 ms, because a store does not report whether it works.
  Status wait_until_idle() override {
    std::uint64_t work_before = UINT64_MAX;
    return watch(std::chrono::milliseconds(200), [this, &work_before]() -> Result<bool> {
      const Result<Statistics> now = store_->statistics();
      if (!now.ok()) return now.status();
      const std::uint64_t work = now->flushes + now->compactions + now->moved_files + now->unlinked_files;
      const std::uint64_t before = std::exchange(work_before, work);
      return (before != work && before != UINT64_MAX) || now->compaction_debt_bytes > 0;
    });
  }
  Status compact() override { return store_->compact(); }

  std::optional<std::uint64_t> reads_for_readers() const override {
    const Result<Statistics> now = store_->statistics();
    return now.ok() ? std::optional(now->block_reads) : std::nullopt;
  }
  std::optional<std::uint64_t> bytes_to_replay() const override {
    const Result<Statistics> now = store_->statistics();
    return now.ok() ? std::optional(now->live_log_bytes) : std::nullopt;
  }

 private:
  std::string account_of(std::uint32_t table) const {
    return account_name(table, static_cast<std::uint32_t>(tables_.size()));
  }

  Status put_in_new_table(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Promise promise) {
    Result<Table> opened = store_->open_table(account_of(table), table_name(table));
    if (!opened.ok()) return opened.status();
    EntityGroupTransaction transaction;
    transaction.reserve(rows.size());
    for (const Row& row : rows) transaction.insert_or_replace(entity_of(partition, row));
    return opened->execute(transaction, write_options(promise)).status();
  }

  /// Adds the number of entities of the page to `count`.
  Result<Page> read_page(std::uint32_t table, const Scan& scan, Scanned scanned, std::uint64_t& count) {
    if (scanned == Scanned::kInPlace) return tables_[table].scan_in_place(scan, [&](const EntityView&) { ++count; });
    Result<Page> page = tables_[table].scan(scan);
    if (page.ok()) count += page->entities.size();
    return page;
  }

  Result<std::uint64_t> count_pages(std::uint32_t table, Scan scan, Scanned scanned) {
    std::uint64_t count = 0;
    while (true) {
      Result<Page> page = read_page(table, scan, scanned, count);
      if (!page.ok()) return page.status();
      if (!page->continuation) return count;
      scan.continuation = *std::move(page->continuation);
    }
  }

  Status load_batches(std::uint32_t table, std::uint64_t count) {
    // the table was dropped
    if (Status made = create_table(table); !made.ok() && made.code() != Code::kExists) return made;
    return load_in_batches(*this, table, count);
  }

  Status load_files(std::uint32_t table, std::uint64_t count) {
    Result<Loader> loader = store_->load_table(account_of(table), table_name(table));
    if (!loader.ok()) return loader.status();
    for (std::uint64_t n = 0; n < count; ++n) {
      const Keys keys = keys_of(n);
      if (Status added = loader->add(entity_of(keys.partition, {keys.row, payload_of(n)})); !added.ok()) return added;
    }
    if (Status finished = loader->finish().status(); !finished.ok()) return finished;
    Result<Table> loaded =
        store_->open_table(account_of(table), table_name(table));  // the present handle belongs to the empty table
    if (!loaded.ok()) return loaded.status();
    tables_[table] = *std::move(loaded);
    return Status();
  }

  std::string directory_;
  std::unique_ptr<Store> store_;
  std::vector<Table> tables_;
  std::mutex known_mutex_;
  std::map<std::string, ETag> known_;  // by partition, for replace_unchanged()
};

/// Creates the tables concurrently, because each creation is a durable commit.
Result<std::vector<Table>> make_tables(Store& store, std::uint32_t count) {
  for (std::uint32_t first = 0; first < count; first += kTablesOfAccount) {
    if (count >= kTablesOfAccount || first == 0) {
      if (Status made = store.create_account(account_name(first, count)); !made.ok()) return made;
    }
  }
  std::vector<Table> tables;
  for (std::uint32_t first = 0; first < count; first += kTablesOfAccount) {
    std::vector<Task<Result<Table>>> running;
    for (std::uint32_t i = first; i < std::min(count, first + kTablesOfAccount); ++i) {
      running.push_back(AsyncStore(store).create_table(account_name(i, count), table_name(i)));
    }
    for (Result<Table>& made : wait(all(std::move(running)))) {
      if (!made.ok()) return made.status();
      tables.push_back(*std::move(made));
    }
  }
  return tables;
}

Result<std::vector<Table>> open_tables(Store& store, std::uint32_t count) {
  std::vector<Table> tables;
  for (std::uint32_t i = 0; i < count; ++i) {
    Result<Table> table = store.open_table(account_name(i, count), table_name(i));
    if (!table.ok()) return table.status();
    tables.push_back(*std::move(table));
  }
  return tables;
}

}  // namespace

Result<std::unique_ptr<Contender>> open_varve(const std::string& directory, const Settings& settings) {
  const bool is_new = !std::filesystem::exists(directory);
  const Result<std::shared_ptr<Resources>> resources =
      Resources::create({.write_buffer_bytes = settings.write_buffer_bytes, .block_cache_bytes = settings.cache_bytes});
  if (!resources.ok()) return resources.status();
  StoreOptions options;
  options.create_if_absent = true;
  options.resources = *resources;
  Result<std::unique_ptr<Store>> store = Store::open(directory, options);
  if (!store.ok()) return store.status();
  Result<std::vector<Table>> tables =
      is_new ? make_tables(**store, settings.tables) : open_tables(**store, settings.tables);
  if (!tables.ok()) return tables.status();
  return std::unique_ptr<Contender>(std::make_unique<VarveContender>(directory, *std::move(store), *std::move(tables)));
}

}  // namespace varve::bench
