// Owns: the steps of a write (entity_write.h).
// Must never: change prepared writes in a way that a second attempt would see.
#include "api/write/entity_write.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/model/entity_codec.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

using Kind = TransactionOperation::Kind;

bool needs_etag(Kind kind) noexcept {
  return kind == Kind::kReplace || kind == Kind::kMerge || kind == Kind::kRemove;
}

bool merges(Kind kind) noexcept {
  return kind == Kind::kMerge || kind == Kind::kInsertOrMerge;
}

Status check_condition(Kind kind, ETag if_match) {
  if (!needs_etag(kind) || !if_match.is_none()) return Status();
  return service_error::invalid_input("the write needs a condition: the ETag that was read, or ETag::any()");
}

/// Returns whether the operation depends on the newest state of its entity. If it does not, the state is not read,
/// which could cost a read of the disk.
bool rests_on_state(const PreparedWrite& write) noexcept {
  return !write.key_too_long && write.kind != Kind::kInsertOrReplace;
}

/// Judges the operation on the newest state of its entity. Replaces a merge with the properties to store.
Refusal judge(PreparedWrite& write, const engine::Newest& newest, const StoreLimits& limits) {
  const engine::CommitVersion version = newest.version;
  const bool exists = newest.value.has_value();

  if (write.kind == Kind::kInsert && exists) {
    return {service_error::entity_already_exists("the entity " + quoted_keys(write.sort_key()) + " already exists"),
            version};
  }
  if (needs_etag(write.kind)) {
    if (!exists) {
      return {service_error::resource_not_found("entity " + quoted_keys(write.sort_key()) + " does not exist"),
              version};
    }
    const ETag stored = ETag::of_timestamp(DateTime{version});
    if (!write.if_match.is_any() && write.if_match != stored) {
      return {service_error::update_condition_not_satisfied("the entity " + quoted_keys(write.sort_key()) +
                                                            " now has the ETag " + stored.to_string() +
                                                            "; read the entity again"),
              version};
    }
  }
  if (merges(write.kind) && exists) {
    Result<std::string> merged = merge_properties(*newest.value, write.value(), write.accounted_key_bytes, limits);
    if (!merged.ok()) return {merged.status(), version};
    write.set_value(*merged);
  }
  return {};
}

Status blamed(const Status& status, std::size_t index, bool in_transaction) {
  return in_transaction ? status.at_operation(static_cast<std::uint32_t>(index)) : status;
}

}  // namespace

Status check_tag(std::string_view tag) {
  if (tag.size() <= limits::kTagBytesMax) return Status();
  return service_error::invalid_input("the tag has " + std::to_string(tag.size()) + " bytes; at most 1024 are allowed");
}

Result<PreparedWrite> PreparedWrite::make(Kind kind, ETag if_match, std::string_view partition_key,
                                          std::string_view row_key, std::size_t value_bytes) {
  PreparedWrite write;
  write.kind = kind;
  write.if_match = if_match;
  constexpr format::TableId kNotKnownYet{0};
  Result<format::LoneOperation> operation =
      format::LoneOperation::make(kind == Kind::kRemove ? format::Kind::kDelete : format::Kind::kPut, kNotKnownYet,
                                  partition_key, row_key, value_bytes);
  if (!operation.ok()) return operation.status();
  write.operation_ = std::move(*operation);
  return write;
}

void PreparedWrite::set_value(const Entity& entity, const StoredSize& size, format::EntityBuilder& builder) {
  operation_.give_with_value(encode_properties_behind(operation_.take_for_value(size.bytes), entity, size, builder));
}

std::string build_batch(std::span<const PreparedWrite> writes, std::string_view tag) {
  format::BatchBuilder batch;
  batch.reserve(writes.size(), bytes_of(writes));
  batch.set_tag(tag);
  for (const PreparedWrite& write : writes) batch.add(write.operation());
  return batch.finish();
}

bool is_batch_already(std::span<const PreparedWrite> writes, std::string_view tag) noexcept {
  return writes.size() == 1 && tag.empty();
}

std::string take_batch(std::span<PreparedWrite> writes, std::string_view tag) {
  return is_batch_already(writes, tag) ? writes.front().into_batch() : build_batch(writes, tag);
}

std::uint64_t bytes_of(std::span<const PreparedWrite> writes) noexcept {
  std::uint64_t bytes = 0;
  for (const PreparedWrite& write : writes) bytes += write.sort_key().size() + write.value().size();
  return bytes;
}

std::vector<std::string_view> keys_to_judge(std::span<const PreparedWrite> writes) {
  std::vector<std::string_view> keys;
  keys.reserve(writes.size());
  for (const PreparedWrite& write : writes) {
    if (rests_on_state(write)) keys.push_back(write.sort_key());
  }
  return keys;
}

engine::EntryPart part_to_judge(std::span<const PreparedWrite> writes) noexcept {
  const bool any_merge =
      std::any_of(writes.begin(), writes.end(), [](const PreparedWrite& write) { return merges(write.kind); });
  return any_merge ? engine::EntryPart::kAll : engine::EntryPart::kVersion;
}

std::optional<Refusal> judge_states(std::span<PreparedWrite> writes, std::span<const engine::Newest> states,
                                    const StoreLimits& limits, bool in_transaction) {
  std::size_t next_state = 0;
  engine::CommitVersion rests_on = 0;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    Refusal refusal;
    if (writes[i].key_too_long) {
      refusal.status =
          service_error::resource_not_found("the entity does not exist: its key is longer than any key can be");
    } else if (rests_on_state(writes[i])) {
      rests_on = std::max(rests_on, states[next_state].version);
      refusal = judge(writes[i], states[next_state++], limits);
    }
    if (refusal.status.ok()) continue;
    refusal.rests_on = rests_on;  // The choice of the operation rests on all earlier states too.
    refusal.status = blamed(refusal.status, i, in_transaction);
    return refusal;
  }
  return std::nullopt;
}

Status judge_writes(StoreCore& core, const engine::ReadView& view, std::span<PreparedWrite> writes,
                    engine::PartitionGuard& guard, bool in_transaction) {
  const std::vector<std::string_view> keys = keys_to_judge(writes);
  Result<std::vector<engine::Newest>> states = std::vector<engine::Newest>();
  if (!keys.empty()) states = view.newest_many(keys, part_to_judge(writes));
  if (!states.ok()) return states.status();
  const std::optional<Refusal> refusal = judge_states(writes, *states, core.limits(), in_transaction);
  if (!refusal) return Status();
  guard.release();
  if (Status published = core.engine().await_published(refusal->rests_on); !published.ok()) return published;
  return refusal->status;
}

namespace {

Result<PreparedWrite> prepare_put(const Grant& grant, Kind kind, const Entity& entity, ETag if_match,
                                  const StoreLimits& limits, format::EntityBuilder& builder) {
  if (Status granted = grant.check_write(kind, entity.partition_key(), entity.row_key()); !granted.ok()) return granted;
  const KeyUse use = kind == Kind::kInsert ? KeyUse::kInsert : KeyUse::kUpdate;
  if (Status key = check_written_key(entity.partition_key(), kPartitionKeyName, use, limits); !key.ok()) return key;
  if (Status key = check_written_key(entity.row_key(), kRowKeyName, use, limits); !key.ok()) return key;
  if (Status condition = check_condition(kind, if_match); !condition.ok()) return condition;
  if (Status properties = check_properties(entity, limits); !properties.ok()) return properties;

  const StoredSize size = stored_size(entity);
  Result<PreparedWrite> write =
      PreparedWrite::make(kind, if_match, entity.partition_key(), entity.row_key(), size.bytes);
  if (!write.ok()) return write;
  write->set_value(entity, size, builder);
  write->accounted_key_bytes = accounted_key_bytes(entity.partition_key(), entity.row_key());
  return write;
}

}  // namespace

Result<PreparedWrite> prepare_put(const Grant& grant, Kind kind, const Entity& entity, ETag if_match,
                                  const StoreLimits& limits) {
  format::EntityBuilder builder;
  return prepare_put(grant, kind, entity, if_match, limits, builder);
}

Status InsertEncoder::encode(const Entity& entity) {
  if (Status key = check_written_key(entity.partition_key(), kPartitionKeyName, KeyUse::kInsert, limits_); !key.ok())
    return key;
  if (Status key = check_written_key(entity.row_key(), kRowKeyName, KeyUse::kInsert, limits_); !key.ok()) return key;
  if (Status properties = check_properties(entity, limits_); !properties.ok()) return properties;
  sort_key_.assign(encoded_id_);
  if (Status encoded = format::append_text(sort_key_, entity.partition_key()); !encoded.ok()) return encoded;
  if (Status encoded = format::append_text(sort_key_, entity.row_key()); !encoded.ok()) return encoded;
  encode_properties(entity, builder_, value_);
  return Status();
}

Result<PreparedWrite> prepare_remove(const Grant& grant, std::string_view partition_key, std::string_view row_key,
                                     ETag if_match, const StoreLimits& limits) {
  if (Status granted = grant.check_write(Kind::kRemove, partition_key, row_key); !granted.ok()) return granted;
  if (Status key = check_key_characters(partition_key, kPartitionKeyName, KeyUse::kLookup); !key.ok()) return key;
  if (Status key = check_key_characters(row_key, kRowKeyName, KeyUse::kLookup); !key.ok()) return key;
  if (Status condition = check_condition(Kind::kRemove, if_match); !condition.ok()) return condition;

  Result<PreparedWrite> write = PreparedWrite::make(Kind::kRemove, if_match, partition_key, row_key);
  if (!write.ok()) return write;
  write->key_too_long = is_key_too_long(partition_key, limits) || is_key_too_long(row_key, limits);
  return write;
}

namespace {

Result<PreparedWrite> prepare_write(const Grant& grant, const TransactionOperation& operation,
                                    const StoreLimits& limits, format::EntityBuilder& builder) {
  const Entity& entity = operation.entity;
  if (operation.kind == Kind::kRemove) {
    return prepare_remove(grant, entity.partition_key(), entity.row_key(), operation.if_match, limits);
  }
  return prepare_put(grant, operation.kind, entity, operation.if_match, limits, builder);
}

}  // namespace

Result<PreparedWrite> prepare_write(const Grant& grant, const TransactionOperation& operation,
                                    const StoreLimits& limits) {
  format::EntityBuilder builder;
  return prepare_write(grant, operation, limits, builder);
}

Result<std::vector<PreparedWrite>> prepare_transaction(const Grant& grant,
                                                       std::span<const TransactionOperation> operations,
                                                       const StoreLimits& limits) {
  if (Status checked = check_transaction(operations, limits); !checked.ok()) return checked;
  format::EntityBuilder builder;  // all operations reuse its memory
  std::vector<PreparedWrite> writes;
  writes.reserve(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Result<PreparedWrite> write = prepare_write(grant, operations[i], limits, builder);
    if (!write.ok()) return blamed(write.status(), i, true);
    writes.push_back(std::move(*write));
  }
  return writes;
}

void set_etags(std::span<const TransactionOperation> operations, ETag etag, std::span<ETag> etags) noexcept {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].kind != Kind::kRemove) etags[i] = etag;
  }
}

PlacedWrites place_writes(StoreCore& core, format::TableId table, std::span<PreparedWrite> writes,
                          const WriteOptions& options) {
  const std::string encoded_id = format::encode_table(table);
  PlacedWrites placed;
  for (PreparedWrite& write : writes) {
    write.set_table(encoded_id);
    placed.any_merge = placed.any_merge || merges(write.kind);
  }
  placed.partition_hash = format::partition_hash(format::partition_of(writes.front().sort_key()));
  placed.request.tables = {table};
  placed.request.durability = core.durability(options);
  return placed;
}

Status no_table_to_write(const Status& status, bool in_transaction) {
  return blamed(status, 0, in_transaction && status.code() == Code::kNotFound);
}

namespace {

Status overtaken_by_drop(const TableName& name, bool in_transaction) {
  const Status dropped =
      service_error::table_not_found("table " + quoted(name.spelling) + " was dropped while this write waited");
  return blamed(dropped, 0, in_transaction);
}

}  // namespace

Status not_found(const Status& refusal, const TableName& name, format::TableId table,
                 const Result<format::TableId>& now, bool in_transaction) {
  if (!now.ok()) return no_table_to_write(now.status(), in_transaction);
  return *now == table ? refusal : overtaken_by_drop(name, in_transaction);
}

Result<ETag> etag_of(const Result<engine::CommitVersion>& version, const TableName& name, bool in_transaction) {
  if (version.ok()) return ETag::of_timestamp(DateTime{*version});
  if (!service_error::is_table_gone(version.status())) return version.status();
  return overtaken_by_drop(name, in_transaction);
}

Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction) {
  if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
  const Result<format::TableId> table = core.catalog().resolve_for_write(name, entry);
  if (!table.ok()) return no_table_to_write(table.status(), in_transaction);
  PlacedWrites placed = place_writes(core, *table, writes, options);
  // Build the batch before the lock is taken, because building takes time.
  const bool is_built_early = !placed.any_merge && !is_batch_already(writes, options.tag);
  if (is_built_early) placed.request.batch = build_batch(writes, options.tag);
  core.engine().pace(bytes_of(writes));
  Result<engine::PartitionGuard> guard =
      core.engine().lock_partitions(std::span(&placed.partition_hash, 1), options.wait_max);
  if (!guard.ok()) return guard.status();
  engine::CommitRequest& request = placed.request;
  request.locks = std::move(*guard);
  if (Status judged = judge_writes(core, core.engine().view(), writes, request.locks, in_transaction); !judged.ok()) {
    if (judged.code() != Code::kNotFound) return judged;
    return not_found(judged, name, *table, core.catalog().resolve_for_write(name, entry), in_transaction);
  }
  if (!is_built_early) request.batch = take_batch(writes, options.tag);
  return etag_of(core.engine().commit(std::move(request)), name, in_transaction);
}

}  // namespace varve
