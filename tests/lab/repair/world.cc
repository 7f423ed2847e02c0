#include "tests/lab/repair/world.h"

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>

#include "format/keys/entity.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "varve/loader.h"
#include "varve/names.h"
#include "varve/store.h"

namespace varve::lab::repair {
namespace {

/// So small that memtables are flushed from time to time.
constexpr std::uint64_t kWriteBufferBytes = 192 << 10;

void require(const Status& status, std::string_view what) {
  if (!status.ok()) throw std::runtime_error(std::string(what) + ": " + status.to_string());
}

class Builder {
 public:
  Builder(std::uint64_t seed, WorldEnd end) : random_(seed), end_(end), device_random_(seed) {
    for (std::uint64_t i = 0; i < seed % 97; ++i) device_random_.next();
  }

  World build() {
    open();
    account("account1", 1);
    account("account2", 2);
    create("account1", "Alpha");
    create("account1", "Beta");
    create("account2", "Gamma");
    write("account1", "Alpha", 150);
    write("account1", "Beta", 60);
    write("account2", "Gamma", 40);
    require(store_->compact(), "compact");
    reopen();
    drop("account2", "Gamma");
    create("account2", "Gamma");
    write("account2", "Gamma", 50);
    load("account1", "Loaded", 80);
    write("account1", "Alpha", 250);
    if (chance(2)) require(store_->compact(), "compact");
    reopen();
    write("account1", "Alpha", 60);
    create("account1", "Delta");
    write("account1", "Delta", 20);
    reopen();  // A close leaves a short log as it is, so the last commits are in the log alone.
    write("account1", "Loaded", 15);
    transaction("account1", "Alpha");
    drop("account1", "Beta");
    write("account2", "Gamma", 15);
    if (end_ == WorldEnd::kClosed) {
      require(store_->close(), "close");
      world_.disk = files_.snapshot();
    } else {
      world_.disk = files_.process_death(device_random_);
      (void)store_->close();
    }
    world_.disk.settle();
    return std::move(world_);
  }

 private:
  bool chance(unsigned of) { return random_() % of == 0; }

  void open() {
    ResourceOptions small;
    small.write_buffer_bytes = kWriteBufferBytes;
    Result<std::shared_ptr<Resources>> resources = Resources::create(small);
    require(resources.status(), "resources");
    StoreOptions options;
    options.create_if_absent = true;
    options.resources = *resources;
    options.env = &env_;
    Result<std::unique_ptr<Store>> store = Store::open(kStorePath, options);
    require(store.status(), "open");
    store_ = *std::move(store);
  }

  void reopen() {
    require(store_->close(), "close");
    open();
  }

  /// Returns the version of the last commit. There is no concurrent writer.
  std::uint64_t now() {
    const Result<Snapshot> snapshot = store_->snapshot();
    require(snapshot.status(), "snapshot");
    world_.history.last_version = std::max(world_.history.last_version, snapshot->version().ticks);
    return snapshot->version().ticks;
  }

  void account(const std::string& name, std::uint32_t number) {
    require(store_->create_account(name), "create account");
    numbers_[name] = number;
    next_table_[name] = 1;
    now();
  }

  void create(const std::string& account, const std::string& name) {
    require(store_->create_table(account, name).status(), "create table");
    live(account, name, next_table_[account]++, now());
  }

  void live(const std::string& account, const std::string& name, std::uint32_t number, std::uint64_t version) {
    ids_[account + name] = format::make_table_id(numbers_[account], number);
    world_.history.tables.push_back({ids_[account + name], account, name, version, 0});
  }

  void drop(const std::string& account, const std::string& name) {
    require(store_->drop_table(account, name), "drop table");
    for (TableLife& table : world_.history.tables) {
      if (table.id == ids_[account + name]) table.dropped = now();
    }
  }

  // -- Rows ---------------------------------------------------------------------------------------------------------

  Entity random_entity(std::string partition, std::string row) {
    Entity entity(std::move(partition), std::move(row));
    std::string text(100 + random_() % 200, 'x');
    for (char& letter : text) letter = static_cast<char>('!' + random_() % 90);
    entity.set("V", std::move(text)).set("N", static_cast<std::int64_t>(++serial_));
    return entity;
  }

  static std::string encoded(const Entity& entity) {
    format::EntityBuilder builder;
    builder.add_string("V", *entity.get<std::string>("V"));
    builder.add_int64("N", *entity.get<std::int64_t>("N"));
    return builder.finish();
  }

  std::string key_of(const std::string& account, const std::string& name, const Entity& entity) {
    return *format::encode_sort_key(ids_[account + name], entity.partition_key(), entity.row_key());
  }

  void record(const std::string& key, std::uint64_t version, std::optional<std::string> value) {
    world_.history.rows[key].push_back({version, std::move(value)});
    world_.history.last_version = std::max(world_.history.last_version, version);
  }

  WriteOptions random_durability() {
    WriteOptions options;
    if (chance(3)) options.durability = Durability::kBuffered;
    if (chance(5)) options.tag = "tag";
    return options;
  }

  void write(const std::string& account, const std::string& name, int count) {
    Result<Table> table = store_->open_table(account, name);
    require(table.status(), "open table");
    for (int i = 0; i < count; ++i) {
      const Entity entity =
          random_entity("p" + std::to_string(random_() % 4), "row" + std::to_string(random_() % (3 * 60)));
      const std::string key = key_of(account, name, entity);
      const bool is_there = world_.history.newest(key).row.has_value();
      if (is_there && chance(3)) {
        require(table->remove(entity.partition_key(), entity.row_key(), ETag::any(), random_durability()), "remove");
        record(key, now(), std::nullopt);
        continue;
      }
      const Result<ETag> etag = table->insert_or_replace(entity, random_durability());
      require(etag.status(), "write");
      record(key, etag->timestamp().ticks, encoded(entity));
    }
  }

  void transaction(const std::string& account, const std::string& name) {
    Result<Table> table = store_->open_table(account, name);
    require(table.status(), "open table");
    EntityGroupTransaction group;
    std::vector<Entity> entities;
    for (int i = 0; i < 10; ++i) {
      entities.push_back(random_entity("group", "row" + std::to_string(i)));
      group.insert_or_replace(entities.back());
    }
    const Result<std::vector<ETag>> etags = table->execute(group);
    require(etags.status(), "transaction");
    for (const Entity& entity : entities) {
      record(key_of(account, name, entity), etags->front().timestamp().ticks, encoded(entity));
    }
  }

  void load(const std::string& account, const std::string& name, int count) {
    Result<Loader> loader = store_->load_table(account, name);
    require(loader.status(), "load");
    const std::uint32_t number = next_table_[account]++;
    std::vector<Entity> entities;
    for (int i = 0; i < count; ++i) entities.push_back(random_entity("p", "row" + std::to_string(1000 + i)));
    for (const Entity& entity : entities) require(loader->add(entity), "load");
    const Result<ETag> etag = loader->finish();
    require(etag.status(), "load");
    live(account, name, number, now());
    for (const Entity& entity : entities) {
      record(key_of(account, name, entity), etag->timestamp().ticks, encoded(entity));
    }
  }

  std::mt19937_64 random_;
  const WorldEnd end_;
  World world_;
  std::map<std::string, std::uint32_t> numbers_;
  std::map<std::string, std::uint32_t> next_table_;
  std::map<std::string, format::TableId> ids_;
  std::int64_t serial_ = 0;
  io::MemoryFileSystem files_;
  io::ManualClock clock_;
  io::SeededRandom device_random_;
  io::Scheduler scheduler_;
  io::Env env_{files_, clock_, device_random_, scheduler_};
  std::unique_ptr<Store> store_;
};

}  // namespace

const TableLife* History::table(format::TableId id) const noexcept {
  for (const TableLife& table : tables) {
    if (table.id == id) return &table;
  }
  return nullptr;
}

History::Newest History::newest(const std::string& key) const {
  const auto found = rows.find(key);
  if (found == rows.end()) return {};
  const RowState& last = found->second.back();
  const TableLife* const life = table(format::table_id_of(key));
  if (life != nullptr && life->dropped != 0) return {life->dropped, std::nullopt, true};
  return {last.version, last.value ? std::optional(last) : std::nullopt, false};
}

World make_world(std::uint64_t seed, WorldEnd end) {
  return Builder(seed, end).build();
}

}  // namespace varve::lab::repair
