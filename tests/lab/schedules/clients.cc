#include "tests/lab/schedules/clients.h"

#include <algorithm>
#include <deque>
#include <set>

namespace varve::lab {
namespace {

using WriteKind = WriteOperation::Kind;

constexpr std::size_t kPaddingBytes = 3000;  // so that a small write buffer is flushed often

WriteOperation operation_of(WriteKind kind, Entity entity, ETag if_match = ETag::any()) {
  WriteOperation made;
  made.kind = kind;
  made.entity = std::move(entity);
  made.if_match = if_match;
  return made;
}

/// Returns the requirement of every successful operation: its table exists.
Requirement table_is_there() {
  return {0, true, 1};
}

}  // namespace

std::string partition_name(std::size_t object) {
  return "P" + std::to_string(object);
}

std::string row_name(std::size_t cell) {
  return "r" + std::to_string(cell);
}

Place Client::any_place(std::size_t objects) {
  const std::size_t object = below(objects);
  return {object, 1 + below(kRows)};
}

Entity Client::entity(const Place& at, std::int64_t value) {
  Entity made(partition_name(at.object), row_name(at.cell));
  made.set("V", value);
  if (io::one_in(random_, 2)) made.set("P", std::string(kPaddingBytes, static_cast<char>('a' + value % 26)));
  return made;
}

WriteOptions Client::options() {
  WriteOptions chosen;
  const bool is_durable = io::one_in(random_, 2) || world_.syncs_all;
  chosen.durability = is_durable ? Durability::kSync : Durability::kBuffered;
  if (io::one_in(random_, 12)) chosen.wait_max = std::chrono::milliseconds(0);
  return chosen;
}

void Client::run(int operations) {
  for (int i = 0; i < operations; ++i) {
    switch (below(22)) {
      case 0: write_side_by_side(); break;
      case 1:
      case 2: write_group(); break;
      case 3: remove_one(); break;
      case 4:
      case 5: transact(); break;
      case 6:
      case 7:
      case 8: read_one(); break;
      case 9: read_partition(); break;
      case 10: read_table(); break;
      case 11: read_snapshot(); break;
      case 16:
      case 17:
      case 18:
      case 19: use_names(); break;
      case 20: increment(); break;
      case 21: io::one_in(random_, 2) ? increment() : read_counter(); break;
      default: write_one(); break;
    }
  }
}

void Client::maintain(int operations) {
  for (int i = 0; i < operations; ++i) {
    switch (below(6)) {
      case 0: world_.excuses(world_.store->compact(), "compact"); break;
      case 1: world_.excuses(world_.store->sync(), "sync"); break;
      case 2: checkpoint(); break;
      case 3: read_snapshot(); break;
      default: create_or_drop(); break;
    }
  }
}

// -- Writes -------------------------------------------------------------------------------------------------------

void Client::end_write(std::size_t object, HistoryOperation operation, const Status& status, ETag etag) {
  operation.returned = recorder_.tick();
  if (!status.ok() && status.code() != Code::kUnknown) return end_refused(object, std::move(operation), status);
  operation.needs.push_back(table_is_there());
  if (!status.ok()) {
    if (!world_.excuses(status, "a write")) return;
    operation.certain = false;
    operation.returned = HistoryOperation::kNever;
  } else if (!etag.is_none()) {
    CommitRecord commit;
    commit.version = etag.timestamp().ticks;
    commit.invoked = operation.invoked;
    commit.returned = operation.returned;
    for (const Assignment& set : operation.sets) {
      if (!set.adds) commit.sets[{object, set.cell}] = set.value;
    }
    recorder_.add(std::move(commit));
  }
  recorder_.add(object, std::move(operation));
}

/// Ends a refused operation. A refusal reveals the state of one row: the row at the operation index of
/// ResourceNotFound, otherwise the first row of the operation.
void Client::end_refused(std::size_t object, HistoryOperation operation, const Status& status) {
  const std::vector<Requirement> needed = std::move(operation.needs);
  operation.needs = {table_is_there()};
  operation.sets.clear();
  operation.text += ": " + std::string(code_name(status.code()));
  if (status.service_error() == "TableNotFound") {
    operation.needs = {{0, true, 0}};
  } else if (status.service_error() == "EntityAlreadyExists") {
    operation.needs.push_back({needed.at(0).cell, false, 0});
  } else if (status.service_error() == "ResourceNotFound") {
    operation.needs.push_back({needed.at(status.operation_index().value_or(0)).cell, true, 0});
  } else if (status.service_error() == "UpdateConditionNotSatisfied") {
    operation.needs.push_back({needed.at(0).cell, false, needed.at(0).value});
    operation.needs.push_back({needed.at(0).cell, false, 0});
  } else {
    if (status.code() != Code::kBusy) world_.excuses(status, "a write");
    return;  // had no effect, and reveals nothing
  }
  recorder_.add(object, std::move(operation));
}

void Client::write_one() {
  const Place at = any_place();
  const std::int64_t value = recorder_.new_value();
  const Seen last = seen_[at];
  HistoryOperation operation;
  operation.sets = {{at.cell, value}};
  WriteOperation write = operation_of(WriteKind::kInsertOrReplace, entity(at, value));
  switch (below(5)) {
    case 0:
      write.kind = WriteKind::kInsert;
      operation.needs = {{at.cell, true, 0}};
      break;
    case 1:
    case 2:
      if (last.value == 0) break;
      write.kind = WriteKind::kReplace;
      write.if_match = last.etag;
      operation.needs = {{at.cell, true, last.value}};
      break;
    case 3:
      write.kind = WriteKind::kMerge;
      operation.needs = {{at.cell, false, 0}};
      break;
    default: break;
  }
  operation.text = "write " + std::to_string(static_cast<int>(write.kind));
  operation.invoked = recorder_.tick();
  const Result<ETag> etag = verbs(at.object).write(write, options());
  if (etag.ok()) seen_[at] = {value, *etag};
  end_write(at.object, std::move(operation), etag.status(), etag.ok() ? *etag : ETag());
}

/// One thread starts several writes at once. The moment of a write's end is known only when the thread asks for it.
void Client::write_side_by_side() {
  struct Begun {
    Place at;
    HistoryOperation operation;
    std::unique_ptr<test::Begun<Result<ETag>>> write;
  };
  std::deque<Begun> all;
  for (int i = 0; i < 3; ++i) {
    Begun one;
    one.at = any_place();
    const std::int64_t value = recorder_.new_value();
    one.operation.sets = {{one.at.cell, value}};
    one.operation.text = "asynchronous write";
    one.operation.invoked = recorder_.tick();
    one.write = std::make_unique<test::Begun<Result<ETag>>>(
        world_.scheduler(),
        AsyncTable(world_.table(one.at.object)).insert_or_replace(entity(one.at, value), options()));
    all.push_back(std::move(one));
  }
  for (Begun& one : all) {
    const Result<ETag> etag = one.write->take();
    end_write(one.at.object, std::move(one.operation), etag.status(), etag.ok() ? *etag : ETag());
  }
}

void Client::write_group() {
  const std::size_t object = below(kObjects);
  EntityGroupTransaction transaction;
  HistoryOperation operation;
  operation.text = "group";
  const std::size_t removed = io::one_in(random_, 2) ? 1 + below(kRows) : 0;
  if (removed != 0) {
    transaction.remove(partition_name(object), row_name(removed), ETag::any());
    operation.needs.push_back({removed, false, 0});
    operation.sets.push_back({removed, 0});
  }
  for (std::size_t cell = 1; cell <= kRows; ++cell) {
    if (cell == removed || io::one_in(random_, 3)) continue;
    const std::int64_t value = recorder_.new_value();
    transaction.insert_or_replace(entity({object, cell}, value));
    operation.sets.push_back({cell, value});
  }
  if (transaction.size() == (removed != 0 ? 1U : 0U)) return;  // the version of the transaction would not be known
  operation.invoked = recorder_.tick();
  const Result<std::vector<ETag>> etags = verbs(object).execute(transaction, options());
  end_write(object, std::move(operation), etags.status(), etags.ok() ? etags->back() : ETag());
}

/// Removes a row of the table without recorded versions, because a removal returns no version.
void Client::remove_one() {
  const Place at{kVolatileObject, 1 + below(kRows)};
  HistoryOperation operation;
  operation.text = "remove";
  operation.needs = {{at.cell, false, 0}};
  operation.sets = {{at.cell, 0}};
  operation.invoked = recorder_.tick();
  Entity named(partition_name(at.object), row_name(at.cell));
  const Status removed = verbs(at.object).write(operation_of(WriteKind::kRemove, std::move(named)), options()).status();
  end_write(at.object, std::move(operation), removed, ETag());
}

Status Client::check_partition(StoreTransaction& transaction, std::size_t object, CommitRecord& commit) {
  for (std::size_t cell = 1; cell <= kRows; ++cell) commit.reads[{object, cell}] = 0;
  Scan scan;
  scan.range = ScanRange::partition(partition_name(object));
  scan.backward = io::one_in(random_, 2);
  scan.page_entities_max = static_cast<std::uint32_t>(1 + below(kRows + 1));
  for (;;) {
    const Result<Page> page = transaction.scan_checked(world_.table(object), scan);
    if (!page.ok()) return page.status();
    for (const Entity& entity : page->entities) {
      commit.reads[{object, static_cast<std::size_t>(entity.row_key().at(1) - '0')}] = value_of(entity);
    }
    if (!page->continuation) return Status();
    scan.continuation = *page->continuation;
  }
}

void Client::transact() {
  Result<StoreTransaction> transaction = world_.store->begin_transaction();
  if (!world_.excuses(transaction.status(), "a transaction")) return;
  if (!transaction.ok()) return;
  CommitRecord commit;
  commit.read_version = transaction->version().ticks;
  for (std::size_t i = 1 + below(3); i > 0; --i) {
    const Place at = any_place(kFixedObjects);
    if (io::one_in(random_, 4)) {
      if (Status checked = check_partition(*transaction, at.object, commit); !checked.ok())
        return recorder_.broken("a checked scan: " + checked.to_string());
      continue;
    }
    const auto found = transaction->get(world_.table(at.object), partition_name(at.object), row_name(at.cell));
    if (!found.ok()) return recorder_.broken("a read of a transaction: " + found.status().to_string());
    commit.reads[at] = found->has_value() ? value_of(**found) : 0;
  }
  for (std::size_t i = 1 + below(3); i > 0; --i) {
    const Place at = any_place(kFixedObjects);
    if (commit.sets.contains(at)) continue;
    commit.sets[at] = recorder_.new_value();
    transaction->insert_or_replace(world_.table(at.object), entity(at, commit.sets[at]));
  }
  commit.invoked = recorder_.tick();
  const Result<std::vector<ETag>> etags = transaction->commit(options());
  commit.returned = recorder_.tick();
  const Code code = etags.code();
  if (code == Code::kConflict || code == Code::kBusy) return;
  if (!world_.excuses(etags.status(), "a transaction") || (!etags.ok() && code != Code::kUnknown)) return;
  for (std::size_t object = 0; object < kFixedObjects; ++object) {
    HistoryOperation operation;
    operation.invoked = commit.invoked;
    operation.certain = etags.ok();
    operation.returned = etags.ok() ? commit.returned : HistoryOperation::kNever;
    operation.text = "transaction";
    for (const auto& [at, value] : commit.reads) {
      if (at.object == object) operation.needs.push_back({at.cell, true, value});
    }
    for (const auto& [at, value] : commit.sets) {
      if (at.object == object) operation.sets.push_back({at.cell, value});
    }
    if (!operation.needs.empty() || !operation.sets.empty()) recorder_.add(object, std::move(operation));
  }
  if (!etags.ok()) return;
  commit.version = etags->front().timestamp().ticks;
  recorder_.add(std::move(commit));
}

void Client::create_or_drop() {
  HistoryOperation operation;
  operation.invoked = recorder_.tick();
  const bool drops = io::one_in(random_, 2);
  operation.text = drops ? "drop" : "create";
  const Status status = drops ? world_.store->drop_table("account", "Changing")
                              : world_.store->create_table("account", "Changing").status();
  operation.returned = recorder_.tick();
  operation.needs = {{0, true, drops == status.ok() ? 1 : 0}};
  if (status.ok() || status.code() == Code::kUnknown) {
    operation.needs = {{0, true, drops ? 1 : 0}};
    operation.sets = {{0, drops ? 0 : 1}};
    for (std::size_t cell = 1; drops && cell <= kRows; ++cell) operation.sets.push_back({cell, 0});
  } else if (status.code() != Code::kNotFound && status.code() != Code::kExists) {
    world_.excuses(status, "a creation or drop");
    return;
  }
  if (status.code() == Code::kUnknown) {
    if (!world_.excuses(status, "a creation or drop")) return;
    operation.certain = false;
    operation.returned = HistoryOperation::kNever;
  }
  recorder_.add(kVolatileObject, std::move(operation));
}

}  // namespace varve::lab
