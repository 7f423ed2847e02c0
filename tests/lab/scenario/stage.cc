#include "tests/lab/scenario/stage.h"

#include <algorithm>
#include <utility>

#include "tests/lab/scenario/judgement.h"
#include "varve/loader.h"

namespace varve::lab {
namespace {

constexpr int kBatch = 20;

thread_local int labs_own = 0;

/// A flag of a version that is not the commit's own, but the visible version after it. Other commits may have come
/// between.
constexpr std::uint64_t kOnlySeen = std::uint64_t{1} << 63;

std::string_view property_of(Stage::Kind kind) {
  return kind == Stage::Kind::kMerge || kind == Stage::Kind::kInsertOrMerge ? "W" : "V";
}

std::string row_key_of(int number) {
  std::string text = std::to_string(number);
  return std::string(6 - std::min<std::size_t>(6, text.size()), '0') + text;
}

std::string describe(std::string_view verb, std::string_view table, const Stage::Write& write) {
  return std::string(verb) + " " + std::string(table) + "/" + write.partition_key + "/" + write.row_key;
}

Result<std::uint64_t> version_of(const Result<ETag>& etag) {
  if (!etag.ok()) return etag.status();
  return etag->timestamp().ticks;
}

}  // namespace

bool is_misfortune(Code code) {
  switch (code) {
    case Code::kNotFound:
    case Code::kExists:
    case Code::kPreconditionFailed:
    case Code::kInvalidArgument:
    case Code::kTooLarge:
    case Code::kForbidden:
    case Code::kConflict: return false;
    default: return true;
  }
}

Result<StoreOptions> make_options(const Tuning& tuning, const io::Env& env) {
  test::set_tree_size(tuning.file_bytes);
  ResourceOptions resources;
  resources.write_buffer_bytes = tuning.write_buffer_bytes;
  resources.block_cache_bytes = tuning.block_cache_bytes;
  Result<std::shared_ptr<Resources>> made = Resources::create(resources);
  if (!made.ok()) return made.status();
  StoreOptions options;
  options.create_if_absent = true;
  options.default_durability = tuning.default_durability;
  options.resources = *std::move(made);
  options.env = &env;
  return options;
}

void apply(Content& content, std::string_view table, const Stage::Write& write, std::uint64_t version) {
  using Kind = Stage::Kind;
  const std::string name = entity_name(kAccount, table, write.partition_key, write.row_key);
  if (write.kind == Kind::kRemove || write.has_ended) {
    content.erase(name);
    return;
  }
  Row& row = content[name];
  if (write.kind != Kind::kMerge && write.kind != Kind::kInsertOrMerge) row.properties.clear();
  row.properties[std::string(property_of(write.kind))] = text_of(Value(write.value));
  row.version = version;
}

Stage::Stage(test::Machine& machine, const Tuning& tuning, Ledger& ledger, MachineFiles* files)
    : machine_(machine),
      files_(files),
      env_{files == nullptr ? *machine.files : files->system(), machine.clock, machine.random, machine.scheduler()},
      tuning_(tuning),
      ledger_(ledger),
      random_(machine.random.next()) {}

Stage::~Stage() = default;

LabsOwn::LabsOwn() noexcept {
  ++labs_own;
}

LabsOwn::~LabsOwn() {
  --labs_own;
}

bool is_not_the_stores_memory() noexcept {
  return labs_own > 0 || io::inside_memory_file_system();
}

Status Stage::note(const Status& status) {
  if (!status.ok()) errors_.push_back(status);
  return status;
}

std::string Stage::letters(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (char& c : text) c = static_cast<char>('!' + random(90));
  return text;
}

std::uint64_t Stage::visible_version() const {
  const LabsOwn own;
  const Result<Statistics> statistics = store_->statistics();
  return statistics.ok() ? statistics->visible_version.ticks : 0;
}

std::uint64_t Stage::version_seen() const {
  return visible_version() | kOnlySeen;
}

// -- The store ------------------------------------------------------------------------------------------------------

std::string Stage::path_of(std::string_view store) const {
  return files_ == nullptr ? std::string(store) : files_->path(store.substr(1));
}

Remains Stage::remains() const {
  const LabsOwn own;
  return files_ == nullptr ? Remains(machine_.files->snapshot()) : files_->snapshot();
}

Status Stage::open(bool read_only) {
  const std::string path = path_of(kStorePath);
  Result<StoreOptions> options = make_options(tuning_, env_);
  if (!options.ok()) return note(options.status());
  options->read_only = read_only;
  options->create_if_absent = !read_only;
  const Remains before = remains();
  Result<std::unique_ptr<Store>> opened = call_or_tell([&] { return Store::open(path, *options); });
  if (!opened.ok()) return note(opened.status());
  store_ = *std::move(opened);
  const Result<Content> content = read_content(*store_);
  if (!content.ok()) return note(content.status());
  const bool is_killed = !after_power_cut_ && (files_ == nullptr || files_->outlives_process());
  Ledger::Mark promised = ledger_.mark();
  if (is_lied_to_) promised = promised.without_promises();
  const Judgement judged = judge_opened(ledger_, promised, is_killed, before, visible_version(), *content);
  if (!judged.broken.empty()) problem("after an open: " + judged.broken);
  after_power_cut_ = false;
  if (!read_only) ledger_.opened(judged.version, *content);
  return {};
}

Status Stage::close() {
  if (!store_) return {};
  Status closed = call_or_tell([&] { return store_->close(); });
  call([&] {
    store_.reset();
    return 0;
  });
  if (closed.ok()) ledger_.all_durable();
  return note(closed);
}

Status Stage::reopen() {
  (void)close();  // an error is recorded, and the open recovers
  return open();
}

// -- Commits --------------------------------------------------------------------------------------------------------

void Stage::commit(const std::string& what, Durability durability, const std::function<Result<std::uint64_t>()>& act,
                   Effect effect) {
  if (!store_) return;
  const std::uint64_t before = visible_version();
  const Result<std::uint64_t> version = call_or_tell(act);
  if (version.ok()) {
    const std::uint64_t highest = *version & ~kOnlySeen;
    const std::uint64_t lowest = highest == *version ? highest : std::min(highest, before + 1);
    ledger_.acknowledged(what, {lowest, highest}, durability == Durability::kSync, std::move(effect));
    return;
  }
  (void)note(version.status());
  if (version.code() == Code::kUnknown) {
    ledger_.unknown(what, std::move(effect));
  } else if (!is_misfortune(version.code()) && errors_.size() == 1) {
    problem(what + " was refused: " + version.status().to_string());  // no earlier operation had failed
  }
}

void Stage::account(std::string_view account) {
  commit(
      "create account", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status made = store_->create_account(account); !made.ok()) return made;
        return version_seen();
      },
      [name = account_name(account)](Content& content, std::uint64_t) { content[name] = {}; });
}

void Stage::drop_account(std::string_view account) {
  commit(
      "drop account", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status dropped = store_->drop_account(account); !dropped.ok()) return dropped;
        return version_seen();
      },
      [name = account_name(account)](Content& content, std::uint64_t) { erase_below(content, name); });
}

void Stage::table(std::string_view table, std::string_view account) {
  commit(
      "create table " + std::string(table), Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        const Result<Table> made = store_->create_table(account, table);
        if (!made.ok()) return made.status();
        return version_seen();
      },
      [name = table_name(account, table)](Content& content, std::uint64_t) { content[name] = {}; });
}

void Stage::drop_table(std::string_view table, std::string_view account) {
  commit(
      "drop table " + std::string(table), Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status dropped = store_->drop_table(account, table); !dropped.ok()) return dropped;
        return version_seen();
      },
      [name = table_name(account, table)](Content& content, std::uint64_t) { erase_below(content, name); });
}

void Stage::expiring_table(std::string_view table) {
  commit(
      "create expiring table " + std::string(table), Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        const Result<Table> made =
            store_->create_table(kAccount, table, {.expiry = TableExpiry::after(TableExpiry::kAgeMax)});
        if (!made.ok()) return made.status();
        return version_seen();
      },
      [name = table_name(kAccount, table)](Content& content, std::uint64_t) { content[name] = {}; });
}

void Stage::expiry(std::string_view table, bool expires) {
  std::optional<TableExpiry> rule;
  if (expires) rule = TableExpiry::after(TableExpiry::kAgeMax);
  commit(
      "set expiry", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status set = store_->set_table_expiry(kAccount, table, rule); !set.ok()) return set;
        return version_seen();
      },
      [](Content&, std::uint64_t) {});
}

void Stage::dated_table(std::string_view table) {
  commit(
      "create dated table " + std::string(table), Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        const Result<Table> made = store_->create_table(kAccount, table, {.expiry = TableExpiry::at("Until")});
        if (!made.ok()) return made.status();
        return version_seen();
      },
      [name = table_name(kAccount, table)](Content& content, std::uint64_t) { content[name] = {}; });
}

void Stage::policies(std::string_view table, int count) {
  std::vector<AccessPolicy> made;
  for (int i = 0; i < count; ++i) made.push_back({.id = "policy" + std::to_string(i)});
  commit(
      "set policies", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status set = store_->set_access_policies(kAccount, table, made); !set.ok()) return set;
        return version_seen();
      },
      [name = table_name(kAccount, table), row = policies_row(made)](Content& content, std::uint64_t) {
        content[name] = row;
      });
}

Entity Stage::entity_of(const Write& write) const {
  const LabsOwn own;
  Entity entity(write.partition_key, write.row_key);
  entity.set(property_of(write.kind), write.value);
  if (write.has_ended) entity.set("Until", DateTime{io::ManualClock::kDefaultWall - 1});
  return entity;
}

ETag Stage::condition(std::string_view table, const Write& write) const {
  if (!write.if_same) return ETag::any();
  const auto content = ledger_.content_at(UINT64_MAX);
  const auto found = content->find(entity_name(kAccount, table, write.partition_key, write.row_key));
  return found == content->end() ? ETag::any() : ETag::of_timestamp(DateTime{found->second.version});
}

void Stage::write(std::string_view table, Write write, Durability durability, std::string_view tag) {
  WriteOptions options;
  options.durability = durability;
  options.tag = tag;
  const ETag if_match = condition(table, write);
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<Table> opened = store_->open_table(kAccount, table);
    if (!opened.ok()) return opened.status();
    const Entity entity = entity_of(write);
    switch (write.kind) {
      case Kind::kInsert: return version_of(opened->insert(entity, options));
      case Kind::kReplace: return version_of(opened->replace(entity, if_match, options));
      case Kind::kMerge: return version_of(opened->merge(entity, if_match, options));
      case Kind::kInsertOrReplace: return version_of(opened->insert_or_replace(entity, options));
      case Kind::kInsertOrMerge: return version_of(opened->insert_or_merge(entity, options));
      case Kind::kPatch:
      case Kind::kInsertOrPatch:  // No script has patches.
      case Kind::kRemove: break;
    }
    if (Status removed = opened->remove(write.partition_key, write.row_key, if_match, options); !removed.ok()) {
      return removed;
    }
    return version_seen();
  };
  commit(describe("write", table, write), durability, act,
         [name = std::string(table), write, tag = std::string(tag)](Content& content, std::uint64_t version) {
           apply(content, name, write, version);
           if (!tag.empty()) content[std::string(kTagName)].properties["tag"] = tag;
         });
}

void Stage::batch(std::string_view table, std::vector<Write> writes, Durability durability) {
  EntityGroupTransaction transaction;
  for (const Write& write : writes) transaction.add({write.kind, entity_of(write), condition(table, write)});
  WriteOptions options;
  options.durability = durability;
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<Table> opened = store_->open_table(kAccount, table);
    if (!opened.ok()) return opened.status();
    const Result<std::vector<ETag>> etags = opened->execute(transaction, options);
    if (!etags.ok()) return etags.status();
    for (const ETag& etag : *etags) {
      if (!etag.is_none()) return etag.timestamp().ticks;
    }
    return version_seen();
  };
  const std::string what = describe("batch from", table, writes.front());
  commit(what, durability, act,
         [name = std::string(table), writes = std::move(writes)](Content& content, std::uint64_t version) {
           for (const Write& write : writes) apply(content, name, write, version);
         });
}

void Stage::transact(std::vector<std::pair<std::string, Write>> writes, Durability durability) {
  WriteOptions options;
  options.durability = durability;
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<StoreTransaction> transaction = store_->begin_transaction();
    if (!transaction.ok()) return transaction.status();
    for (const auto& [name, write] : writes) {
      const Result<Table> opened = store_->open_table(kAccount, name);
      if (!opened.ok()) return opened.status();
      const auto read = transaction->get(*opened, write.partition_key, write.row_key);
      if (!read.ok()) return read.status();
      const LabsOwn collecting;  // containers in the lab's code may throw
      switch (write.kind) {
        case Kind::kRemove: transaction->remove(*opened, write.partition_key, write.row_key, ETag::any()); break;
        case Kind::kInsert: transaction->insert(*opened, entity_of(write)); break;
        default: transaction->insert_or_replace(*opened, entity_of(write)); break;
      }
    }
    const Result<std::vector<ETag>> etags = transaction->commit(options);
    if (!etags.ok()) return etags.status();
    for (const ETag& etag : *etags) {
      if (!etag.is_none()) return etag.timestamp().ticks;
    }
    return version_seen();
  };
  commit("transaction", durability, act, [writes](Content& content, std::uint64_t version) {
    for (const auto& [name, write] : writes) apply(content, name, write, version);
  });
}

void Stage::fill(std::string_view table, std::string_view partition_key, int first, int count, std::size_t bytes,
                 Durability durability) {
  std::vector<Write> writes;
  for (int i = 0; i < count; ++i) {
    writes.push_back({Kind::kInsertOrReplace, std::string(partition_key), row_key_of(first + i), letters(bytes)});
    if (writes.size() == kBatch || i + 1 == count) batch(table, std::exchange(writes, {}), durability);
  }
}

void Stage::load(std::string_view table, int count, std::size_t bytes, int step, bool finish) {
  const std::vector<Write> writes = loaded_rows(count, bytes, step);
  const auto row_version = std::make_shared<std::uint64_t>(0);
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<Loader> loader = store_->load_table(kAccount, table);
    if (!loader.ok()) return loader.status();
    for (const Write& write : writes) {
      if (Status added = loader->add(entity_of(write)); !added.ok()) return added;
    }
    if (!finish) return version_seen();
    const Result<ETag> etag = loader->finish();
    if (!etag.ok()) return etag.status();
    *row_version = etag->timestamp().ticks;
    return version_seen();
  };
  commit("load " + std::string(table), Durability::kSync, act,
         [name = std::string(table), writes, row_version, finish](Content& content, std::uint64_t) {
           if (!finish) return;
           content[table_name(kAccount, name)] = {};
           for (const Write& write : writes) apply(content, name, write, *row_version);
         });
}

std::vector<Stage::Write> Stage::loaded_rows(int count, std::size_t bytes, int step) {
  std::vector<Write> writes;
  for (int i = 0; i < count; ++i) {
    writes.push_back({Kind::kInsertOrReplace, "loaded", row_key_of(i * step % count), letters(bytes)});
  }
  return writes;
}

// -- Other operations -----------------------------------------------------------------------------------------------

void Stage::sync() {
  if (!store_) return;
  const Status synced = call_or_tell([&] { return store_->sync(); });
  if (synced.ok()) ledger_.all_durable();
  (void)note(synced);
}

void Stage::compact() {
  if (!store_) return;
  (void)note(call_or_tell([&] { return store_->compact(); }));
}

void Stage::checkpoint(const std::string& path) {
  if (!store_) return;
  checkpoints_.push_back({path_of(path), std::nullopt});
  const std::string whole = path_of(path);
  const Result<CheckpointStatistics> made = call_or_tell([&] { return store_->checkpoint(whole); });
  if (made.ok()) {
    checkpoints_.back().version = made->version.ticks;
  } else {
    (void)note(made.status());
  }
}

void Stage::read_all() {
  if (!store_) return;
  const Result<Content> content = read_content(*store_);
  if (!content.ok()) {
    (void)note(content.status());
    return;
  }
  const std::string differs = difference(*ledger_.content_at(UINT64_MAX), *content);
  if (!differs.empty()) problem("a read of everything: " + differs);
}

}  // namespace varve::lab
