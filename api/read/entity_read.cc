// Owns: reads of entities (entity_read.h).
// Must never: decode properties that the caller did not request.
#include "api/read/entity_read.h"

#include <string>
#include <utility>

#include "api/model/entity_codec.h"
#include "api/model/property_room.h"
#include "api/model/service_error.h"
#include "api/model/spare_pieces.h"
#include "engine/read/value_room.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

Status check_key(std::string_view partition_key, std::string_view row_key) {
  if (Status key = check_key_characters(partition_key, "PartitionKey", KeyUse::kLookup); !key.ok()) return key;
  return check_key_characters(row_key, "RowKey", KeyUse::kLookup);
}

Result<std::optional<Entity>> entity_of(std::string_view partition_key, std::string_view row_key,
                                        const std::optional<engine::FoundEntry>& found, const ReadOptions& options) {
  Result<std::optional<Entity>> result = std::optional<Entity>();
  if (!found) return result;
  Entity& entity =
      (*result).emplace(spare_texts::copy(partition_key), spare_texts::copy(row_key));  // made where it is returned
  Status decoded = decode_properties(entity, found->version, found->value, options.select);
  if (!decoded.ok()) result = std::move(decoded);
  return result;
}

}  // namespace

Status check_selection(const ReadOptions& options) {
  if (options.select.size() <= limits::kSelectedNamesMax) return Status();
  return service_error::invalid_input(std::to_string(options.select.size()) +
                                      " property names are selected; at most 255 are allowed");
}

Result<ResolvedTable> resolve_for_read(StoreCore& core, const TableName& name, NameEntry& entry,
                                       const ReadOptions& options) {
  if (!options.snapshot) return core.catalog().resolve_newest(name, entry);
  Result<engine::ReadView> view = core.view(options.snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = Catalog::resolve_at(*view, name);
  if (!id.ok()) return id.status();
  return ResolvedTable{*std::move(view), *id};
}

Result<std::optional<Entity>> read_entity(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                          std::string_view partition_key, std::string_view row_key,
                                          const ReadOptions& options) {
  if (Status granted = grant.check_read(partition_key, row_key); !granted.ok()) return granted;
  if (Status key = check_key(partition_key, row_key); !key.ok()) return key;
  if (Status selection = check_selection(options); !selection.ok()) return selection;
  const Result<ResolvedTable> table = resolve_for_read(core, name, entry, options);
  if (!table.ok()) return table.status();
  if (is_key_too_long(partition_key, core.limits()) || is_key_too_long(row_key, core.limits()))
    return std::optional<Entity>();

  format::SortKeyBuffer sort_key;
  if (Status encoded = sort_key.encode(table->id, partition_key, row_key); !encoded.ok()) return encoded;
  engine::ValueRoom room;
  const auto found = table->view.get(sort_key.key(), room);
  if (!found.ok()) return found.status();
  return entity_of(partition_key, row_key, *found, options);
}

Status check_read(const Grant& grant, std::span<const EntityKey> keys, const ReadOptions& options) {
  for (const EntityKey& key : keys) {
    if (Status granted = grant.check_read(key.partition_key, key.row_key); !granted.ok()) return granted;
    if (Status checked = check_key(key.partition_key, key.row_key); !checked.ok()) return checked;
  }
  return check_selection(options);
}

Result<WantedKeys> wanted_keys(format::TableId table, std::span<const EntityKey> keys, const StoreLimits& limits) {
  WantedKeys wanted;
  wanted.ends.reserve(keys.size());
  wanted.places.reserve(keys.size());
  std::size_t bytes = 0;
  for (const EntityKey& key : keys) bytes += format::sort_key_bytes(key.partition_key, key.row_key);
  wanted.sort_keys.reserve(bytes);
  format::SortKeyBuffer sort_key;
  for (std::size_t place = 0; place < keys.size(); ++place) {
    const EntityKey& key = keys[place];
    if (is_key_too_long(key.partition_key, limits) || is_key_too_long(key.row_key, limits)) continue;
    if (Status encoded = sort_key.encode(table, key.partition_key, key.row_key); !encoded.ok()) return encoded;
    wanted.sort_keys.append(sort_key.key());
    wanted.ends.push_back(wanted.sort_keys.size());
    wanted.places.push_back(place);
  }
  return wanted;
}

std::vector<std::string_view> WantedKeys::views() const {
  std::vector<std::string_view> keys;
  keys.reserve(ends.size());
  std::size_t start = 0;
  for (const std::size_t end : ends) {
    keys.push_back(std::string_view(sort_keys).substr(start, end - start));
    start = end;
  }
  return keys;
}

Result<std::vector<std::optional<Entity>>> decode_found(std::span<const EntityKey> keys, const WantedKeys& wanted,
                                                        std::span<const std::optional<engine::FoundEntry>> found,
                                                        const ReadOptions& options) {
  std::vector<std::optional<Entity>> entities(keys.size());
  PropertyRoom room;
  for (std::size_t i = 0; i < wanted.places.size(); ++i) {
    if (!found[i]) continue;
    const EntityKey& key = keys[wanted.places[i]];
    Entity& entity =
        entities[wanted.places[i]].emplace(spare_texts::copy(key.partition_key), spare_texts::copy(key.row_key));
    Status decoded = decode_properties(found[i]->version, found[i]->value, options.select, room, entity);
    if (!decoded.ok()) return decoded;
  }
  return entities;
}

Result<std::vector<std::optional<Entity>>> read_entities(StoreCore& core, const TableName& name, NameEntry& entry,
                                                         const Grant& grant, std::span<const EntityKey> keys,
                                                         const ReadOptions& options) {
  if (Status granted = grant.check_query(); !granted.ok()) return granted;
  if (Status checked = check_read(grant, keys, options); !checked.ok()) return checked;
  const Result<ResolvedTable> table = resolve_for_read(core, name, entry, options);
  if (!table.ok()) return table.status();
  const Result<WantedKeys> wanted = wanted_keys(table->id, keys, core.limits());
  if (!wanted.ok()) return wanted.status();
  engine::ValueRoom room;
  const auto found = table->view.get_many(wanted->views(), room);
  if (!found.ok()) return found.status();
  return decode_found(keys, *wanted, *found, options);
}

}  // namespace varve
