// Owns: the operations of a run (run.h) on whole tables and accounts, and on the open store.
// Must never: end the store. run_machine.cc does that.
#include <algorithm>
#include <utility>

#include "tests/lab/content/index_comparison.h"
#include "tests/lab/model/run.h"
#include "tests/lab/model/unique.h"
#include "varve/loader.h"

namespace varve::lab {

void Run::create_table(std::uint32_t number) {
  const TableName name = table_name(number);
  Expected expected;
  if (!state_->accounts.contains(name.account)) {
    expected = {Code::kNotFound, "ResourceNotFound", {}};
  } else if (state_->table(name) != nullptr) {
    expected = {Code::kExists, "TableAlreadyExists", {}};
  }
  const Result<Table> created = store_->create_table(name.account, name.spelling);
  const std::string at = name.account + "/" + name.lower;
  const auto dead = planted_ == Planted::kDropKeepsEntities ? graveyard_.find(at) : graveyard_.end();
  const TablePointer risen = dead == graveyard_.end() ? nullptr : dead->second;
  settle(created.status(), expected, true, [name, risen](State& state, ETag) {
    auto table = std::make_shared<TableState>();
    if (risen != nullptr) table->rows = risen->rows;
    table->spelling = name.spelling;
    state.accounts[name.account][name.lower] = std::move(table);
  });
  if (created.ok() && !failed()) handles_.insert_or_assign(at, *created);
}

void Run::drop_table(std::uint32_t number) {
  const TableName name = table_name(number);
  const TablePointer table = state_->table(name);
  Expected expected;
  if (table == nullptr) expected = {Code::kNotFound, "ResourceNotFound", {}};
  const Status dropped = store_->drop_table(name.account, name.spelling);
  const bool done =
      settle(dropped, expected, true, [name](State& state, ETag) { state.accounts[name.account].erase(name.lower); });
  if (!done) return;
  graveyard_[name.account + "/" + name.lower] = table;
  count("tables dropped");
}

void Run::create_account(std::uint32_t number) {
  const std::string account = account_name(number);
  Expected expected;
  if (state_->accounts.contains(account)) expected = {Code::kExists, "ResourceAlreadyExists", {}};
  settle(store_->create_account(account), expected, true, [account](State& state, ETag) { state.accounts[account]; });
}

void Run::drop_account(std::uint32_t number) {
  const std::string account = account_name(number);
  Expected expected;
  if (!state_->accounts.contains(account)) expected = {Code::kNotFound, "ResourceNotFound", {}};
  settle(store_->drop_account(account), expected, true,
         [account](State& state, ETag) { state.accounts.erase(account); });
}

void Run::list(std::uint32_t page) {
  ListOptions options;
  options.page_names_max = page % 3 + 1;
  std::vector<std::string> expected;
  std::vector<std::string> found;
  for (const auto& [account, tables] : state_->accounts) {
    options.continuation.clear();
    for (const auto& [lower, table] : tables) expected.push_back(account + "/" + table->spelling);
    for (;;) {
      const Result<TablePage> part = store_->list_tables(account, options);
      if (!part.ok()) return broken("a listing: " + part.status().to_string());
      for (const TableInfo& table : part->tables) found.push_back(account + "/" + table.name);
      if (!part->continuation) break;
      options.continuation = *part->continuation;
    }
  }
  if (found != expected) broken("a listing: it differs");
  for (const std::string& name : found) answer(name);
}

void Run::set_policies(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  Expected expected;
  if (state_->table(name) == nullptr) expected = {Code::kNotFound, "", {}};
  const std::vector<AccessPolicy> policies = policies_of(numbers[1]);
  settle(store_->set_access_policies(name.account, name.spelling, policies), expected, true,
         [name, policies](State& state, ETag) {
           auto table = std::make_shared<TableState>(*state.table(name));
           table->policies = policies;
           state.accounts[name.account][name.lower] = std::move(table);
         });
}

void Run::read_policies(std::uint32_t number) {
  const TableName name = table_name(number);
  const TablePointer table = state_->table(name);
  const Result<std::vector<AccessPolicy>> policies = store_->access_policies(name.account, name.spelling);
  answer(policies.status());
  if (policies.ok() != (table != nullptr)) return broken("policies: " + policies.status().to_string());
  if (policies.ok() && *policies != table->policies) broken("policies: they differ");
}

namespace {

enum class LoadEnd : std::uint8_t { kFinish, kAbort, kLetGo, kInterfere, kDuplicate, kFinishToo, kFinishThree };
constexpr std::uint32_t kLoadEnds = 7;

std::vector<Entity> entities_to_load(std::uint32_t seed, std::uint32_t count, bool duplicate) {
  io::SeededRandom random(seed);
  std::vector<Entity> entities;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string& partition = key_of(i * 4 / count).text;
    const std::string row = std::to_string(10'000 + i);
    const auto number = static_cast<std::uint32_t>(random.next() >> 40);
    entities.push_back(entity_of(partition, row, plain_entity(number + (seed >= kLater ? kLater : 0))));
  }
  if (duplicate && !entities.empty()) entities.push_back(entities.front());
  if (seed % 2 == 1 || duplicate) {
    for (std::size_t i = entities.size(); i > 1; --i) std::swap(entities[i - 1], entities[io::random_below(random, i)]);
  }
  return entities;
}

/// Returns whether the table has a unique index, whose values a load does not compare.
bool may_refuse_loads(const TableState& table) {
  return std::any_of(table.indexes.begin(), table.indexes.end(),
                     [](const auto& index) { return may_refuse(index.second); });
}

bool refuses_loads(const TableState& table) {
  return std::any_of(table.indexes.begin(), table.indexes.end(),
                     [](const auto& index) { return may_refuse(index.second) && index.second.state.has_value(); });
}

}  // namespace

void Run::load(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  const auto end = static_cast<LoadEnd>(numbers[3] % kLoadEnds);
  Expected expected;
  const TablePointer table = table_now(name);
  if (!state_->accounts.contains(name.account)) {
    expected = {Code::kNotFound, "ResourceNotFound", {}};
  } else if (table != nullptr && refuses_loads(*table)) {
    expected = {Code::kInvalidArgument, "InvalidInput", {}};
  } else if (table != nullptr && !table->rows.empty()) {
    expected = {Code::kExists, "TableAlreadyExists", {}};
  }
  Result<Loader> loader = store_->load_table(name.account, name.spelling);
  if (table != nullptr && may_refuse_loads(*table) && loader.status().service_error() == "InvalidInput") {
    return count("loads refused by unique indexes");
  }
  if (!settle(loader.status(), expected, true, [](State&, ETag) {})) return;
  count("loads begun");
  const std::vector<Entity> entities = entities_to_load(numbers[1], numbers[2] % 64, end == LoadEnd::kDuplicate);
  if (!fill(*loader, entities)) return;
  if (end == LoadEnd::kAbort) return loader->abort();
  if (end == LoadEnd::kLetGo) return;
  const std::uint64_t began = version_;
  if (end == LoadEnd::kInterfere) {
    if (table == nullptr) {
      create_table(numbers[0]);
    } else {
      write(OperationName::kInsertOrReplace, {numbers[0], 0, 0, 0, 0, 0});
    }
  }
  if (!failed()) finish_load(numbers, *loader, entities, version_ != began);
}

/// Returns false if an entity ended the load. Only a repeated key or a fault may end it.
bool Run::fill(Loader& loader, const std::vector<Entity>& entities) {
  for (const Entity& entity : entities) {
    const Status added = loader.add(entity);
    if (added.ok()) continue;
    if (!is_excused(added) && added.service_error() != "EntityAlreadyExists") {
      broken("a load: " + added.to_string());
    }
    return false;
  }
  return true;
}

void Run::finish_load(const Numbers& numbers, Loader& loader, const std::vector<Entity>& entities, bool refused) {
  const TableName name = table_name(numbers[0]);
  const std::uint64_t etag = version_;
  std::vector<RowPointer> rows;
  bool twice = false;
  for (Entity entity : entities) {
    entity.set_etag(ETag::of_timestamp(DateTime{etag}));
    Units units{code_units(entity.partition_key()), code_units(entity.row_key())};
    rows.push_back(std::make_shared<const ModelRow>(ModelRow{std::move(units), std::move(entity)}));
  }
  std::sort(rows.begin(), rows.end(), [](const RowPointer& a, const RowPointer& b) { return a->units < b->units; });
  for (std::size_t i = 1; i < rows.size(); ++i) twice = twice || rows[i - 1]->units == rows[i]->units;
  Expected expected;
  if (refused) expected = {Code::kExists, "TableAlreadyExists", {}};
  if (twice) expected = {Code::kExists, "EntityAlreadyExists", {}};
  const Planted planted = planted_;
  const Change change = [name, rows, planted](State& state, ETag given) {
    const TablePointer before = state.table(name);
    auto table = before == nullptr ? std::make_shared<TableState>() : std::make_shared<TableState>(*before);
    if (before == nullptr) table->spelling = name.spelling;
    table->rows.clear();
    for (const RowPointer& row : rows) {
      const std::uint64_t end = end_of(*table, row->entity, row->entity.etag().timestamp().ticks, planted);
      if (end <= given.timestamp().ticks) continue;
      table->rows.push_back(std::make_shared<const ModelRow>(ModelRow{row->units, row->entity, end}));
    }
    for (auto& [index, row] : table->indexes) {
      if (!row.definition.is_unique) row.state.reset();  // They are built after the commit.
    }
    state.accounts[name.account][name.lower] = std::move(table);
  };
  bool is_visible = false;
  bool is_interrupted = false;
  const Numbers meanwhile = {numbers[0], numbers[1], numbers[1] / 16, numbers[2], 0, 0};
  const Result<ETag> finished = loader.finish([&](const IndexBuildProgress& /*progress*/) {
    if (!std::exchange(is_visible, true)) {
      (void)settle(Status(), expected, true, change);
    } else {
      note_builds_of_load();
    }
    return !failed() && (std::exchange(is_interrupted, true) || !interrupt_build(meanwhile) || !stops(meanwhile));
  });
  if (failed()) return;
  if (finished.code() == Code::kBusy) return count("loads without a place");
  if (!is_visible && !settle(finished.status(), expected, true, change)) return;
  if (!finished.ok()) return broken("a load: its entities were visible, and then " + finished.status().to_string());
  if (finished->timestamp().ticks != etag) broken("a load: its ETag is not of its beginning");
  note_builds_of_load();
  settle_builds_of_load(name, loader.unbuilt_indexes(), is_interrupted && stops(meanwhile));
  count("loads finished");
}

void Run::checkpoint(std::uint32_t write) {
  const std::string path = machine_->files->path("checkpoint" + std::to_string(checkpoints_++));
  const Result<CheckpointStatistics> made = store_->checkpoint(path);
  if (is_excused(made.status())) return;
  if (!made.ok()) return broken("a checkpoint: " + made.status().to_string());
  if (made->version.ticks != version_) return broken("a checkpoint: it is not of the newest version");
  promised_ = version_;
  if (misfortune_) return;
  const std::string differs = index_difference(machine_->env(), path, false);
  if (!differs.empty()) return broken("a checkpoint: " + differs);
  StoreOptions chosen = options(machine_->env());
  chosen.create_if_absent = false;
  const Result<std::unique_ptr<Store>> opened = Store::open(path, chosen);
  if (!opened.ok()) return broken("a checkpoint: " + opened.status().to_string());
  compare_store(**opened, *state_, "a checkpoint");
  if (!failed() && write % 2 == 1) {
    const Status changed = (*opened)->drop_account(account_name(0));
    if (changed.ok() != state_->accounts.contains(account_name(0))) broken("a checkpoint: " + changed.to_string());
  }
  count("checkpoints");
}

void Run::compact() {
  const Status done = store_->compact();
  if (!done.ok() && !is_excused(done)) return broken("compaction: " + done.to_string());
  count("compactions");
}

void Run::sync() {
  const Status done = store_->sync();
  if (!done.ok() && !is_excused(done)) return broken("sync: " + done.to_string());
  if (done.ok()) promised_ = version_;
}

void Run::last_tag() {
  const Result<std::optional<std::string>> tag = store_->last_tag();
  if (!tag.ok() || *tag != state_->tag) return broken("the last tag differs");
  answer(*tag ? **tag : "none");
}

}  // namespace varve::lab
