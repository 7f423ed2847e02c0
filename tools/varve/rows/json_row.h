// Owns: reading a JSON object as an entity, in the service's format. A member "X@odata.type" names the type of X.
// Must never: accept a part of a row. An object becomes an entity, or an error that names the wrong member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/rows/row_shape.h"
#include "tools/varve/rows/row_source.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve::tool {

/// Why an object becomes no entity.
struct JsonRowFault {
  RowFault kind = RowFault::kNone;
  /// As Row::shape_fault. 1 and 2: the object lacks the PartitionKey or the RowKey.
  std::uint64_t shape_fault = 0;
};

/// The most levels of objects and arrays in a row.
constexpr int kNestedLevelsMax = 64;

/// Parses one JSON object. Numbers without a fraction become Int32 or, outside its range, Int64. (The service would
/// convert these to Double.) A null means an absent property. `Timestamp` and `odata.` members are ignored. A text, a
/// number or a Boolean instead of an object is an object with the member "value". Errors: kInvalidArgument. `fault`
/// has the reason then. `contents` receives Row::contents; it may be null if the shape takes no contents.
Result<Entity> entity_from_json(std::string_view text, const RowShape& shape, const RowOrigin& origin,
                                JsonRowFault& fault, std::vector<std::string>* contents = nullptr);

}  // namespace varve::tool
