// Owns: the operations of a run (run.h) on indexes of tables and on the expiry of tables, and the queries of indexes.
// Must never: expect another answer because there is an index.
#include <algorithm>
#include <array>
#include <utility>

#include "tests/api/filter/slow_filter.h"
#include "tests/lab/model/run.h"
#include "tests/lab/model/unique.h"

namespace varve::lab {
namespace {

/// What happens between two parts of a build. Most builds go on alone.
enum class Meanwhile : std::uint8_t { kStop, kWrite, kWriteToo, kDropIndex, kDropTable };
constexpr std::uint32_t kMeanwhiles = 10;

/// Returns a filter that says something of each component.
test::SlowFilter index_filter(const IndexDefinition& definition, std::uint32_t seed) {
  constexpr std::array<const char*, 6> kOperators = {"eq", "eq", "ge", "gt", "le", "ne"};
  test::RandomEngine random(seed);
  test::SlowFilter all;
  for (const IndexComponent& component : definition.components) {
    test::SlowFilter one;
    one.kind = test::SlowFilter::Kind::kComparison;
    one.property = component.property;
    one.operator_name = kOperators[random() % kOperators.size()];
    one.literal = test::random_literal(random);
    if (component.property.ends_with("Key"))
      one.literal = Value(key_of(static_cast<std::uint32_t>(random() % kLegalKeys)).text);
    if (component.property == "Timestamp" && random() % 4 != 0) {
      one.operator_name = "ge";
      one.literal = Value(DateTime{limits::kDateTimeTicksMin});
    }
    if (component.property == "Tag") one.literal = tag_value(static_cast<std::uint32_t>(random()));
    if (component.property == "Count") one.literal = Value(std::int32_t{static_cast<std::int32_t>(random() % 9)});
    test::SlowFilter both;
    both.kind = test::SlowFilter::Kind::kAnd;
    both.children = {std::move(one), std::move(all)};  // The first `all` is `true`.
    all = std::move(both);
  }
  return all;
}

}  // namespace

void Run::set_index(const TableName& name, const IndexDefinition& definition, std::optional<IndexState> state) {
  auto next = std::make_shared<State>(*state_);
  auto table = std::make_shared<TableState>(*next->table(name));
  IndexRow& row = table->indexes.try_emplace(definition.name, IndexRow{{}, {}, version_}).first->second;
  row.definition = definition;
  row.state = state;
  next->accounts[name.account][name.lower] = std::move(table);
  state_ = std::move(next);
  history_[version_] = state_;
}

void Run::note_build(const TableName& name, const IndexDefinition& definition, std::optional<IndexState> reached) {
  const std::uint64_t before = version_;
  const std::uint64_t version = visible().ticks;
  if (version == before || failed()) return;
  if (version < highest_) return broken("a build: its version is not above all others");
  version_ = highest_ = acknowledged_ = version;
  set_index(name, definition, std::nullopt);
  builds_[version] = {before, state_};
  set_index(name, definition, reached);
}

bool Run::interrupt_build(const Numbers& numbers) {
  const std::uint64_t before = version_;
  switch (static_cast<Meanwhile>(numbers[2] % kMeanwhiles)) {
    case Meanwhile::kStop: return true;
    case Meanwhile::kWrite:
    case Meanwhile::kWriteToo:
      write(OperationName::kInsertOrReplace,
            {numbers[0], numbers[3], numbers[3], plain_entity(numbers[2] + (numbers[1] >= kLater ? kLater : 0)), 0, 1});
      return false;
    case Meanwhile::kDropIndex: drop_index(numbers); return version_ != before;
    case Meanwhile::kDropTable: drop_table(numbers[0]); return version_ != before;
    default: return false;
  }
}

bool Run::stops(const Numbers& numbers) {
  return static_cast<Meanwhile>(numbers[2] % kMeanwhiles) == Meanwhile::kStop;
}

void Run::note_builds_of_load() {
  const std::uint64_t version = visible().ticks;
  if (version == version_ || failed()) return;
  if (version < highest_) return broken("a build of a load: its version is not above all others");
  builds_[version] = {version_, state_};
  version_ = highest_ = acknowledged_ = promised_ = version;
  history_[version_] = state_;
}

void Run::settle_builds_of_load(const TableName& name, const std::vector<UnbuiltIndex>& unbuilt, bool is_stopped) {
  if (failed() || state_->table(name) == nullptr) return;
  const std::map<std::string, IndexRow> indexes = state_->table(name)->indexes;
  const bool are_known = unbuilt.empty() || !unbuilt.front().name.empty();
  for (const auto& [index, row] : indexes) {
    if (row.definition.is_unique) continue;  // Its build has failed, or it would have refused the load.
    const auto left = std::find_if(unbuilt.begin(), unbuilt.end(),
                                   [&index = index](const UnbuiltIndex& each) { return each.name == index; });
    if (left == unbuilt.end() && are_known) {
      count("builds of loads");
      set_index(name, row.definition, IndexState::kReady);
    } else if (left != unbuilt.end() && left->reason.code() == Code::kCancelled && is_stopped) {
      count("builds of loads, stopped");
      set_index(name, row.definition, IndexState::kBuilding);
    }
  }
  for (const UnbuiltIndex& left : unbuilt) {
    if (left.reason.code() == Code::kCancelled && is_stopped) continue;
    if (!is_excused(left.reason)) return broken("a build of a load: " + left.name + ": " + left.reason.to_string());
    count("builds of loads, refused by misfortunes");
    // The commit that ends a build may have happened. No version of it has other entities.
    if (left.reason.code() == Code::kUnknown && !unknown_) unknown_ = [](State&, ETag) {};
  }
}

void Run::declare_index(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  const IndexDefinition definition = index_of(numbers[1]);
  const TablePointer table = state_->table(name);
  const auto present =
      table == nullptr ? std::map<std::string, IndexRow>::const_iterator() : table->indexes.find(definition.name);
  const bool is_there = table != nullptr && present != table->indexes.end();
  Expected expected;
  if (table == nullptr) expected = {Code::kNotFound, "", {}};
  if (is_there && present->second.definition != definition) expected = {Code::kExists, "ResourceAlreadyExists", {}};
  const bool is_failed = is_there && present->second.state == IndexState::kFailed;
  const bool is_doubtful = is_there && !present->second.state;
  bool may_fail = definition.is_unique && expected.fine() &&
                  (is_failed || is_doubtful || breaks_index(*table_now(name), definition));
  if (planted_ == Planted::kSharedValues) may_fail = false;
  const std::uint64_t before = version_;
  bool is_interrupted = false;
  const Status ended =
      store_->create_index(name.account, name.spelling, definition, [&](const IndexBuildProgress& /*progress*/) {
        note_build(name, definition, IndexState::kBuilding);
        if (failed() || std::exchange(is_interrupted, true) || !interrupt_build(numbers)) return !failed();
        expected = {stops(numbers) ? Code::kCancelled : Code::kNotFound, "", {}};
        return !stops(numbers);
      });
  if (failed()) return;
  const bool has_table = state_->table(name) != nullptr;
  if (is_excused(ended)) {
    count("builds refused by misfortunes");
    if (has_table && expected.fine()) note_build(name, definition, std::nullopt);
    if (ended.code() != Code::kUnknown || !expected.fine()) return;
    if (unknown_) return broken("a second commit ended Unknown: " + ended.to_string());
    unknown_ = [name, definition](State& state, ETag) {
      auto changed = std::make_shared<TableState>(*state.table(name));
      changed->indexes[definition.name] = {definition, std::nullopt};
      state.accounts[name.account][name.lower] = std::move(changed);
    };
    return;
  }
  answer(code_name(ended.code()));
  if (ended.code() == Code::kConflict) return settle_failed_build(name, definition, ended, may_fail);
  if (ended.code() != expected.code) {
    return broken("a build: expected " + std::string(code_name(expected.code)) + ", found " + ended.to_string());
  }
  if (expected.code == Code::kCancelled && !is_there) promised_ = std::max(promised_, before + 1);
  count(expected.fine() ? "builds" : "builds refused or ended");
  if (!expected.fine()) return;
  if (version_ != visible().ticks) {
    note_build(name, definition, IndexState::kReady);
    promised_ = version_;
  }
  if (definition.is_unique && (is_failed || breaks_index(*table_now(name), definition))) {
    return broken("a build: the index " + definition.name + " is ready, but two entities have one value");
  }
  set_index(name, definition, IndexState::kReady);
}

void Run::settle_failed_build(const TableName& name, const IndexDefinition& definition, const Status& ended,
                              bool is_expected) {
  if (!is_expected) return broken("a build failed in vain: " + ended.to_string());
  const TakenValue* const taken = ended.taken_value();
  if (taken != nullptr) {
    const bool is_named = taken->index == definition.name && taken->has_keys &&
                          table_now(name)->find(taken->partition_key, taken->row_key) != nullptr;
    if (!is_named) return broken("a build: it does not name an entity that has the value: " + ended.to_string());
  }
  const std::uint64_t before = version_;
  note_build(name, definition, IndexState::kFailed);
  if (version_ != before) promised_ = version_;
  set_index(name, definition, IndexState::kFailed);
  count("builds that found a value twice");
}

void Run::drop_index(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  const std::string index = index_of(numbers[1]).name;
  const TablePointer table = state_->table(name);
  Expected expected;
  if (table == nullptr || !table->indexes.contains(index)) expected = {Code::kNotFound, "", {}};
  const bool done =
      settle(store_->drop_index(name.account, name.spelling, index), expected, true, [name, index](State& state, ETag) {
        auto changed = std::make_shared<TableState>(*state.table(name));
        changed->indexes.erase(index);
        state.accounts[name.account][name.lower] = std::move(changed);
      });
  if (done) count("indexes dropped");
}

void Run::query_index(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  const TablePointer rows = table_now(name);
  if (!table || rows == nullptr || failed()) return;
  const IndexDefinition drawn = index_of(numbers[1]);
  const auto index = rows->indexes.find(drawn.name);
  const IndexDefinition& definition = index == rows->indexes.end() ? drawn : index->second.definition;
  const test::SlowFilter filter = index_filter(definition, numbers[2]);
  Scan wanted;
  wanted.filter = filter.text();
  if (numbers[1] / 8 % 2 == 1) wanted.read.select = selection();
  if (numbers[3] != 0) wanted.page_entities_max = numbers[3] % 20 + 1;
  const auto matches = [&filter](const Entity& entity) { return filter.matches(entity); };
  const std::vector<RowPointer> expected = rows_in(*rows, wanted.range, matches);
  compare_scan(*table, wanted, expected, "a query of an index");
  if (!failed()) compare_order(*table, wanted, expected, definition, numbers[2]);
  if (!failed()) compare_aggregates(*table, wanted, expected, definition.components.front().property);
  const bool is_ready = index != rows->indexes.end() && index->second.state == IndexState::kReady;
  count(is_ready ? "queries with an index" : "queries without an index");
  const std::optional<Held>& held = held_[numbers[4] % kSlots];
  const TablePointer then = held ? held->state->table(name) : nullptr;
  if (then == nullptr || failed()) return;
  std::string handle = name.account;
  handle.append("/").append(name.lower);
  TableVerbs earlier(held->tables.at(handle), machine_->scheduler(), profile_.asynchronous);
  wanted.read.snapshot = held->snapshot;
  compare_scan(earlier, wanted, rows_in(*then, wanted.range, matches), "a query of an index at a snapshot");
  count("queries at snapshots");
}

void Run::set_expiry(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  const std::optional<TableExpiry> rule = expiry_of(numbers[1]);
  Expected expected;
  if (state_->table(name) == nullptr) expected = {Code::kNotFound, "", {}};
  const bool done = settle(store_->set_table_expiry(name.account, name.spelling, rule), expected, true,
                           [name, rule](State& state, ETag) {
                             auto changed = std::make_shared<TableState>(*state.table(name));
                             changed->expiry = rule;
                             state.accounts[name.account][name.lower] = std::move(changed);
                           });
  if (done) count("rules of expiry");
}

void Run::compare_indexes(Store& store, const TableState& table, const TableName& name, const char* where) {
  const Result<std::optional<TableExpiry>> expiry = store.table_expiry(name.account, name.lower);
  if (!expiry.ok() || *expiry != table.expiry) return broken(std::string(where) + ": the expiry differs");
  const Result<std::vector<IndexInfo>> indexes = store.indexes(name.account, name.lower);
  if (!indexes.ok()) return broken(std::string(where) + ": indexes: " + indexes.status().to_string());
  if (indexes->size() != table.indexes.size()) return broken(std::string(where) + ": the number of indexes differs");
  for (const IndexInfo& found : *indexes) {
    const auto row = table.indexes.find(found.definition.name);
    const bool is_same = row != table.indexes.end() && row->second.definition == found.definition &&
                         row->second.state.value_or(found.state) == found.state;
    if (!is_same) return broken(std::string(where) + ": an index differs: " + found.definition.name);
  }
}

}  // namespace varve::lab
