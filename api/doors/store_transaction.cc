// Owns: transactions over any partitions and tables (store_transaction.h).
// Must never: take a lock before all checks that need no lock, or read anything under a lock that it does not check.
#include "varve/store_transaction.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/commit/commit.h"
#include "api/model/entity_codec.h"
#include "api/model/guarded.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/read/entity_read.h"
#include "api/read/large_value_read.h"
#include "api/read/scan_read.h"
#include "api/write/entity_change.h"
#include "api/write/entity_write.h"
#include "api/write/store_transaction_state.h"
#include "api/write/transaction_change.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

using Kind = WriteOperation::Kind;

Status blamed(const Status& status, std::size_t index) {
  return status.at_operation(static_cast<std::uint32_t>(index));
}

Status check_not_ended(bool ended) {
  if (!ended) return Status();
  return service_error::invalid_input("the transaction has ended; begin another one");
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

// -- Reads ------------------------------------------------------------------------------------------------------------

StoreTransaction::StoreTransaction(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
StoreTransaction::StoreTransaction(StoreTransaction&&) noexcept = default;
StoreTransaction& StoreTransaction::operator=(StoreTransaction&&) noexcept = default;
StoreTransaction::~StoreTransaction() = default;

DateTime StoreTransaction::version() const noexcept {
  return state_->began_at;
}

/// Checks that the transaction may read a table or container of this store.
Status StoreTransaction::State::admit_read(const StoreCore* owner) const {
  if (Status open = core->check_open(); !open.ok()) return open;
  if (Status going_on = check_not_ended(ended); !going_on.ok()) return going_on;
  if (owner == core.get()) return Status();
  return service_error::invalid_input("the table or container belongs to another store than the transaction");
}

Status StoreTransaction::State::admit_read(const Table::State& table, const ReadOptions& options) const {
  if (Status admitted = admit_read(table.core.get()); !admitted.ok()) return admitted;
  if (!options.snapshot) return Status();
  return service_error::invalid_input(
      "a transaction reads at its own snapshot; leave the snapshot of ReadOptions unset");
}

/// Checks that the transaction may read so many more keys.
Status StoreTransaction::State::admit_reads(std::size_t more) const {
  if (reads.size() + more <= limits::kStoreTransactionReadsMax) return Status();
  return Status::too_large("the transaction reads more than " + std::to_string(limits::kStoreTransactionReadsMax) +
                           " entities and blobs by key")
      .with_service_error("InvalidInput");
}

/// Keeps the keys, so that commit() can check them again.
Status StoreTransaction::State::keep_reads(const Table::State& table, std::span<const EntityKey> keys) {
  const Result<engine::ReadView> view = core->view(snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = Catalog::resolve_at(*view, table.name);
  if (!id.ok()) return id.status();
  for (const EntityKey& key : keys) {
    if (is_key_too_long(key.partition_key, core->limits()) || is_key_too_long(key.row_key, core->limits())) {
      continue;  // An entity with this key cannot exist.
    }
    Result<std::string> sort_key = format::encode_sort_key(*id, key.partition_key, key.row_key);
    if (!sort_key.ok()) return sort_key.status();
    reads.push_back({std::move(*sort_key), false});
  }
  return Status();
}

Status StoreTransaction::State::keep_read(const Container::State& container, std::string_view blob) {
  const Result<engine::ReadView> view = core->view(snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = container_at(container, *view);
  if (!id.ok()) return id.status();
  reads.push_back({blob_row_key(*id, blob), true});
  return Status();
}

Result<std::vector<std::optional<Entity>>> StoreTransaction::get_many(const Table& table,
                                                                      std::span<const EntityKey> keys,
                                                                      const ReadOptions& options) {
  return guarded([&]() -> Result<std::vector<std::optional<Entity>>> {
    if (Status admitted = state_->admit_read(*table.state_, options); !admitted.ok()) return admitted;
    if (Status few = state_->admit_reads(keys.size()); !few.ok()) return few;
    ReadOptions at_begin = options;
    at_begin.snapshot = state_->snapshot;
    const Table::State& from = *table.state_;
    const Result<Grant> granted = from.grant();
    if (!granted.ok()) return granted.status();
    Result<std::vector<std::optional<Entity>>> found =
        read_entities(*state_->core, from.name, *from.entry, *granted, keys, at_begin);
    if (!found.ok()) return found;
    if (Status kept = state_->keep_reads(from, keys); !kept.ok()) return kept;
    return found;
  });
}

Result<std::optional<Entity>> StoreTransaction::get(const Table& table, std::string_view partition_key,
                                                    std::string_view row_key, const ReadOptions& options) {
  return guarded([&]() -> Result<std::optional<Entity>> {
    const EntityKey key{std::string(partition_key), std::string(row_key)};
    Result<std::vector<std::optional<Entity>>> found = get_many(table, std::span(&key, 1), options);
    if (!found.ok()) return found.status();
    return std::move(found->front());
  });
}

Result<BlobReader> StoreTransaction::read(const Container& container, std::string_view blob,
                                          const BlobConditions& conditions) {
  return guarded([&]() -> Result<BlobReader> {
    if (Status admitted = state_->admit_read(container.state_->core.get()); !admitted.ok()) return admitted;
    if (Status few = state_->admit_reads(1); !few.ok()) return few;
    Result<BlobReader> reader = container.read(blob, {conditions, state_->snapshot});
    const bool is_known = reader.ok() || reader.status().service_error() == "BlobNotFound";
    if (!is_known) return reader;
    if (Status kept = state_->keep_read(*container.state_, blob); !kept.ok()) return kept;
    return reader;
  });
}

Result<std::optional<OpenedEntity>> StoreTransaction::get_opened(const Table& table, std::string_view partition_key,
                                                                 std::string_view row_key,
                                                                 std::span<const std::string> properties,
                                                                 const ReadOptions& options) {
  return guarded([&]() -> Result<std::optional<OpenedEntity>> {
    const EntityKey key{std::string(partition_key), std::string(row_key)};
    const Table::State& from = *table.state_;
    if (Status admitted = state_->admit_read(from, options); !admitted.ok()) return admitted;
    if (Status few = state_->admit_reads(1); !few.ok()) return few;
    ReadOptions at_begin = options;
    at_begin.snapshot = state_->snapshot;
    const Result<Grant> granted = from.grant();
    if (!granted.ok()) return granted.status();
    Result<std::optional<OpenedEntity>> found = read_opened_entity({state_->core, from.name, *from.entry, *granted},
                                                                   partition_key, row_key, properties, at_begin);
    if (!found.ok()) return found;
    if (Status kept = state_->keep_reads(from, std::span(&key, 1)); !kept.ok()) return kept;
    return found;
  });
}

Result<Page> StoreTransaction::scan(const Table& table, Scan scan) const {
  return guarded([&]() -> Result<Page> {
    if (Status admitted = state_->admit_read(*table.state_, scan.read); !admitted.ok()) return admitted;
    const Result<Grant> granted = table.state_->grant();
    if (!granted.ok()) return granted.status();
    scan.read.snapshot = state_->snapshot;
    return read_page(*state_->core, table.state_->name, *table.state_->entry, *granted, scan);
  });
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

std::size_t StoreTransaction::size() const noexcept {
  return state_->next_place();
}

// -- Commit -----------------------------------------------------------------------------------------------------------

/// Notes the bytes of the writes. Errors name the write by its place among all writes.
Status StoreTransaction::State::check_writes() {
  if (next_place() > limits::kStoreTransactionOperationsMax) {
    return blamed(Status::too_large("the transaction has more than " +
                                    std::to_string(limits::kStoreTransactionOperationsMax) + " writes")
                      .with_service_error("InvalidInput"),
                  limits::kStoreTransactionOperationsMax);
  }
  bytes = 0;
  const auto add = [this](std::size_t more, std::uint32_t place) {
    bytes += more;
    if (bytes <= limits::kStoreTransactionBytesMax) return Status();
    return blamed(service_error::request_body_too_large("the encoded transaction has more than " +
                                                        std::to_string(limits::kStoreTransactionBytesMax) + " bytes"),
                  place);
  };
  for (const Write& write : writes) {
    if (write.table->core != core) {
      return blamed(service_error::invalid_input("the table belongs to another store than the transaction"),
                    write.place);
    }
    if (Status added = add(encoded_size_bytes(write.operation.entity), write.place); !added.ok()) return added;
  }
  for (const PlacedMessage& message : messages) {
    const std::size_t text_bytes = message.write.text() ? message.write.text()->size() : 0;
    if (Status added = add(text_bytes, message.place); !added.ok()) return added;
  }
  for (const PlacedBlob& blob : blobs) {
    if (Status added = add(BlobPart::content_bytes(blob.write), blob.place); !added.ok()) return added;
  }
  return Status();
}

Status StoreTransaction::State::prepare_blobs() {
  for (PlacedBlob& blob : blobs) {
    if (Status prepared = BlobPart::prepare(*core, blob.write); !prepared.ok()) return blamed(prepared, blob.place);
  }
  return Status();
}

/// Returns the status with the place of its write among all writes. Until here, entities have the first indexes, messages
/// the next ones, and blobs the last ones.
Status StoreTransaction::State::placed(const Status& status) const {
  const std::optional<std::uint32_t> index = status.operation_index();
  if (!index) return status;
  if (*index < writes.size()) return blamed(status, writes[*index].place);
  const std::size_t after_entities = *index - writes.size();
  return blamed(status, after_entities < messages.size() ? messages[after_entities].place
                                                         : blobs.at(after_entities - messages.size()).place);
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
  TransactionChange change(*core, std::move(all), prepared, options, {reads, snapshot, began_at, began_time}, parts);
  const Result<engine::CommitVersion> version = varve::commit(core->backend(), change);
  if (parts != nullptr && !version.ok()) {
    const Result<bool> goes_on = parts->may_go_on(version.status());
    if (!goes_on.ok()) return goes_on.status();
    again = *goes_on || is_made_for_other_indexes(version.status());
    if (again) return version.status();
  }
  const bool had_nothing_to_write = parts != nullptr && parts->had_nothing_to_write();
  if (parts != nullptr && (version.ok() || had_nothing_to_write)) {
    parts->committed(version.ok() ? *version : 0, sent, written);
  }
  if (!version.ok() && had_nothing_to_write) return etags;
  if (!version.ok()) return reported(version.status(), prepared, *tables);
  for (std::size_t i = 0; i < etags.size(); ++i) {
    if (writes[i].operation.kind != Kind::kRemove) etags[i] = ETag::of_timestamp(DateTime{*version});
  }
  return etags;
}

Result<std::vector<ETag>> StoreTransaction::commit(const WriteOptions& options) {
  return guarded([&]() -> Result<std::vector<ETag>> {
    State& state = *state_;
    if (Status going_on = check_not_ended(state.ended); !going_on.ok()) return going_on;
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
