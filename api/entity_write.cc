// Owns: the way of a write (entity_write.h).
// Must never: change what was prepared in a way that a second attempt would see.
#include "api/entity_write.h"

#include <array>
#include <cstdint>
#include <utility>

#include "api/entity_codec.h"
#include "api/limits.h"
#include "api/names.h"
#include "api/quoted.h"
#include "api/service_error.h"
#include "format/batch.h"
#include "format/sort_key.h"

namespace varve {
namespace {

using Kind = TransactionOperation::Kind;

constexpr std::string_view kPartitionKey = "PartitionKey";
constexpr std::string_view kRowKey = "RowKey";

bool needs_etag(Kind kind) noexcept {
  return kind == Kind::kReplace || kind == Kind::kMerge || kind == Kind::kRemove;
}

bool merges(Kind kind) noexcept {
  return kind == Kind::kMerge || kind == Kind::kInsertOrMerge;
}

Status check_condition(Kind kind, ETag if_match) {
  if (!needs_etag(kind) || !if_match.is_none()) return Status();
  return service_error::invalid_input("an ETag is needed, or ETag::any()");
}

/// Which table is not known yet; place_in_table() fills it in.
Result<std::string> sort_key_without_table(std::string_view partition_key, std::string_view row_key) {
  return format::encode_sort_key(format::TableId{0}, partition_key, row_key);
}

/// Why an operation may not go on, and the commit that says so.
struct Judgement {
  Status status;
  engine::CommitVersion rests_on = 0;
};

/// Whether the newest state of its entity matters: looking could cost a read of the disk.
bool rests_on_state(const PreparedWrite& write) noexcept {
  return !write.key_too_long && write.kind != Kind::kInsertOrReplace;
}

/// Judges the operation on the newest state of its entity, and turns a merge into what is to be stored.
Judgement judge(PreparedWrite& write, const engine::Newest& newest, const StoreLimits& limits) {
  if (write.key_too_long) {
    return {service_error::resource_not_found("there is no entity with so long a key")};
  }
  if (!rests_on_state(write)) return {};
  const engine::CommitVersion version = newest.version;
  const bool exists = newest.value.has_value();

  if (write.kind == Kind::kInsert && exists) {
    return {service_error::entity_already_exists("the entity " + quoted_keys(write.sort_key) + " is there"), version};
  }
  if (needs_etag(write.kind)) {
    if (!exists) {
      return {service_error::resource_not_found("there is no entity " + quoted_keys(write.sort_key)), version};
    }
    const ETag stored = ETag::of_timestamp(DateTime{version});
    if (!write.if_match.is_any() && write.if_match != stored) {
      return {service_error::update_condition_not_satisfied("the entity " + quoted_keys(write.sort_key) +
                                                            " has the ETag " + stored.to_string()),
              version};
    }
  }
  if (merges(write.kind) && exists) {
    Result<std::string> merged = merge_properties(*newest.value, write.value, write.accounted_key_bytes, limits);
    if (!merged.ok()) return {merged.status(), version};
    write.value = *std::move(merged);
  }
  return {};
}

Status blamed(const Status& status, std::size_t index, bool in_transaction) {
  return in_transaction ? status.at_operation(static_cast<std::uint32_t>(index)) : status;
}

/// Of every operation that rests on it, the newest state of its entity, read side by side; of the others, nothing.
Result<std::vector<engine::Newest>> read_states(const engine::ReadView& view, std::span<const PreparedWrite> writes) {
  std::vector<engine::Newest> states(writes.size());
  std::vector<std::string_view> keys;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (!rests_on_state(writes[i])) continue;
    keys.push_back(writes[i].sort_key);
    places.push_back(i);
  }
  Result<std::vector<engine::Newest>> newest = view.newest_many(keys);
  if (!newest.ok()) return newest;
  for (std::size_t i = 0; i < places.size(); ++i) states[places[i]] = std::move((*newest)[i]);
  return states;
}

}  // namespace

Status check_tag(std::string_view tag) {
  if (tag.size() <= limits::kTagBytesMax) return Status();
  return service_error::invalid_input("the tag has " + std::to_string(tag.size()) + " bytes; at most 1024 are allowed");
}

void place_in_table(PreparedWrite& write, std::string_view encoded_id) {
  write.sort_key.replace(0, format::kTableIdBytes, encoded_id);
}

std::string build_batch(std::span<const PreparedWrite> writes, std::string_view tag) {
  format::BatchBuilder batch;
  batch.set_tag(tag);
  for (const PreparedWrite& write : writes) {
    if (write.kind == Kind::kRemove) {
      batch.remove(write.sort_key);
    } else {
      batch.put(write.sort_key, write.value);
    }
  }
  return batch.finish();
}

std::uint64_t bytes_of(std::span<const PreparedWrite> writes) noexcept {
  std::uint64_t bytes = 0;
  for (const PreparedWrite& write : writes) bytes += write.sort_key.size() + write.value.size();
  return bytes;
}

Status judge_writes(StoreCore& core, const engine::ReadView& view, std::span<PreparedWrite> writes,
                    engine::PartitionGuard& guard, bool in_transaction) {
  const Result<std::vector<engine::Newest>> states = read_states(view, writes);
  if (!states.ok()) return states.status();
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const Judgement judgement = judge(writes[i], (*states)[i], core.limits());
    if (judgement.status.ok()) continue;
    guard.release();
    if (Status published = core.engine().await_published(judgement.rests_on); !published.ok()) return published;
    return blamed(judgement.status, i, in_transaction);
  }
  return Status();
}

Result<PreparedWrite> prepare_put(const Grant& grant, Kind kind, const Entity& entity, ETag if_match,
                                  const StoreLimits& limits) {
  if (Status granted = grant.check_write(kind, entity.partition_key(), entity.row_key()); !granted.ok()) return granted;
  const KeyUse use = kind == Kind::kInsert ? KeyUse::kInsert : KeyUse::kUpdate;
  if (Status key = check_written_key(entity.partition_key(), kPartitionKey, use, limits); !key.ok()) return key;
  if (Status key = check_written_key(entity.row_key(), kRowKey, use, limits); !key.ok()) return key;
  if (Status condition = check_condition(kind, if_match); !condition.ok()) return condition;
  if (Status properties = check_properties(entity, limits); !properties.ok()) return properties;

  Result<std::string> sort_key = sort_key_without_table(entity.partition_key(), entity.row_key());
  if (!sort_key.ok()) return sort_key.status();
  PreparedWrite write;
  write.kind = kind;
  write.if_match = if_match;
  write.sort_key = *std::move(sort_key);
  write.value = encode_properties(entity);
  write.accounted_key_bytes = accounted_key_bytes(entity.partition_key(), entity.row_key());
  return write;
}

Status InsertEncoder::encode(const Entity& entity) {
  if (Status key = check_written_key(entity.partition_key(), kPartitionKey, KeyUse::kInsert, limits_); !key.ok())
    return key;
  if (Status key = check_written_key(entity.row_key(), kRowKey, KeyUse::kInsert, limits_); !key.ok()) return key;
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
  if (Status key = check_key_characters(partition_key, kPartitionKey, KeyUse::kLookup); !key.ok()) return key;
  if (Status key = check_key_characters(row_key, kRowKey, KeyUse::kLookup); !key.ok()) return key;
  if (Status condition = check_condition(Kind::kRemove, if_match); !condition.ok()) return condition;

  Result<std::string> sort_key = sort_key_without_table(partition_key, row_key);
  if (!sort_key.ok()) return sort_key.status();
  PreparedWrite write;
  write.kind = Kind::kRemove;
  write.if_match = if_match;
  write.sort_key = *std::move(sort_key);
  write.key_too_long = is_key_too_long(partition_key, limits) || is_key_too_long(row_key, limits);
  return write;
}

Result<PreparedWrite> prepare_write(const Grant& grant, const TransactionOperation& operation,
                                    const StoreLimits& limits) {
  const Entity& entity = operation.entity;
  if (operation.kind == Kind::kRemove) {
    return prepare_remove(grant, entity.partition_key(), entity.row_key(), operation.if_match, limits);
  }
  return prepare_put(grant, operation.kind, entity, operation.if_match, limits);
}

Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction) {
  if (Status tag = check_tag(options.tag); !tag.ok()) return tag;
  const Result<format::TableId> table = core.catalog().resolve_for_write(name, entry);
  if (!table.ok()) return blamed(table.status(), 0, in_transaction && table.code() == Code::kNotFound);
  const std::string encoded_id = format::encode_table(*table);
  bool any_merge = false;
  for (PreparedWrite& write : writes) {
    place_in_table(write, encoded_id);
    any_merge = any_merge || merges(write.kind);
  }

  engine::CommitRequest request;
  request.tables = {*table};
  request.durability = core.durability(options);
  if (!any_merge) request.batch = build_batch(writes, options.tag);  // Before the lock: others wait for it.
  core.engine().pace(bytes_of(writes));
  const std::array<std::uint64_t, 1> partition = {
      format::partition_hash(format::partition_of(writes.front().sort_key))};
  Result<engine::PartitionGuard> guard = core.engine().lock_partitions(partition, options.wait_max);
  if (!guard.ok()) return guard.status();
  request.locks = *std::move(guard);
  if (Status judged = judge_writes(core, core.engine().view(), writes, request.locks, in_transaction); !judged.ok()) {
    return judged;
  }
  if (any_merge) request.batch = build_batch(writes, options.tag);

  const Result<engine::CommitVersion> version = core.engine().commit(std::move(request));
  if (version.ok()) return ETag::of_timestamp(DateTime{*version});
  if (version.code() != Code::kNotFound) return version.status();
  const Status dropped =
      service_error::table_not_found("table " + quoted(name.spelling) + " was dropped before this write's turn");
  return blamed(dropped, 0, in_transaction);
}

}  // namespace varve
