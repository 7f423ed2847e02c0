// Owns: entities as JSON objects in the service's format. A member "X@odata.type" names the type if JSON cannot express
// it.
// Must never: accept a part of a row. An object becomes an entity, or an error that names the wrong member.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "varve/types.h"

namespace varve::tool {

/// The names of the members that are the keys, and the types that override the types of the values.
struct RowShape {
  std::string partition_key = "PartitionKey";
  std::string row_key = "RowKey";
  std::map<std::string, PropertyType> types;
};

/// The key that an object lacks.
enum class MissingKey : std::uint8_t { kNone, kPartitionKey, kRowKey };

/// Parses one JSON object. Numbers without a fraction become Int32 or, outside its range, Int64. (The service would
/// convert these to Double.) A null means an absent property. `Timestamp` and `odata.` members are ignored. Objects and
/// arrays are refused. Errors: kInvalidArgument. If a missing key is the reason, `missing` names the key.
Result<Entity> entity_from_json(std::string_view line, const RowShape& shape, MissingKey* missing);

/// Returns one line: keys first, then Timestamp and odata.etag, then properties in their order.
std::string entity_to_json(const Entity& entity);
/// Returns the line without Timestamp and ETag, so that import can read it.
std::string entity_to_row(const Entity& entity);

}  // namespace varve::tool
