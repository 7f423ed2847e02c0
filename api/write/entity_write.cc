// Owns: the checks and the encoding of a write (entity_write.h).
// Must never: check the stored entity.
#include "api/write/entity_write.h"

#include <cstdint>
#include <utility>

#include "api/catalog/expiry_rule.h"
#include "api/model/entity_codec.h"
#include "api/model/service_error.h"
#include "format/keys/batch.h"
#include "format/keys/ends.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

using Kind = WriteOperation::Kind;

Status check_condition(Kind kind, ETag if_match) {
  if (!needs_etag(kind) || !if_match.is_none()) return Status();
  return service_error::invalid_input("the write needs a condition: the ETag that was read, or ETag::any()");
}

}  // namespace

Status check_tag(std::string_view tag) {
  if (tag.size() <= limits::kTagBytesMax) return Status();
  return service_error::invalid_input("the tag has " + std::to_string(tag.size()) + " bytes; at most 1024 are allowed");
}

Status PreparedWrite::begin(const WriteView& write, std::size_t value_bytes) {
  kind = write.kind();
  if_match = write.if_match();
  constexpr format::TableId kNotKnownYet{0};
  Result<format::LoneOperation> operation =
      format::LoneOperation::make(kind == Kind::kRemove ? format::Kind::kDelete : format::Kind::kPut, kNotKnownYet,
                                  write.partition_key(), write.row_key(), value_bytes);
  if (!operation.ok()) return operation.status();
  operation_ = std::move(*operation);
  return Status();
}

void PreparedWrite::set_value(const Entity& entity, const StoredSize& size) {
  operation_.give_with_value(encode_properties_behind(operation_.take_for_value(size.bytes), entity, size));
}

void PreparedWrite::apply_expiry() {
  if (kind == Kind::kRemove) return;
  const std::uint64_t end = expiry != nullptr ? end_by_rule(*expiry, value()) : 0;
  if (end != 0 || operation_.has_end()) operation_.set_end(end);
}

namespace {

Status prepare_put(const WriteView& put, const StoreLimits& limits, PreparedWrite& write) {
  const Entity& entity = *put.entity();
  const KeyUse use = put.kind() == Kind::kInsert ? KeyUse::kInsert : KeyUse::kUpdate;
  if (Status key = check_written_key(entity.partition_key(), kPartitionKeyName, use, limits); !key.ok()) return key;
  if (Status key = check_written_key(entity.row_key(), kRowKeyName, use, limits); !key.ok()) return key;
  if (Status condition = check_condition(put.kind(), put.if_match()); !condition.ok()) return condition;
  CheckedProperties learned;
  if (Status properties = check_properties(entity, limits, &learned); !properties.ok()) return properties;

  if (Status begun = write.begin(put, learned.size.bytes); !begun.ok()) return begun;
  write.set_value(entity, learned.size);
  write.has_large_values = learned.has_large_values;
  if (merges(put.kind())) {
    write.accounted_key_bytes = accounted_key_bytes(entity.partition_key(), entity.row_key());
  }
  return Status();
}

Status prepare_remove(const WriteView& remove, const StoreLimits& limits, PreparedWrite& write) {
  const std::string_view partition_key = remove.partition_key();
  const std::string_view row_key = remove.row_key();
  if (Status key = check_key_characters(partition_key, kPartitionKeyName, KeyUse::kLookup); !key.ok()) return key;
  if (Status key = check_key_characters(row_key, kRowKeyName, KeyUse::kLookup); !key.ok()) return key;
  if (Status condition = check_condition(Kind::kRemove, remove.if_match()); !condition.ok()) return condition;

  if (Status begun = write.begin(remove); !begun.ok()) return begun;
  write.key_too_long = is_key_too_long(partition_key, limits) || is_key_too_long(row_key, limits);
  return Status();
}

Status check_grant(const Grant& grant, const WriteView& operation) {
  if (grant.is_everything()) return Status();
  if (Status granted = grant.check_write(operation.kind(), operation.partition_key(), operation.row_key());
      !granted.ok()) {
    return granted;
  }
  // The answer to a condition shows something of the entity.
  const bool has_condition = operation.operation() != nullptr && !operation.operation()->condition.empty();
  return has_condition ? grant.check_query() : Status();
}

/// Returns whether the operation may have more terms than its ETag.
bool may_have_terms(const WriteView& operation) noexcept {
  if (patches(operation.kind())) return true;
  const WriteOperation* const given = operation.operation();
  return given != nullptr && !(given->condition.empty() && given->removed.empty() && given->increments.empty());
}

/// Fills in a new write.
Status prepare(const Grant& grant, const WriteView& operation, const StoreLimits& limits, PreparedWrite& write) {
  if (Status granted = check_grant(grant, operation); !granted.ok()) return granted;
  Status prepared = operation.kind() == Kind::kRemove ? prepare_remove(operation, limits, write)
                                                      : prepare_put(operation, limits, write);
  if (!prepared.ok()) return prepared;
  write.may_see_others = grant.sees_every_entity();
  if (!may_have_terms(operation)) return Status();
  Result<std::shared_ptr<WriteTerms>> terms = prepare_terms(operation, limits);
  if (!terms.ok()) return terms.status();
  write.terms = *std::move(terms);
  return Status();
}

}  // namespace

Result<PreparedWrite> prepare_write(const Grant& grant, const WriteView& operation, const StoreLimits& limits) {
  PreparedWrite write;
  if (Status prepared = prepare(grant, operation, limits, write); !prepared.ok()) return prepared;
  return write;
}

Result<std::vector<PreparedWrite>> prepare_transaction(const Grant& grant, std::span<const WriteOperation> operations,
                                                       const StoreLimits& limits) {
  if (Status checked = check_transaction(operations, limits); !checked.ok()) return checked;
  std::vector<PreparedWrite> writes(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (Status prepared = prepare(grant, operations[i], limits, writes[i]); !prepared.ok()) {
      return prepared.at_operation(static_cast<std::uint32_t>(i));
    }
  }
  return writes;
}

Status InsertEncoder::encode(const Entity& entity) {
  if (Status encoded = encode_keys_and_value(entity); !encoded.ok()) return encoded;
  set_end(expiry_ ? end_by_rule(*expiry_, value_) : 0);
  return Status();
}

Status InsertEncoder::encode_with_end(const Entity& entity, std::uint64_t end) {
  if (Status encoded = encode_keys_and_value(entity); !encoded.ok()) return encoded;
  set_end(end);
  return Status();
}

Status InsertEncoder::encode_keys_and_value(const Entity& entity) {
  if (Status key = check_written_key(entity.partition_key(), kPartitionKeyName, KeyUse::kInsert, limits_); !key.ok())
    return key;
  if (Status key = check_written_key(entity.row_key(), kRowKeyName, KeyUse::kInsert, limits_); !key.ok()) return key;
  CheckedProperties learned;
  if (Status properties = check_properties(entity, limits_, &learned); !properties.ok()) return properties;
  if (learned.has_large_values) {
    return service_error::invalid_input("a load cannot write a LargeValue; insert the entity into the table");
  }
  sort_key_.assign(encoded_id_);
  if (Status encoded = format::append_text(sort_key_, entity.partition_key()); !encoded.ok()) return encoded;
  if (Status encoded = format::append_text(sort_key_, entity.row_key()); !encoded.ok()) return encoded;
  encode_properties(entity, builder_, value_);
  return Status();
}

void InsertEncoder::set_end(std::uint64_t end) {
  kind_ = end == 0 ? format::Kind::kPut : format::Kind::kPutExpiring;
  if (end == 0) return;
  value_with_end_.clear();
  format::append_u64(value_with_end_, format::is_age(end) ? format::end_of_age(end, version_) : end);
  value_with_end_.append(value_);
}

void set_etags(std::span<const WriteOperation> operations, ETag etag, std::span<ETag> etags) noexcept {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].kind != Kind::kRemove) etags[i] = etag;
  }
}

void reserve_patched(std::span<const PreparedWrite> writes, std::vector<Entity>& patched) {
  const auto is_patch = [](const PreparedWrite& write) { return patches(write.kind); };
  patched.reserve(static_cast<std::size_t>(std::count_if(writes.begin(), writes.end(), is_patch)));
}

void take_patched(std::span<const PreparedWrite> writes, ETag etag, std::vector<Entity>& patched) noexcept {
  for (const PreparedWrite& write : writes) {
    if (patches(write.kind)) patched.push_back(write.terms->take_patched(etag));
  }
}

}  // namespace varve
