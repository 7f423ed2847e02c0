// Owns: reading a JSON object as an entity, in the service's format. A member "X@odata.type" names the type of X.
// Must never: accept a part of a row. An object becomes an entity, or an error that names the wrong member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/varve/rows/row_shape.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve::tool {

/// The key that an object lacks.
enum class MissingKey : std::uint8_t { kNone, kPartitionKey, kRowKey };

/// The most levels of objects and arrays in a row.
constexpr int kNestedLevelsMax = 64;

/// Parses one JSON object. Numbers without a fraction become Int32 or, outside its range, Int64. (The service would
/// convert these to Double.) A null means an absent property. `Timestamp` and `odata.` members are ignored. A text, a
/// number or a Boolean instead of an object is an object with the member "value". Errors: kInvalidArgument. If a
/// missing key is the reason, `missing` names the key.
Result<Entity> entity_from_json(std::string_view text, const RowShape& shape, const RowOrigin& origin,
                                MissingKey* missing);

}  // namespace varve::tool
