// Owns: how writes are judged by the stored entities, and how they become a batch (entity_change.h).
// Must never: change kept writes in a way that a second attempt would see.
#include "api/write/entity_change.h"

#include <algorithm>
#include <utility>

#include "api/model/entity_codec.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/write/group_change.h"
#include "api/write/index_entries.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

using Kind = WriteOperation::Kind;

/// Returns whether the operation depends on the newest state of its entity. If it does not, the state is not read,
/// which could cost a read of the disk.
bool rests_on_state(const PreparedWrite& write) noexcept {
  return write.kind != Kind::kInsertOrReplace;
}

/// Judges the operation on the newest state of its entity. Replaces a merge with the properties to store.
Status judge_one(PreparedWrite& write, const engine::Newest& newest, const StoreLimits& limits) {
  const bool exists = newest.value.has_value();
  if (write.kind == Kind::kInsert && exists) {
    return service_error::entity_already_exists("the entity " + quoted_keys(write.sort_key()) + " already exists");
  }
  if (needs_etag(write.kind)) {
    if (!exists) {
      return service_error::resource_not_found("entity " + quoted_keys(write.sort_key()) + " does not exist");
    }
    const ETag stored = ETag::of_timestamp(DateTime{newest.version});
    if (!write.if_match.is_any() && write.if_match != stored) {
      return service_error::update_condition_not_satisfied("the entity " + quoted_keys(write.sort_key()) +
                                                           " now has the ETag " + stored.to_string() +
                                                           "; read the entity again");
    }
  }
  if (write.terms != nullptr && exists) {
    if (Status met = check_terms(*write.terms, newest.version, *newest.value); !met.ok()) return met;
  }
  if (merges(write.kind) && (exists || patches(write.kind))) {
    const Result<std::string> merged =
        patches(write.kind)
            ? patch_properties(newest.value, write.value(), write.accounted_key_bytes, limits, *write.terms)
            : merge_properties(*newest.value, write.value(), write.accounted_key_bytes, limits);
    if (!merged.ok()) return merged.status();
    write.set_value(*merged);
  }
  return Status();
}

Status blamed(const Status& status, std::size_t index, bool in_transaction) {
  return in_transaction ? status.at_operation(static_cast<std::uint32_t>(index)) : status;
}

/// Returns whether the table of the write has a unique index.
bool gives_values(const PreparedWrite& write) noexcept {
  return write.indexes != nullptr && has_unique_index(*write.indexes);
}

std::uint64_t bytes_of(std::span<const PreparedWrite> writes) noexcept {
  std::uint64_t bytes = 0;
  for (const PreparedWrite& write : writes) bytes += write.sort_key().size() + write.value().size();
  return bytes;
}

format::BatchBuilder begin_batch(std::span<const PreparedWrite> writes, std::string_view tag) {
  format::BatchBuilder batch;
  batch.reserve(writes.size(), bytes_of(writes));
  batch.set_tag(tag);
  return batch;
}

std::string build_batch(std::span<const PreparedWrite> writes, std::string_view tag) {
  format::BatchBuilder batch = begin_batch(writes, tag);
  for (const PreparedWrite& write : writes) batch.add(write.operation());
  return batch.finish();
}

Status overtaken_by_drop(const TableName& name, bool in_transaction) {
  const Status dropped =
      service_error::table_not_found("table " + quoted(name.spelling) + " was dropped while this write waited");
  return blamed(dropped, 0, in_transaction);
}

}  // namespace

EntityChange::EntityChange(StoreCore& core, std::vector<format::TableId> tables, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction, Writes after, Extension* extension)
    : limits_(core.limits()),
      writes_(writes),
      tag_(options.tag),
      extension_(extension),
      partition_hash_(writes.empty() ? 0 : format::partition_hash(format::partition_of(writes.front().sort_key()))),
      in_transaction_(in_transaction) {
  paced_bytes = bytes_of(writes);
  wait_max = options.wait_max;
  request.tables = std::move(tables);
  request.durability = core.durability(options);
  for (const PreparedWrite& write : writes) {
    any_merge_ = any_merge_ || merges(write.kind);
    any_condition_ = any_condition_ || write.terms != nullptr;
    any_end_ = any_end_ || write.may_have_end();
    any_index_ = any_index_ || write.indexes != nullptr;
  }
  if (any_index_) [[unlikely]]
    note_indexes();
  if ((any_merge_ || any_end_) && after == Writes::kKept) {
    copies_.assign(writes.begin(), writes.end());
    writes_ = copies_;
  }
  if (any_end_) {
    for (PreparedWrite& write : writes_) {
      if (!merges(write.kind)) write.apply_expiry();
    }
  }
  // The batch is built before the lock is taken, because building takes time. One write without a tag has the layout of
  // its batch already.
  const bool is_batch_already = writes.size() == 1 && tag_.empty() && after == Writes::kUsedUp;
  if (!any_merge_ && !any_index_ && extension == nullptr && !is_batch_already) batch_ = build_batch(writes_, tag_);
}

void EntityChange::note_indexes() {
  for (const PreparedWrite& write : writes_) {
    if (write.indexes == nullptr) continue;
    const format::TableId table = format::table_id_of(write.sort_key());
    const bool is_noted = std::any_of(request.shapes.begin(), request.shapes.end(),
                                      [table](const engine::TableShape& noted) { return noted.table == table; });
    if (!is_noted) request.shapes.push_back({table, write.indexes->shape});
  }
}

bool EntityChange::reads_state(const PreparedWrite& write) const noexcept {
  if (write.key_too_long) return false;
  return rests_on_state(write) || write.indexes != nullptr ||
         (extension_ != nullptr && extension_->needs_state_of(write));
}

std::optional<std::uint64_t> EntityChange::row_needed() const noexcept {
  if (writes_.size() != 1 || extension_ != nullptr || locks_needed().data() != &partition_hash_) return std::nullopt;
  return format::row_hash(writes_.front().sort_key());
}

StatesWanted EntityChange::states_wanted() {
  const bool needs_values =
      any_merge_ || any_condition_ || any_index_ || (extension_ != nullptr && extension_->needs_values());
  const auto part = needs_values ? engine::EntryPart::kAll : engine::EntryPart::kVersion;
  if (writes_.size() == 1) {  // the usual write, without the memory for a list
    if (!reads_state(writes_.front())) return {{}, part};
    only_key_ = writes_.front().sort_key();
    return {{&only_key_, 1}, part};
  }
  keys_.reserve(writes_.size());
  for (const PreparedWrite& write : writes_) {
    if (reads_state(write)) keys_.push_back(write.sort_key());
  }
  return {keys_, part};
}

Refusal EntityChange::judge(const engine::ReadView& view, std::span<const engine::Newest> states) {
  if (Refusal refusal = judge_all(states); refusal.is_refused()) return refusal;
  return extension_ != nullptr || any_index_ ? extend(view, states) : Refusal();
}

Refusal EntityChange::judge_all(std::span<const engine::Newest> states) {
  std::size_t next_state = 0;
  engine::CommitVersion rests_on = 0;  // The choice of the refused operation rests on all earlier states too.
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    Status judged;
    if (writes_[i].key_too_long) {
      judged = service_error::resource_not_found("the entity does not exist: its key is longer than any key can be");
    } else if (reads_state(writes_[i])) {
      rests_on = std::max(rests_on, states[next_state].version);
      if (rests_on_state(writes_[i]) || (extension_ != nullptr && extension_->needs_state_of(writes_[i]))) {
        rest_on(states[next_state]);
      }
      request.let_go_bytes += states[next_state].entry.large_bytes;
      judged = judge_one(writes_[i], states[next_state++], limits_);
    } else if (writes_[i].value().size() >= engine::kExternalValueBytesMin) {
      // What it may replace is not read. Most likely that is a value of about its size.
      request.let_go_bytes += writes_[i].value().size();
    }
    if (!judged.ok()) return {blamed(judged, i, in_transaction_), rests_on};
    if (any_end_ && merges(writes_[i].kind)) writes_[i].apply_expiry();
  }
  return {};
}

void EntityChange::rest_on(const engine::Newest& state) noexcept {
  if (state.value) rest_on_end(state.end());
}

void EntityChange::rest_on_end(engine::CommitVersion end) noexcept {
  if (end == 0) return;
  request.before = request.before == 0 ? end : std::min(request.before, end);
}

Refusal EntityChange::extend(const engine::ReadView& view, std::span<const engine::Newest> states) {
  format::BatchBuilder batch = begin_batch(writes_, tag_);
  UniqueValues values(locks_needed());
  std::size_t next_state = 0;
  engine::CommitVersion newest = 0;
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    batch.add(writes_[i].operation());
    const engine::Newest* const before = reads_state(writes_[i]) ? &states[next_state++] : nullptr;
    if (writes_[i].indexes != nullptr && before != nullptr) {
      const Status added = add_index_entries(*writes_[i].indexes, *before, writes_[i], i, batch, values);
      if (is_made_for_other_indexes(added)) return added;
      if (!added.ok()) return {blamed(added, i, in_transaction_), before->version};
      newest = std::max(newest, before->version);
    }
    if (extension_ == nullptr) continue;
    if (Refusal refusal = extension_->extend(before, writes_[i], batch); refusal.is_refused()) {
      return {blamed(refusal.status, i, in_transaction_), refusal.rests_on};
    }
  }
  std::size_t refused = 0;
  if (Refusal refusal = values.check(view, refused); refusal.is_refused()) {
    return {blamed(refusal.status, refused, in_transaction_), std::max(newest, refusal.rests_on)};
  }
  if (extension_ != nullptr) {
    if (Refusal refusal = extension_->finish(view, batch); refusal.is_refused()) return refusal;
  }
  request.let_go_bytes += batch.let_go_bytes();
  batch_ = batch.finish(&request.timestamps);
  return {};
}

std::string EntityChange::take_batch() {
  if (!batch_.empty()) return std::move(batch_);
  if (writes_.size() == 1 && tag_.empty()) return writes_.front().into_batch();
  return build_batch(writes_, tag_);
}

bool must_count_owners(const WriteTarget& table, std::span<const PreparedWrite> writes) noexcept {
  return has_large_values(table.id) || (table.indexes != nullptr && has_unique_index(*table.indexes)) ||
         std::any_of(writes.begin(), writes.end(), [](const PreparedWrite& write) {
           return write.has_large_values;  // which is refused
         });
}

bool may_give_values(std::span<const PreparedWrite> writes) noexcept {
  return std::any_of(writes.begin(), writes.end(), [](const PreparedWrite& write) { return gives_values(write); });
}

Status append_value_locks(StoreCore& core, std::span<const PreparedWrite> writes, std::vector<std::uint64_t>& hashes) {
  if (!may_give_values(writes)) return Status();
  const engine::ReadView view = core.backend().view();
  for (const PreparedWrite& write : writes) {
    if (!gives_values(write) || write.kind == Kind::kRemove || write.key_too_long) continue;
    const auto append = [&](std::string_view value) -> Status {
      const Result<format::EncodedEntity> properties = format::EncodedEntity::open(value);
      if (!properties.ok()) return properties.status();
      for (const TableIndex& index : write.indexes->all) {
        append_value_lock(index, write.sort_key(), *properties, hashes);
      }
      return Status();
    };
    if (!merges(write.kind)) {
      if (Status appended = append(write.value()); !appended.ok()) return appended;
      continue;
    }
    const Result<engine::Newest> newest = view.newest(write.sort_key());
    if (!newest.ok()) return newest.status();
    PreparedWrite merged = write;
    // What refuses the write now is judged again under the lock.
    if (!judge_one(merged, *newest, core.limits()).ok()) continue;
    if (Status appended = append(merged.value()); !appended.ok()) return appended;
  }
  return Status();
}

void place_writes(std::span<PreparedWrite> writes, const WriteTarget& table) {
  const std::string encoded_id = format::encode_table(table.id);
  for (PreparedWrite& write : writes) {
    write.set_table(encoded_id);
    write.expiry = table.expiry.get();
    write.indexes = table.indexes.get();
  }
}

Status no_table_to_write(const Status& status, bool in_transaction) {
  return blamed(status, 0, in_transaction && status.code() == Code::kNotFound);
}

bool rests_on_an_entity(const Status& failure) noexcept {
  switch (failure.code()) {
    case Code::kNotFound: return !service_error::is_table_gone(failure);
    case Code::kInvalidArgument: return is_type_mismatch(failure);
    case Code::kExists:
    case Code::kPreconditionFailed:
    case Code::kCorruption:             // of the contents that an entity owns, after a drop of the account
    case Code::kTooLarge: return true;  // kTooLarge: what a merge would store
    default: return false;
  }
}

bool is_batch_too_large(const Status& failure) noexcept {
  return failure.code() == Code::kTooLarge && failure.service_error().empty();
}

Status with_limit_named(const Status& failure) {
  return failure.with_service_error("RequestBodyTooLarge");
}

bool is_made_for_other_indexes(const Status& failure) noexcept {
  return failure.code() == Code::kConflict && failure.service_error() == engine::kTableReshaped.text();
}

bool is_overtaken_by_end(const Status& failure) noexcept {
  return failure.code() == Code::kConflict && failure.message().empty() && failure.service_error().empty();
}

Status reported_failure(const Status& failure, const TableName& name, format::TableId table,
                        const Result<format::TableId>& now, bool in_transaction) {
  if (service_error::is_table_gone(failure)) return overtaken_by_drop(name, in_transaction);
  if (is_batch_too_large(failure)) return with_limit_named(failure);
  if (is_overtaken_by_end(failure)) {
    return Status(Code::kBusy, "an entity of table " + quoted(name.spelling) +
                                   " ended while this write, which rests on it, waited; write again");
  }
  if (!rests_on_an_entity(failure)) return failure;
  if (!now.ok()) return no_table_to_write(now.status(), in_transaction);
  return *now == table ? failure : overtaken_by_drop(name, in_transaction);
}

Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction) {
  if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
  const Result<WriteTarget> table = core.catalog().resolve_target(name, entry);
  if (!table.ok()) return no_table_to_write(table.status(), in_transaction);
  if (must_count_owners(*table, writes))
    return commit_owning_writes(core, name, entry, writes, options, in_transaction);
  place_writes(writes, *table);
  EntityChange change(core, {table->id}, writes, options, in_transaction);
  const Result<engine::CommitVersion> version = commit(core.backend(), change);
  if (version.ok()) return ETag::of_timestamp(DateTime{*version});
  const bool asks_again = rests_on_an_entity(version.status());
  return reported_failure(version.status(), name, table->id,
                          asks_again ? core.catalog().resolve_for_write(name, entry) : Result(table->id),
                          in_transaction);
}

Result<ETag> commit_write(StoreCore& core, const TableName& name, NameEntry& entry, PreparedWrite& write,
                          const WriteOptions& options) {
  Result<ETag> etag = commit_writes(core, name, entry, {&write, 1}, options, false);
  if (write.kind == Kind::kRemove && etag.ok()) return ETag();
  return etag;
}

}  // namespace varve
