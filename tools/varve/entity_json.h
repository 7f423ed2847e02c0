// Owns: entities as JSON objects, in the service's form: "X@odata.type" beside a value whose type JSON cannot carry.
// Must never: take a row half: an object is an entity, or an error that says which member is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "varve/types.h"

namespace varve::tool {

/// Which members are the keys, and which types override what a value looks like.
struct RowShape {
  std::string partition_key = "PartitionKey";
  std::string row_key = "RowKey";
  std::map<std::string, PropertyType> types;
};

/// The key that an object lacks.
enum class MissingKey : std::uint8_t { kNone, kPartitionKey, kRowKey };

/// One JSON object. Numbers without a fraction are Int32 or, outside its range, Int64 (the service would make them
/// Double); null is absent; `Timestamp` and `odata.` members are ignored; objects and arrays are refused. Errors:
/// kInvalidArgument; if a key is the reason because it is not there, `missing` names it.
Result<Entity> entity_from_json(std::string_view line, const RowShape& shape, MissingKey* missing);

/// One line, keys first, then Timestamp and odata.etag, then properties in their order.
std::string entity_to_json(const Entity& entity);
/// The same without Timestamp and ETag, so that it can be brought back by import.
std::string entity_to_row(const Entity& entity);

}  // namespace varve::tool
