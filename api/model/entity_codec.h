// Owns: entities of the table model as stored bytes and back; the limits of what an entity holds.
// Must never: let an entity in that breaks a limit, or decode what nobody asked for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/model/property_room.h"
#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "varve/entity_view.h"
#include "varve/result.h"
#include "varve/store_limits.h"
#include "varve/types.h"

namespace varve {

/// The properties that every entity has.
inline constexpr std::string_view kPartitionKeyName = "PartitionKey";
inline constexpr std::string_view kRowKeyName = "RowKey";
inline constexpr std::string_view kTimestampName = "Timestamp";

/// What an entity's properties must keep, in this order: each name and value; no name twice; how many; how large with
/// the keys, which are valid UTF-8. A property called Timestamp is not looked at (D-50).
/// Errors: kInvalidArgument, kTooLarge, as Table has them for a write. Source: D-20 to D-39, D-60, D-62, O-07.
Status check_properties(const Entity& entity, const StoreLimits& limits = {});

/// The properties of an entity that passed check_properties, without Timestamp.
std::string encode_properties(const Entity& entity);
/// The same into `value`; what it and the builder held is forgotten, and their memory used again.
void encode_properties(const Entity& entity, format::EntityBuilder& builder, std::string& value);
/// What that takes.
struct StoredSize {
  std::size_t properties = 0;
  std::size_t bytes = 0;
};
StoredSize stored_size(const Entity& entity) noexcept;
/// What the entity takes in a transaction: its keys, and the properties as encode_properties() writes them.
std::size_t encoded_size_bytes(const Entity& entity) noexcept;
/// `bytes`, and behind them the same, made in its place; `size` is stored_size() of it. What the builder held is
/// forgotten.
std::string encode_properties_behind(std::string bytes, const Entity& entity, const StoredSize& size,
                                     format::EntityBuilder& builder);

/// Not below accounted_size_bytes(), and found without looking into a text.
std::size_t accounted_size_bound(const Entity& entity) noexcept;

/// `stored`, with the properties of `added` in the place of those of the same names, or behind them; of an entity whose
/// keys account for `key_bytes`, the constant of D-60 included. Both are what encode_properties makes.
/// Errors: kTooLarge (TooManyProperties, EntityTooLarge); kCorruption, kUnsupported (what is stored cannot be read).
/// Source: O-12, D-22, D-62.
Result<std::string> merge_properties(std::string_view stored, std::string_view added, std::size_t key_bytes,
                                     const StoreLimits& limits = {});

/// 4 + 2 for each code unit of both keys (D-60), which are valid UTF-8.
std::size_t accounted_key_bytes(std::string_view partition_key, std::string_view row_key) noexcept;

/// The entity that was stored as `bytes` by the commit `version`, with the properties named in `select` alone, unless
/// that is empty. Errors: kCorruption, kUnsupported, naming the keys.
Result<Entity> decode_entity(std::string partition_key, std::string row_key, format::CommitVersion version,
                             std::string_view bytes, std::span<const std::string> select);
/// The same into an entity that has keys and no properties. After an error it has none of use.
Status decode_properties(Entity& entity, format::CommitVersion version, std::string_view bytes,
                         std::span<const std::string> select);
/// The same into `entity`, which has its keys and nothing else yet; its properties get their memory from `room`. After
/// an error it is half made.
Status decode_properties(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                         PropertyRoom& room, Entity& entity);
/// The same, where it lies; its properties stand in `properties`, and what that held is forgotten.
Result<EntityView> view_entity(std::string_view partition_key, std::string_view row_key, format::CommitVersion version,
                               std::string_view bytes, std::span<const std::string> select,
                               std::vector<PropertyView>& properties);

}  // namespace varve
