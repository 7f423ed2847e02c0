// Owns: the writes of transactions over any partitions and tables, and their commit (store_transaction.h).
// Must never: take a lock before all checks that need no lock, or read anything under a lock that it does not check.
#include "varve/store_transaction.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/commit/commit.h"
#include "api/model/guarded.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/write/entity_change.h"
#include "api/write/entity_write.h"
#include "api/write/store_transaction_state.h"
#include "api/write/transaction_change.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

using Kind = WriteOperation::Kind;

Status blamed(const Status& status, std::size_t index) {
  return status.at_operation(static_cast<std::uint32_t>(index));
}

Status check_each_entity_once(std::span<const PreparedWrite> writes) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (seen.emplace(writes[i].sort_key(), i).second) continue;
    return blamed(service_error::duplicate_row("the transaction writes the entity " +
                                               quoted_keys(writes[i].sort_key()) + " twice"),
                  i);
  }
  return Status();
}

Status some_table_was_dropped() {
  return service_error::table_not_found(
      "a table or container that the transaction reads or writes was dropped before the commit");
}

}  // namespace

StoreTransaction::StoreTransaction(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
StoreTransaction::StoreTransaction(StoreTransaction&&) noexcept = default;
StoreTransaction& StoreTransaction::operator=(StoreTransaction&&) noexcept = default;
StoreTransaction::~StoreTransaction() = default;

DateTime StoreTransaction::version() const noexcept {
  return state_->began_at;
}

// -- Writes -----------------------------------------------------------------------------------------------------------

StoreTransaction& StoreTransaction::add(const Table& table, WriteOperation operation) {
  state_->writes.push_back({table.state_, std::move(operation), state_->next_place()});
  return *this;
}

StoreTransaction& StoreTransaction::add(MessageWrite write) {
  state_->messages.push_back({std::move(write), state_->next_place()});
  return *this;
}

StoreTransaction& StoreTransaction::add(BlobWrite write) {
  state_->blobs.push_back({std::move(write), state_->next_place()});
  return *this;
}

const std::vector<SentMessage>& StoreTransaction::sent_messages() const& noexcept {
  return state_->sent;
}

const std::vector<BlobState>& StoreTransaction::written_blobs() const& noexcept {
  return state_->written;
}

const std::vector<Entity>& StoreTransaction::patched_entities() const& noexcept {
  return state_->patched;
}

std::size_t StoreTransaction::size() const noexcept {
  return state_->next_place();
}

// -- Commit -----------------------------------------------------------------------------------------------------------

Status StoreTransaction::State::check_not_ended() const {
  if (!ended) return Status();
  return service_error::invalid_input("the transaction has ended; begin another one");
}

/// Checks and encodes each write, without its table.
Result<std::vector<PreparedWrite>> StoreTransaction::State::prepare() const {
  std::vector<PreparedWrite> prepared;
  prepared.reserve(writes.size());
  std::map<const Table::State*, Grant> grants;  // The rules of each handle are evaluated once.
  for (std::size_t i = 0; i < writes.size(); ++i) {
    auto grant = grants.find(writes[i].table.get());
    if (grant == grants.end()) {
      Result<Grant> granted = writes[i].table->grant();
      if (!granted.ok()) return blamed(granted.status(), i);
      grant = grants.emplace(writes[i].table.get(), *std::move(granted)).first;
    }
    Result<PreparedWrite> write = prepare_write(grant->second, writes[i].operation, core->limits());
    if (!write.ok()) return blamed(write.status(), i);
    prepared.push_back(std::move(*write));
  }
  return prepared;
}

/// Sets the table id of each write, as its name resolves now, and its rule and indexes, which `targets` keeps. Returns the
/// ids of all tables written and read.
Result<std::vector<format::TableId>> StoreTransaction::State::place(std::span<PreparedWrite> prepared,
                                                                    WriteTargets& targets) const {
  std::map<const NameEntry*, WriteTarget> known;  // If a table is dropped between lookups, the engine refuses.
  std::vector<format::TableId> tables;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const Table::State& table = *writes[i].table;
    auto place = known.find(table.entry.get());
    if (place == known.end()) {
      Result<WriteTarget> target = core->catalog().resolve_target(table.name, *table.entry);
      if (!target.ok()) return blamed(target.status(), i);
      place = known.emplace(table.entry.get(), *std::move(target)).first;
      tables.push_back(place->second.id);
      targets.push_back(place->second);
    }
    place_writes(prepared.subspan(i, 1), place->second);
  }
  for (const TransactionRead& read : reads) {
    const format::TableId id = format::table_id_of(read.sort_key);
    tables.push_back(id);
    tables.push_back(read.is_blob ? fence_of(id) : table_fence_of(id));
  }
  for (const TransactionRange& range : ranges) {
    const format::TableId id = format::table_id_of(range.lower);
    tables.insert(tables.end(), {id, table_fence_of(id)});
  }
  sort_and_deduplicate(tables);
  return tables;
}

/// Returns the error to report for a failed commit: as varve::reported_failure(), for the tables of all writes.
Status StoreTransaction::State::reported(const Status& failure, std::span<PreparedWrite> prepared,
                                         const std::vector<format::TableId>& tables) const {
  if (service_error::is_table_gone(failure)) return some_table_was_dropped();
  if (is_batch_too_large(failure)) return with_limit_named(failure);
  if (is_overtaken_by_end(failure)) {
    return Status(Code::kConflict, "an entity on which the transaction rests ended before the commit; begin it again");
  }
  if (is_made_for_other_indexes(failure)) {
    return Status(Code::kConflict,
                  "the indexes of a table were changed before the commit; begin the transaction again");
  }
  if (!rests_on_an_entity(failure)) return failure;
  WriteTargets targets;
  const Result<std::vector<format::TableId>> now = place(prepared, targets);
  if (!now.ok()) return now.status();
  return *now == tables ? failure : some_table_was_dropped();
}

/// Returns what there is besides entities, as it is planned for one attempt, or null if there is nothing.
Result<std::unique_ptr<TransactionParts>> StoreTransaction::State::make_parts(std::span<const PreparedWrite> prepared) {
  std::vector<const MessageWrite*> message_writes;
  for (const PlacedMessage& message : messages) message_writes.push_back(&message.write);
  std::vector<BlobWrite*> blob_writes;
  for (PlacedBlob& blob : blobs) blob_writes.push_back(&blob.write);
  return TransactionParts::make(*core, {prepared, true, bytes}, std::move(message_writes), std::move(blob_writes));
}

Result<std::vector<ETag>> StoreTransaction::State::attempt(std::span<PreparedWrite> prepared,
                                                           const WriteOptions& options, bool& again) {
  WriteTargets targets;
  Result<std::vector<format::TableId>> tables = place(prepared, targets);
  if (!tables.ok()) return tables.status();
  if (Status once = check_each_entity_once(prepared); !once.ok()) return once;
  if (Status allowed = check_large_values(prepared); !allowed.ok()) return allowed;
  const Result<std::unique_ptr<TransactionParts>> made = make_parts(prepared);
  if (!made.ok()) return made.status();
  TransactionParts* const parts = made->get();
  std::vector<format::TableId> all = *tables;
  if (parts != nullptr) {
    const std::vector<format::TableId> more = parts->tables();
    all.insert(all.end(), more.begin(), more.end());
    sort_and_deduplicate(all);
  }
  std::vector<ETag> etags(prepared.size());  // Allocated before the commit: nothing may fail after it.
  reserve_patched(prepared, patched);
  std::vector<std::uint64_t> value_locks;
  if (Status found = append_value_locks(*core, prepared, value_locks); !found.ok()) return found;
  const bool may_be_repeated = parts != nullptr || may_give_values(prepared);
  TransactionChange change(*core, std::move(all), prepared, options,
                           {reads, ranges, snapshot, began_at, began_time, std::move(value_locks), may_be_repeated},
                           parts);
  const Result<engine::CommitVersion> version = varve::commit(core->backend(), change);
  if (may_be_repeated && !version.ok()) {
    const Result<bool> goes_on = parts != nullptr ? parts->may_go_on(version.status()) : Result<bool>(false);
    if (!goes_on.ok()) return goes_on.status();
    again = *goes_on || is_made_for_other_indexes(version.status());
    if (again) return version.status();
  }
  const bool had_nothing = is_nothing_to_write(version.status());
  const bool syncs = had_nothing && core->durability(options) == Durability::kSync;  // what was put before
  if (Status synced = syncs ? core->engine().sync() : Status(); !synced.ok()) return synced;
  if (parts != nullptr && (had_nothing || version.ok())) parts->committed(had_nothing ? 0 : *version, sent, written);
  if (had_nothing) return etags;
  if (!version.ok()) return reported(version.status(), prepared, *tables);
  for (std::size_t i = 0; i < etags.size(); ++i) {
    if (writes[i].operation.kind != Kind::kRemove) etags[i] = ETag::of_timestamp(DateTime{*version});
  }
  take_patched(prepared, ETag::of_timestamp(DateTime{*version}), patched);
  return etags;
}

Result<std::vector<ETag>> StoreTransaction::commit(const WriteOptions& options) {
  return guarded([&]() -> Result<std::vector<ETag>> {
    State& state = *state_;
    if (Status going_on = state.check_not_ended(); !going_on.ok()) return going_on;
    if (Status mine = state.core->check_process(); !mine.ok()) return mine;
    state.ended = true;
    const State::Ending ending(state);
    if (state.next_place() == 0) return std::vector<ETag>();
    if (Status writable = state.core->check_writable(); !writable.ok()) return writable;
    if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
    if (Status checked = state.check_writes(); !checked.ok()) return checked;
    Result<std::vector<PreparedWrite>> prepared = state.prepare();
    if (!prepared.ok()) return state.placed(prepared.status());
    if (Status blobs = state.prepare_blobs(); !blobs.ok()) return blobs;
    for (;;) {  // again if a queue was cleared, or a blob was changed, between plan and commit
      bool again = false;
      Result<std::vector<ETag>> etags = state.attempt(*prepared, options, again);
      if (etags.ok()) return etags;
      if (!again) return state.placed(etags.status());
    }
  });
}

}  // namespace varve
