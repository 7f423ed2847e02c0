// Goal: after any mix of operations, reopens, kills and power cuts the store answers as a model would.
// Method: one seeded stream of operations drives the store on the in-memory disk and a model that keeps its state at
// every commit version. After a crash the store must be at some version at or above the last one it promised, and equal
// the model at exactly that version. Rerun a failure with VARVE_SEED=<the number it printed>.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/store.h"
#include "io/env.h"
#include "io/manual_clock.h"
#include "io/memory_file_system.h"
#include "tests/support/effort.h"

namespace varve {
namespace {

constexpr std::string_view kPath = "/store";
constexpr std::string_view kAccount = "account1";

using Key = std::pair<std::string, std::string>;
using Properties = std::map<std::string, Value>;

struct ModelEntity {
  Properties properties;
  ETag etag;
};
using ModelTable = std::map<Key, ModelEntity>;
using ModelState = std::map<std::string, ModelTable>;

class ModelRun {
 public:
  /// By every other seed memory is so scarce that memtables are flushed all the time, and tables compacted.
  explicit ModelRun(std::uint64_t seed)
      : random_(seed), scarce_memory_(seed % 2 == 0), machine_(std::make_unique<Machine>(io::MemoryDisk(), seed)) {}

  void run(int steps) {
    open();
    if (HasFatal()) return;
    ASSERT_TRUE(store_->create_account(kAccount).ok());
    remember(store_version());
    for (int step = 0; step < steps && !HasFatal(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      one_step();
    }
    if (!HasFatal()) compare_all();
  }

  int crashes() const { return crashes_; }

 private:
  struct Machine {
    Machine(io::MemoryDisk disk, std::uint64_t seed) : files(std::move(disk)), random(seed) {}
    io::MemoryFileSystem files;
    io::ManualClock clock;
    io::SeededRandom random;
    io::Scheduler scheduler;
    io::Env env{files, clock, random, scheduler};
  };

  static bool HasFatal() { return ::testing::Test::HasFailure(); }
  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }

  void open() {
    StoreOptions options;
    options.create_if_missing = true;
    options.env = &machine_->env;
    if (scarce_memory_) {
      ResourceOptions resources;
      resources.write_buffer_bytes = 128 << 10;
      resources.block_cache_bytes = 64 << 10;
      options.resources = *Resources::create(resources);
    }
    auto opened = Store::open(kPath, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
  }

  DateTime store_version() { return store_->statistics()->visible_version; }

  // -- The model's history ----------------------------------------------------------------------------------------

  void remember(DateTime version) { history_[version.ticks] = state_; }

  /// A commit happened at this ETag's version.
  void committed(ETag etag, bool durable) {
    remember(etag.timestamp());
    if (durable) promised_ = etag.timestamp().ticks;
  }

  void crash(bool killed) {
    ++crashes_;
    const std::uint64_t killed_at = store_version().ticks;
    io::MemoryDisk disk =
        killed ? machine_->files.process_death(random_)
               : machine_->files.power_cut(io::kCrashPolicies[below(std::size(io::kCrashPolicies))], random_);
    store_.reset();
    machine_ = std::make_unique<Machine>(std::move(disk), random_.next());
    if (io::one_in(random_, 3)) machine_->clock.set_wall(machine_->clock.wall() - io::kTicksPerSecond * 3600 * 24);
    open();
    if (HasFatal()) return;
    const std::uint64_t version = store_version().ticks;
    ASSERT_GE(version, killed ? killed_at : promised_) << "something acknowledged was lost";
    const auto found = history_.find(version);
    ASSERT_NE(found, history_.end()) << "the store is at a version that no commit had: " << version;
    state_ = found->second;
    history_.erase(std::next(found), history_.end());
    promised_ = version;
    compare_all();
  }

  // -- Operations -------------------------------------------------------------------------------------------------

  void one_step() {
    switch (below(26)) {
      case 0: return create_or_drop_table();
      case 1: return reopen();
      case 2: return crash(true);
      case 3: return crash(false);
      case 4: return scan_some();
      case 5: return flush();
      case 6:
      case 7: return transaction();
      case 8:
      case 9: return io::one_in(random_, 3) ? get_many() : get_one();
      default: return write_one();
    }
  }

  std::string table_name() { return "Table" + std::to_string(below(3)); }
  Key key() {
    static const std::vector<std::string> kTexts{"",    "a", "ab", "b", "\xC3\xA9", "\xEE\x80\x80", "\xF0\x9F\x98\x80",
                                                 "z z", "'", "%"};
    return {kTexts[below(4)], kTexts[below(kTexts.size())]};
  }

  Entity entity(const Key& key) {
    Entity made(key.first, key.second);
    const std::uint64_t count = below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string name = std::string(1, static_cast<char>('A' + below(5)));
      switch (below(4)) {
        case 0: made.set(name, static_cast<std::int32_t>(below(1000))); break;
        case 1: made.set(name, std::string(below(io::one_in(random_, 20) ? 20'000 : 30), 'x')); break;
        case 2: made.set(name, 0.5 * static_cast<double>(below(100))); break;
        default: made.set(name, Binary{std::string(below(10), '\0')}); break;
      }
    }
    return made;
  }

  WriteOptions durability(bool* durable) {
    WriteOptions options;
    *durable = !io::one_in(random_, 2);
    options.durability = *durable ? Durability::kSync : Durability::kBuffered;
    return options;
  }

  std::optional<Table> open_table(const std::string& name) {
    const Result<Table> table = store_->open_table(kAccount, name);
    EXPECT_EQ(table.ok(), state_.contains(name)) << table.status().to_string();
    return table.ok() ? std::optional<Table>(*table) : std::nullopt;
  }

  void create_or_drop_table() {
    const std::string name = table_name();
    if (!state_.contains(name)) {
      ASSERT_TRUE(store_->create_table(kAccount, name).ok());
      state_[name] = {};
    } else if (io::one_in(random_, 3)) {
      ASSERT_TRUE(store_->drop_table(kAccount, name).ok());
      state_.erase(name);
    } else {
      ASSERT_EQ(store_->create_table(kAccount, name).status().service_error(), "TableAlreadyExists");
      return;
    }
    remember(store_version());
    promised_ = store_version().ticks;
  }

  ETag condition(const ModelTable& rows, const Key& key) {
    const auto found = rows.find(key);
    if (io::one_in(random_, 3)) return ETag::any();
    if (found == rows.end() || io::one_in(random_, 4))
      return ETag::of_timestamp(DateTime{io::ManualClock::kDefaultWall - 5});
    return found->second.etag;
  }

  /// What the service's rules say of one operation on the model; Ok changes `rows`.
  static std::string expect(ModelTable& rows, const TransactionOperation& operation, const Key& key) {
    using Kind = TransactionOperation::Kind;
    const auto found = rows.find(key);
    const bool exists = found != rows.end();
    const bool conditional =
        operation.kind == Kind::kReplace || operation.kind == Kind::kMerge || operation.kind == Kind::kRemove;
    if (operation.kind == Kind::kInsert && exists) return "EntityAlreadyExists";
    if (conditional && !exists) return "ResourceNotFound";
    if (conditional && !operation.if_match.is_any() && operation.if_match != found->second.etag)
      return "UpdateConditionNotSatisfied";
    if (operation.kind == Kind::kRemove) {
      rows.erase(found);
      return "";
    }
    Properties properties;
    const bool merges = operation.kind == Kind::kMerge || operation.kind == Kind::kInsertOrMerge;
    if (merges && exists) properties = found->second.properties;
    for (const Property& property : operation.entity.properties()) properties[property.name] = property.value;
    rows[key] = {std::move(properties), ETag()};
    return "";
  }

  TransactionOperation operation(const ModelTable& rows, const Key& key) {
    TransactionOperation made;
    made.kind = static_cast<TransactionOperation::Kind>(below(6));
    made.entity = entity(key);
    made.if_match = condition(rows, key);
    return made;
  }

  static Result<ETag> apply(Table& table, const TransactionOperation& operation, const WriteOptions& options) {
    using Kind = TransactionOperation::Kind;
    const Entity& entity = operation.entity;
    switch (operation.kind) {
      case Kind::kInsert: return table.insert(entity, options);
      case Kind::kReplace: return table.replace(entity, operation.if_match, options);
      case Kind::kMerge: return table.merge(entity, operation.if_match, options);
      case Kind::kInsertOrReplace: return table.insert_or_replace(entity, options);
      case Kind::kInsertOrMerge: return table.insert_or_merge(entity, options);
      case Kind::kRemove: break;
    }
    if (Status removed = table.remove(entity.partition_key(), entity.row_key(), operation.if_match, options);
        !removed.ok())
      return removed;
    return ETag();
  }

  void write_one() {
    const std::string name = table_name();
    std::optional<Table> table = open_table(name);
    if (!table) return;
    const Key at = key();
    const TransactionOperation chosen = operation(state_[name], at);
    bool durable = false;
    const WriteOptions options = durability(&durable);
    ModelTable rows = state_[name];
    const std::string expected = expect(rows, chosen, at);
    const Result<ETag> etag = apply(*table, chosen, options);
    ASSERT_EQ(etag.status().service_error(), expected) << etag.status().to_string();
    if (!expected.empty()) return;
    ASSERT_TRUE(etag.ok()) << etag.status().to_string();
    if (const auto row = rows.find(at); row != rows.end()) row->second.etag = *etag;
    state_[name] = std::move(rows);
    committed(ETag::of_timestamp(store_version()), durable);
  }

  void transaction() {
    const std::string name = table_name();
    std::optional<Table> table = open_table(name);
    if (!table) return;
    ModelTable rows = state_[name];
    EntityGroupTransaction batch;
    std::string expected;
    std::optional<std::uint32_t> failed;
    const std::string partition = key().first;
    std::vector<Key> keys;
    const ModelTable before = rows;
    for (std::uint64_t i = 0, count = 1 + below(6); i < count; ++i) {
      const Key at{partition, key().second};
      if (std::find(keys.begin(), keys.end(), at) != keys.end()) continue;
      const TransactionOperation chosen = operation(before, at);
      add(batch, chosen);
      keys.push_back(at);
      if (!expected.empty()) continue;
      expected = expect(rows, chosen, at);
      if (!expected.empty()) failed = static_cast<std::uint32_t>(batch.size() - 1);
    }
    bool durable = false;
    const WriteOptions options = durability(&durable);
    const Result<std::vector<ETag>> etags = table->execute(batch, options);
    ASSERT_EQ(etags.status().service_error(), expected) << etags.status().to_string();
    if (!expected.empty()) {
      ASSERT_EQ(etags.status().operation_index(), failed);
      return;
    }
    ASSERT_TRUE(etags.ok()) << etags.status().to_string();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (const auto row = rows.find(keys[i]); row != rows.end()) row->second.etag = (*etags)[i];
    }
    state_[name] = std::move(rows);
    committed(ETag::of_timestamp(store_version()), durable);
  }

  static void add(EntityGroupTransaction& batch, const TransactionOperation& chosen) {
    using Kind = TransactionOperation::Kind;
    switch (chosen.kind) {
      case Kind::kInsert: batch.insert(chosen.entity); break;
      case Kind::kReplace: batch.replace(chosen.entity, chosen.if_match); break;
      case Kind::kMerge: batch.merge(chosen.entity, chosen.if_match); break;
      case Kind::kInsertOrReplace: batch.insert_or_replace(chosen.entity); break;
      case Kind::kInsertOrMerge: batch.insert_or_merge(chosen.entity); break;
      case Kind::kRemove: batch.remove(chosen.entity.partition_key(), chosen.entity.row_key(), chosen.if_match); break;
    }
  }

  void reopen() {
    ASSERT_TRUE(store_->close().ok());
    store_.reset();
    open();
    if (HasFatal()) return;
    promised_ = store_version().ticks;
    compare_all();
  }

  void flush() {
    ASSERT_TRUE(store_->sync().ok());
    promised_ = store_version().ticks;
  }

  // -- Comparison -------------------------------------------------------------------------------------------------

  static void compare(const Entity& entity, const Key& key, const ModelEntity& expected) {
    ASSERT_EQ(Key(entity.partition_key(), entity.row_key()), key);
    ASSERT_EQ(entity.etag(), expected.etag);
    Properties properties;
    for (const Property& property : entity.properties()) properties[property.name] = property.value;
    ASSERT_EQ(properties, expected.properties);
  }

  void get_one() {
    const std::string name = table_name();
    const std::optional<Table> table = open_table(name);
    if (!table) return;
    const Key at = key();
    const auto entity = table->get(at.first, at.second);
    ASSERT_TRUE(entity.ok());
    const auto expected = state_[name].find(at);
    ASSERT_EQ(entity->has_value(), expected != state_[name].end());
    if (entity->has_value()) compare(**entity, at, expected->second);
  }

  void get_many() {
    const std::string name = table_name();
    const std::optional<Table> table = open_table(name);
    if (!table) return;
    std::vector<EntityKey> keys;
    for (std::uint64_t i = below(20); i > 0; --i) {
      const Key at = key();
      keys.push_back({at.first, at.second});
    }
    const auto entities = table->get_many(keys);
    ASSERT_TRUE(entities.ok());
    ASSERT_EQ(entities->size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Key at{keys[i].partition_key, keys[i].row_key};
      const auto expected = state_[name].find(at);
      ASSERT_EQ((*entities)[i].has_value(), expected != state_[name].end());
      if ((*entities)[i]) compare(*(*entities)[i], at, expected->second);
    }
  }

  /// The service's order on the model's UTF-8 keys: by UTF-16 code unit.
  static std::u16string units(std::string_view text) {
    std::u16string out;
    for (std::size_t i = 0; i < text.size();) {
      const auto lead = static_cast<unsigned char>(text[i]);
      const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      auto c = static_cast<char32_t>(bytes == 1 ? lead : lead & (0xFF >> (bytes + 1)));
      for (std::size_t j = 1; j < bytes; ++j) c = c << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3F);
      if (c >= 0x10000) {
        out += static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10));
        out += static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF));
      } else {
        out += static_cast<char16_t>(c);
      }
      i += bytes;
    }
    return out;
  }

  void compare_pages(const Table& table, Scan scan, const std::vector<std::pair<Key, ModelEntity>>& expected) {
    std::size_t at = 0;
    for (;;) {
      const Result<Page> page = table.scan(scan);
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      for (const Entity& entity : page->entities) {
        ASSERT_LT(at, expected.size());
        compare(entity, expected[at].first, expected[at].second);
        if (HasFatal()) return;
        ++at;
      }
      if (!page->continuation) break;
      scan.continuation = *page->continuation;
    }
    ASSERT_EQ(at, expected.size());
  }

  std::vector<std::pair<Key, ModelEntity>> sorted(const ModelTable& rows, const std::optional<std::string>& partition) {
    std::vector<std::pair<Key, ModelEntity>> out;
    for (const auto& row : rows) {
      if (!partition || row.first.first == *partition) out.emplace_back(row);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return std::pair(units(a.first.first), units(a.first.second)) <
             std::pair(units(b.first.first), units(b.first.second));
    });
    return out;
  }

  void scan_some() {
    const std::string name = table_name();
    const std::optional<Table> table = open_table(name);
    if (!table) return;
    Scan scan;
    scan.page_size_max = static_cast<std::uint32_t>(1 + below(7));
    std::optional<std::string> partition;
    if (io::one_in(random_, 2)) {
      partition = key().first;
      scan.range = ScanRange::partition(*partition);
    }
    compare_pages(*table, scan, sorted(state_[name], partition));
  }

  void compare_all() {
    for (int i = 0; i < 3 && !HasFatal(); ++i) {
      const std::string name = "Table" + std::to_string(i);
      const std::optional<Table> table = open_table(name);
      if (table) compare_pages(*table, Scan(), sorted(state_[name], std::nullopt));
    }
  }

  io::SeededRandom random_;
  const bool scarce_memory_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Store> store_;
  ModelState state_;
  std::map<std::uint64_t, ModelState> history_;
  std::uint64_t promised_ = 0;
  int crashes_ = 0;
};

class Model : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Model, StoreEqualsTheModelAcrossReopensKillsAndPowerCuts) {
  const char* chosen = std::getenv("VARVE_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : GetParam();
  SCOPED_TRACE("VARVE_SEED=" + std::to_string(seed));
  ModelRun run(seed);
  run.run(1500);
  EXPECT_GT(run.crashes(), 20);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Model, ::testing::Range<std::uint64_t>(1, 9, test::kStride));

}  // namespace
}  // namespace varve
