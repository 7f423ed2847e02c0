// Owns: Varve in the race, by its public interface alone.
// Must never: reach below api/.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "api/async.h"
#include "api/loader.h"
#include "api/store.h"
#include "bench/varve_bench/contender.h"
#include "bench/varve_bench/entities.h"
#include "bench/varve_bench/machine.h"

namespace varve::bench {

namespace {

constexpr std::string_view kAccount = "bench";

std::string table_name(std::uint32_t table) {
  return "Table" + std::to_string(table);
}

WriteOptions write_options(Promise promise) {
  return {.durability = promise == Promise::kDurable ? Durability::kSync : Durability::kBuffered};
}

Entity entity_of(std::string_view partition, const Row& row) {
  Entity entity{std::string(partition), row.key};
  entity.add(std::string(kPayloadName), row.payload);
  return entity;
}

/// Keys that one thread asks for, and what came of them.
struct SideBySide {
  std::span<const Keys> keys;
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> found{0};
};

/// One get after the other, as long as there are keys: many of these run side by side.
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
    const WriteOptions options = write_options(promise);
    if (rows.size() == 1) {
      const Entity entity = entity_of(partition, rows.front());
      return check == Check::kAbsent ? tables_[table].insert(entity, options).status()
                                     : tables_[table].insert_or_replace(entity, options).status();
    }
    EntityGroupTransaction transaction;
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
    known_[std::string(partition)] = etags->front();  // All of one transaction are equal.
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

  Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition,
                                       std::uint32_t count_max) override {
    Scan scan;
    scan.range = ScanRange::partition(partition);
    scan.page_size_max = count_max;
    const Result<Page> page = tables_[table].scan(scan);
    if (!page.ok()) return page.status();
    return page->entities.size();
  }

  Result<std::uint64_t> scan_table(std::uint32_t table) override {
    Scan scan;
    std::uint64_t count = 0;
    while (true) {
      Result<Page> page = tables_[table].scan(scan);
      if (!page.ok()) return page.status();
      count += page->entities.size();
      if (!page->continuation) return count;
      scan.continuation = *std::move(page->continuation);
    }
  }

  Status create_table(std::uint32_t table) override {
    return store_->create_table(kAccount, table_name(table)).status();
  }

  Status drop_table(std::uint32_t table) override { return store_->drop_table(kAccount, table_name(table)); }
  Status reclaim(std::uint32_t /*table*/) override { return Status(); }  // it happens by itself

  Status wait_until_idle() override {
    std::uint64_t work_before = UINT64_MAX;
    for (int quiet = 0; quiet < 3;) {
      const Result<Statistics> now = store_->statistics();
      if (!now.ok()) return now.status();
      const std::uint64_t work = now->flushes + now->compactions + now->moved_files + now->unlinked_files;
      quiet = work == work_before && now->compaction_debt_bytes == 0 ? quiet + 1 : 0;
      work_before = work;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return Status();
  }
  Status compact() override { return store_->compact(); }

 private:
  Status load_batches(std::uint32_t table, std::uint64_t count) {
    if (Status made = create_table(table); !made.ok() && made.code() != Code::kExists) return made;  // it was dropped
    return load_in_batches(*this, table, count);
  }

  Status load_files(std::uint32_t table, std::uint64_t count) {
    Result<Loader> loader = store_->load_table(kAccount, table_name(table));
    if (!loader.ok()) return loader.status();
    for (std::uint64_t n = 0; n < count; ++n) {
      const Keys keys = keys_of(n);
      if (Status added = loader->add(entity_of(keys.partition, {keys.row, payload_of(n)})); !added.ok()) return added;
    }
    if (Status finished = loader->finish().status(); !finished.ok()) return finished;
    Result<Table> loaded = store_->open_table(kAccount, table_name(table));  // the handle at hand was of the empty one
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

}  // namespace

Result<std::unique_ptr<Contender>> open_varve(const std::string& directory, const Settings& settings) {
  const bool is_new = !std::filesystem::exists(directory);
  const Result<std::shared_ptr<Resources>> resources =
      Resources::create({.write_buffer_bytes = settings.write_buffer_bytes, .block_cache_bytes = settings.cache_bytes});
  if (!resources.ok()) return resources.status();
  StoreOptions options;
  options.create_if_missing = true;
  options.resources = *resources;
  Result<std::unique_ptr<Store>> store = Store::open(directory, options);
  if (!store.ok()) return store.status();
  if (is_new) {
    if (Status made = (*store)->create_account(kAccount); !made.ok()) return made;
  }
  std::vector<Table> tables;
  for (std::uint32_t i = 0; i < Contender::kTables; ++i) {
    Result<Table> table =
        is_new ? (*store)->create_table(kAccount, table_name(i)) : (*store)->open_table(kAccount, table_name(i));
    if (!table.ok()) return table.status();
    tables.push_back(*std::move(table));
  }
  return std::unique_ptr<Contender>(std::make_unique<VarveContender>(directory, *std::move(store), std::move(tables)));
}

}  // namespace varve::bench
