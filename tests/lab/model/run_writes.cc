// Owns: the writes of a run (run.h): entities, entity group transactions, transactions over tables.
// Must never: decide the correct result. state.h decides it.
#include <algorithm>
#include <set>

#include "tests/lab/model/run.h"
#include "tests/lab/model/unique.h"

namespace varve::lab {
namespace {

using WriteKind = WriteOperation::Kind;

std::uint32_t below(io::SeededRandom& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(io::random_below(random, bound));
}

/// Changes one table by these writes.
void apply_to_table(State& state, const TableName& name, const std::vector<WriteOperation>& writes, ETag etag,
                    Planted planted) {
  auto table = std::make_shared<TableState>(*state.table(name));
  for (const WriteOperation& write : writes) apply(*table, write, etag, planted);
  state.accounts[name.account][name.lower] = std::move(table);
}

Expected blamed(Expected expected, std::size_t index) {
  expected.operation = static_cast<std::uint32_t>(index);
  return expected;
}

/// Returns the expected result of a group. Groups are planned so that at most one rule for the whole group is broken.
Expected judge_group(const TablePointer& table, const std::vector<WriteOperation>& writes, Planted planted) {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (writes[i].entity.partition_key() != writes[0].entity.partition_key()) {
      return {Code::kInvalidArgument, "CommandsInBatchActOnDifferentPartitions", static_cast<std::uint32_t>(i)};
    }
  }
  std::set<std::string> rows;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (rows.insert(writes[i].entity.row_key()).second) continue;
    return {Code::kInvalidArgument, "InvalidDuplicateRow", static_cast<std::uint32_t>(i)};
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (const Expected alone = judge_alone(writes[i], KeyProblem::kNone); !alone.fine()) return blamed(alone, i);
  }
  if (table == nullptr) return {Code::kNotFound, "TableNotFound", 0};
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (const Expected inside = judge_in(*table, writes[i], planted); !inside.fine()) return blamed(inside, i);
  }
  std::vector<JudgedWrite> judged;
  for (std::size_t i = 0; i < writes.size(); ++i)
    judged.push_back({"", table, writes[i], static_cast<std::uint32_t>(i)});
  return judge_values(judged, planted);
}

/// Judges a write that is the only one of its commit.
Expected judge_lone(const TablePointer& table, const WriteOperation& write, Planted planted) {
  if (table == nullptr) return {Code::kNotFound, "TableNotFound", {}};
  const Expected inside = judge_in(*table, write, planted);
  return inside.fine() ? judge_values(std::vector<JudgedWrite>{{"", table, write}}, planted) : inside;
}

}  // namespace

/// The number of partitions that transactions read and write.
constexpr std::uint32_t kReadPartitions = 4;

Run::Place Run::random_place(io::SeededRandom& random) {
  const std::uint32_t table = below(random, kTables);
  const std::uint32_t partition = below(random, kReadPartitions);
  return {table, partition, below(random, kLegalKeys)};
}

WriteOperation Run::planned_write(WriteKind kind, const TablePointer& table, const KeyText& partition,
                                  const KeyText& row, std::uint32_t entity, std::uint32_t condition) const {
  const bool is_patch = kind == WriteKind::kPatch;
  WriteOperation planned = is_patch ? patch_of(partition.text, row.text, entity) : WriteOperation();
  if (!is_patch) planned.kind = kind;
  if (!is_patch) planned.entity = entity_of(partition.text, row.text, entity);
  const Entity* const stored = table == nullptr ? nullptr : table->find(partition.text, row.text);
  const ETag old = ETag::of_timestamp(DateTime{(stored == nullptr ? version_ : stored->etag().timestamp().ticks) - 1});
  switch (condition_of(condition)) {
    case Condition::kCurrent: planned.if_match = stored == nullptr ? old : stored->etag(); break;
    case Condition::kAny: planned.if_match = ETag::any(); break;
    case Condition::kOld: planned.if_match = old; break;
    case Condition::kNone: break;
  }
  return planned;
}

void Run::write(OperationName operation, const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  if (!table || failed()) return;
  const TablePointer rows = table_now(name);
  const KeyText& partition = key_of(numbers[1]);
  const KeyText& row = key_of(numbers[2]);
  const auto kind = static_cast<WriteKind>(operation);
  const WriteOperation planned = planned_write(kind, rows, partition, row, numbers[3], numbers[4]);
  Expected expected = judge_alone(planned, std::max(partition.problem, row.problem));
  if (partition.problem == KeyProblem::kForbidden) expected = judge_alone(planned, KeyProblem::kForbidden);
  if (expected.fine()) {
    expected = judge_lone(rows, planned, planted_);
  }
  const std::string tag = tag_of(numbers[3]);
  bool durable = false;
  const Result<ETag> etag = table->write(planned, write_options(numbers[5], tag, &durable));
  const Planted planted = planted_;
  const bool done = settle(etag.status(), expected, durable, [name, planned, tag, planted](State& state, ETag given) {
    apply_to_table(state, name, {planned}, given, planted);
    if (!tag.empty()) state.tag = tag;
  });
  if (done && kind != WriteKind::kRemove && etag->timestamp().ticks != version_) {
    broken("a write: the ETag is not that of its version");
  }
}

void Run::patch(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  if (!table || failed()) return;
  const TablePointer rows = table_now(name);
  const KeyText& partition = key_of(numbers[1]);
  const KeyText& row = key_of(numbers[2]);
  const WriteOperation planned = planned_write(WriteKind::kPatch, rows, partition, row, numbers[3], numbers[4]);
  Expected expected = judge_alone(planned, std::max(partition.problem, row.problem));
  if (partition.problem == KeyProblem::kForbidden) expected = judge_alone(planned, KeyProblem::kForbidden);
  if (expected.fine()) {
    expected = judge_lone(rows, planned, planted_);
  }
  bool durable = false;
  const Result<Entity> patched = table->patch(planned, write_options(numbers[5], "", &durable));
  const Planted planted = planted_;
  const bool done = settle(patched.status(), expected, durable, [name, planned, planted](State& state, ETag given) {
    apply_to_table(state, name, {planned}, given, planted);
  });
  const Entity* const after = done ? state_->table(name)->find(partition.text, row.text) : nullptr;
  if (after != nullptr) compare_entity(*patched, *after, "a patch");
  count(expected.fine() ? "patches" : "patches refused");
}

void Run::group(const Numbers& numbers) {
  const TableName name = table_name(numbers[0]);
  std::optional<TableVerbs> table = verbs(name);
  if (!table || failed()) return;
  const TablePointer rows = table_now(name);
  io::SeededRandom random(numbers[2]);
  const std::uint32_t flaw = below(random, 24);
  const std::uint32_t planned_count = 1 + numbers[3] % 12;
  std::vector<WriteOperation> writes;
  EntityGroupTransaction transaction;
  std::set<std::uint32_t> used;
  for (std::uint32_t i = 0; i < planned_count; ++i) {
    const std::uint32_t row = below(random, kLegalKeys);
    const bool twice = !used.insert(row).second;
    if (twice && flaw != 0) continue;
    const std::uint32_t partition = flaw == 1 && i == 3 ? numbers[1] + 1 : numbers[1];
    const auto kind = static_cast<WriteKind>(flaw < 12 ? below(random, 6) : 3 + below(random, 2));
    const std::uint32_t drawn = below(random, 1 << 20) + (numbers[2] >= kLater ? kLater : 0);
    // all entities must fit into a small write buffer
    const std::uint32_t entity = i == 0 ? drawn : plain_entity(drawn);
    const std::uint32_t condition = flaw == 2 ? below(random, 6) : below(random, 5);
    writes.push_back(planned_write(kind, rows, key_of(partition % kLegalKeys), key_of(row), entity, condition));
    transaction.add(writes.back());
  }
  const Expected expected = judge_group(rows, writes, planted_);
  const std::string tag = tag_of(numbers[2]);
  bool durable = false;
  const Result<std::vector<ETag>> etags = table->execute(transaction, write_options(numbers[4], tag, &durable));
  const Planted planted = planted_;
  settle(etags.status(), expected, durable, [name, writes, tag, planted](State& state, ETag given) {
    apply_to_table(state, name, writes, given, planted);
    if (!tag.empty()) state.tag = tag;
  });
  count(expected.fine() ? "groups" : "groups refused");
}

void Run::transact(const Numbers& numbers) {
  Result<StoreTransaction> transaction = store_->begin_transaction();
  if (!transaction.ok()) return broken("a transaction: " + transaction.status().to_string());
  if (transaction->version().ticks != version_) return broken("a transaction: it does not begin at the newest version");
  io::SeededRandom random(numbers[0]);
  std::vector<Place> reads;
  for (std::uint32_t i = 0; i < numbers[2] % 8 && !failed(); ++i) {
    const Place at = random_place(random);
    if (read_in(*transaction, at)) reads.push_back(at);
  }
  bool conflicts = false;
  if (const std::uint32_t interference = numbers[3] % 3; interference != 0 && !reads.empty() && !failed()) {
    Place at = reads[below(random, static_cast<std::uint32_t>(reads.size()))];
    if (interference == 2) at.partition += kReadPartitions;  // a partition that no transaction read
    const std::uint64_t before = version_;
    write(OperationName::kInsertOrReplace, {at.table, at.partition, at.row, plain_entity(0), 0, numbers[4]});
    conflicts = interference == 1 && version_ != before;
  }
  if (!failed()) commit_writes(numbers, random, conflicts, *transaction);
}

/// Returns false if there was nothing to read.
bool Run::read_in(StoreTransaction& transaction, const Place& at) {
  const TablePointer rows = table_now(table_name(at.table));
  std::optional<TableVerbs> table = verbs(table_name(at.table));
  if (!table || rows == nullptr || failed()) return false;
  const std::string& partition = key_of(at.partition).text;
  const std::string& row = key_of(at.row).text;
  const Result<std::optional<Entity>> found = transaction.get(table->table(), partition, row);
  if (!found.ok()) {
    broken("a read of a transaction: " + found.status().to_string());
    return false;
  }
  const Entity* const stored = rows->find(partition, row);
  if (found->has_value() != (stored != nullptr)) broken("a read of a transaction: an entity's being there differs");
  if (stored != nullptr && !failed()) compare_entity(**found, *stored, "a read of a transaction");
  return true;
}

void Run::commit_writes(const Numbers& numbers, io::SeededRandom& random, bool conflicts,
                        StoreTransaction& transaction) {
  std::vector<std::pair<TableName, WriteOperation>> writes;
  std::vector<JudgedWrite> judged;
  std::set<std::array<std::uint32_t, 3>> used;
  Expected expected;
  for (std::uint32_t i = 0; i < numbers[1] % 8; ++i) {
    const Place at = random_place(random);
    const TableName name = table_name(at.table);
    const TablePointer rows = table_now(name);
    std::optional<TableVerbs> table = verbs(name);
    if (!table || rows == nullptr || failed()) continue;
    if (!used.insert({at.table, at.partition, at.row}).second) continue;
    // If there is a conflict, no other rule is broken, so that the expected error is unique.
    const auto kind = conflicts ? WriteKind::kInsertOrReplace : static_cast<WriteKind>(below(random, 6));
    const std::uint32_t entity = plain_entity(below(random, 1 << 20) + (numbers[0] >= kLater ? kLater : 0));
    WriteOperation planned = planned_write(kind, rows, key_of(at.partition), key_of(at.row), entity, below(random, 5));
    if (expected.fine()) {
      expected = judge_in(*rows, planned, planted_);
      if (!expected.fine()) expected = blamed(expected, writes.size());
    }
    transaction.add(table->table(), planned);
    judged.push_back({name.account + "/" + name.lower, rows, planned, static_cast<std::uint32_t>(writes.size())});
    writes.emplace_back(name, std::move(planned));
  }
  if (writes.empty()) return;
  if (expected.fine()) expected = judge_values(judged, planted_);
  if (conflicts) {
    expected = {Code::kConflict, "", {}, std::move(expected.taken), expected.code == Code::kTooLarge};
    for (TakenByModel& taken : expected.taken) taken.is_certain = false;
  }
  bool durable = false;
  const Result<std::vector<ETag>> etags = transaction.commit(write_options(numbers[4], "", &durable));
  const Planted planted = planted_;
  settle(etags.status(), expected, durable, [writes, planted](State& state, ETag given) {
    for (const auto& [name, write] : writes) apply_to_table(state, name, {write}, given, planted);
  });
  count(conflicts ? "transactions in conflict" : "transactions");
}

}  // namespace varve::lab
