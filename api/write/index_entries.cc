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
  format::CommitVersion version = 0;  // zero: its commit has none yet
  std::uint64_t end = 0;              // or an age (format/keys/ends.h); zero: it has no end
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
  return std::optional(IndexedState{*properties, before.version, before.end()});
}

Result<std::optional<IndexedState>> state_after(const PreparedWrite& after) {
  if (after.kind == WriteOperation::Kind::kRemove) return std::optional<IndexedState>();
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(after.value());
  if (!properties.ok()) return properties.status();
  return std::optional(IndexedState{*properties, 0, after.operation().end()});
}

/// The components of an entity in an index.
struct Components {
  std::string bytes;
  format::IndexComponentsInfo info{};
};

std::optional<Components> components_of(const TableIndex& index, std::string_view sort_key,
                                        const std::optional<IndexedState>& entity) {
  if (!entity) return std::nullopt;
  Components made;
  std::optional<std::string> bytes =
      format::index_components(index.definition, sort_key, entity->version, entity->properties, &made.info);
  if (!bytes) return std::nullopt;
  made.bytes = *std::move(bytes);
  return made;
}

IndexEntry entry_of(const TableIndex& index, const Components& components, std::string_view sort_key,
                    const IndexedState& entity) {
  IndexEntry entry{format::encode_index_key(index.id, components.bytes, sort_key), {}, format::Kind::kPut};
  if (entity.end != 0) {
    format::append_u64(entry.value, entity.end);
    entry.kind = format::Kind::kPutExpiring;
  }
  entry.value.append(format::encode_index_value(index.definition, entity.properties));
  return entry;
}

void put_entry(const TableIndex& index, const Components& components, std::string_view sort_key,
               const IndexedState& entity, format::BatchBuilder& batch) {
  const IndexEntry entry = entry_of(index, components, sort_key, entity);
  if (components.info.timestamp_at && entity.version == 0) {
    const std::string_view before = std::string_view(components.bytes).substr(0, *components.info.timestamp_at);
    batch.put_stamped(entry.kind, entry.key, format::index_prefix(index.id, before).size(), entry.value);
  } else if (entry.kind == format::Kind::kPut) {
    batch.put(entry.key, entry.value);
  } else {
    batch.put_expiring(entry.key, entry.value);
  }
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
  for (const TableIndex& index : indexes.all) {
    if (!index.is_maintained()) continue;
    const std::optional<Components> old_components = components_of(index, sort_key, *had);
    const std::optional<Components> new_components = components_of(index, sort_key, *has);
    const bool is_same = old_components && new_components && old_components->bytes == new_components->bytes;
    if (old_components && !is_same) {
      std::string removed = format::encode_index_key(index.id, old_components->bytes, sort_key);
      batch.remove(removed);
      if (index.definition.is_unique) values.take(std::move(removed));
    }
    if (!new_components) continue;
    if (compares_value(index, (*has)->properties) && !(is_same && is_value_held(index, **had))) {
      const UniqueValues::Giver giver{place, after.may_see_others};
      if (Status given = values.give(index, new_components->bytes, new_components->info.was_cut, sort_key, giver);
          !given.ok())
        return given;
    }
    if (is_same && is_entry_kept(index, **had, **has)) continue;
    put_entry(index, *new_components, sort_key, **has, batch);
    if (batch.operation_bytes() > kIndexedCommitBytesMax) return entries_too_large(index);
  }
  return Status();
}

Result<std::optional<IndexEntry>> index_entry_of(const TableIndex& index, std::string_view sort_key,
                                                 format::CommitVersion version, std::string_view properties,
                                                 std::uint64_t end) {
  const Result<format::EncodedEntity> opened = stored_properties(sort_key, properties);
  if (!opened.ok()) return opened.status();
  const IndexedState entity{*opened, version, end};
  const std::optional<Components> components = components_of(index, sort_key, entity);
  if (!components) return std::optional<IndexEntry>();
  return std::optional(entry_of(index, *components, sort_key, entity));
}

Result<bool> put_index_entry(const TableIndex& index, std::string_view sort_key, const engine::Newest& entity,
                             format::BatchBuilder& batch, UniqueValues& values) {
  if (!entity.value) return false;
  const Result<std::optional<IndexedState>> has = state_before(entity, sort_key);
  if (!has.ok()) return has.status();
  const std::optional<Components> components = components_of(index, sort_key, *has);
  if (!components) return false;
  if (compares_value(index, (*has)->properties)) {
    const UniqueValues::Giver giver{0, true};
    if (Status given = values.give(index, components->bytes, components->info.was_cut, sort_key, giver); !given.ok())
      return given;
  }
  put_entry(index, *components, sort_key, **has, batch);
  return true;
}

}  // namespace varve
