// Owns: the entries of index that a write adds and removes (index_entries.h).
// Must never: read anything.
#include "api/write/index_entries.h"

#include <optional>
#include <string>
#include <utility>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "format/keys/index_key.h"

namespace varve {
namespace {

/// An entity before or after a write, as indexes see it.
struct IndexedState {
  format::EncodedEntity properties;
  std::uint64_t end = 0;  // or an age (format/keys/ends.h); zero: it has no end
};

Result<format::EncodedEntity> stored_properties(std::string_view sort_key, std::string_view value) {
  Result<format::EncodedEntity> properties = format::EncodedEntity::open(value);
  if (properties.ok()) return properties;
  return Status(properties.code(), "the stored entity " + quoted_keys(sort_key) +
                                       " cannot be decoded: " + std::string(properties.status().message()));
}

/// Returns nothing if there was no entity. One that has ended counts: its entries may still be stored.
Result<std::optional<IndexedState>> state_before(const engine::Newest& before, std::string_view sort_key) {
  if (before.version == 0 || before.entry.kind != format::Kind::kPut) return std::optional<IndexedState>();
  const Result<format::EncodedEntity> properties = stored_properties(sort_key, before.entry.value);
  if (!properties.ok()) return properties.status();
  return std::optional(IndexedState{*properties, before.end()});
}

Result<std::optional<IndexedState>> state_after(const PreparedWrite& after) {
  if (after.kind == WriteOperation::Kind::kRemove) return std::optional<IndexedState>();
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(after.value());
  if (!properties.ok()) return properties.status();
  return std::optional(IndexedState{*properties, after.operation().end()});
}

IndexEntry entry_of(const TableIndex& index, std::string key, const IndexedState& entity) {
  std::string value = format::encode_index_value(index.definition, entity.properties);
  if (entity.end == 0) return {std::move(key), std::move(value), format::Kind::kPut};
  std::string stored;
  format::append_u64(stored, entity.end);
  stored.append(value);
  return {std::move(key), std::move(stored), format::Kind::kPutExpiring};
}

void put_entry(const TableIndex& index, std::string key, const IndexedState& entity, format::BatchBuilder& batch) {
  const IndexEntry entry = entry_of(index, std::move(key), entity);
  if (entry.kind == format::Kind::kPut) return batch.put(entry.key, entry.value);
  batch.put_expiring(entry.key, entry.value);
}

Status entries_too_large(const TableIndex& index) {
  return service_error::request_body_too_large("with the entries of the index " + quoted(index.name) +
                                               " the commit has more than " + std::to_string(kIndexedCommitBytesMax) +
                                               " bytes; let fewer indexes carry properties, or write fewer entities");
}

/// Returns whether the entity before has its value in the unique index, so that it may keep the value without a search. In an
/// index that is being built, its entry may be missing. One with an end may have ended.
bool is_value_held(const TableIndex& index, const IndexedState& before) noexcept {
  return index.state == IndexState::kReady && before.end == 0;
}

/// Returns whether the entry of the entity before serves the entity after. In an index that is being built, it may be
/// missing.
bool is_entry_kept(const TableIndex& index, const IndexedState& before, const IndexedState& after) {
  if (index.state != IndexState::kReady || before.end != 0 || after.end != 0) return false;
  return format::encode_index_value(index.definition, before.properties) ==
         format::encode_index_value(index.definition, after.properties);
}

}  // namespace

Status add_index_entries(const TableIndexes& indexes, const engine::Newest& before, const PreparedWrite& after,
                         std::size_t place, format::BatchBuilder& batch, UniqueValues& values) {
  const std::string_view sort_key = after.sort_key();
  const Result<std::optional<IndexedState>> had = state_before(before, sort_key);
  if (!had.ok()) return had.status();
  const Result<std::optional<IndexedState>> has = state_after(after);
  if (!has.ok()) return has.status();
  const auto components_of = [&](const TableIndex& index, const std::optional<IndexedState>& entity,
                                 bool* was_cut = nullptr) {
    return entity ? format::index_components(index.definition, sort_key, entity->properties, was_cut) : std::nullopt;
  };
  for (const TableIndex& index : indexes.all) {
    if (!index.is_maintained()) continue;
    bool was_cut = false;
    const std::optional<std::string> old_components = components_of(index, *had);
    const std::optional<std::string> new_components = components_of(index, *has, &was_cut);
    if (old_components && old_components != new_components) {
      std::string removed = format::encode_index_key(index.id, *old_components, sort_key);
      batch.remove(removed);
      if (index.definition.is_unique) values.take(std::move(removed));
    }
    if (!new_components) continue;
    const bool is_same = old_components == new_components;
    if (compares_value(index, (*has)->properties) && !(is_same && is_value_held(index, **had))) {
      const UniqueValues::Giver giver{place, after.may_see_others};
      if (Status given = values.give(index, *new_components, was_cut, sort_key, giver); !given.ok()) return given;
    }
    if (is_same && is_entry_kept(index, **had, **has)) continue;
    put_entry(index, format::encode_index_key(index.id, *new_components, sort_key), **has, batch);
    if (batch.operation_bytes() > kIndexedCommitBytesMax) return entries_too_large(index);
  }
  return Status();
}

Result<std::optional<IndexEntry>> index_entry_of(const TableIndex& index, std::string_view sort_key,
                                                 std::string_view properties, std::uint64_t end) {
  const Result<format::EncodedEntity> opened = stored_properties(sort_key, properties);
  if (!opened.ok()) return opened.status();
  const std::optional<std::string> components = format::index_components(index.definition, sort_key, *opened);
  if (!components) return std::optional<IndexEntry>();
  return std::optional(
      entry_of(index, format::encode_index_key(index.id, *components, sort_key), IndexedState{*opened, end}));
}

Result<bool> put_index_entry(const TableIndex& index, std::string_view sort_key, const engine::Newest& entity,
                             format::BatchBuilder& batch, UniqueValues& values) {
  if (!entity.value) return false;
  const Result<std::optional<IndexedState>> has = state_before(entity, sort_key);
  if (!has.ok()) return has.status();
  bool was_cut = false;
  const std::optional<std::string> components =
      format::index_components(index.definition, sort_key, (*has)->properties, &was_cut);
  if (!components) return false;
  if (compares_value(index, (*has)->properties)) {
    const UniqueValues::Giver giver{0, true};
    if (Status given = values.give(index, *components, was_cut, sort_key, giver); !given.ok()) return given;
  }
  put_entry(index, format::encode_index_key(index.id, *components, sort_key), **has, batch);
  return true;
}

}  // namespace varve
