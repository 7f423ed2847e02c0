// Owns: the JSON that clients send: entities, and the name of a table to be made.
// Must never: judge what a store judges (names, sizes, numbers of properties), or let a value change its type unseen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "varve/limits.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve::serve {

/// An entity whose keys are in the body. Errors: kInvalidArgument (PropertiesNeedValue: a key is missing or null, D-14;
/// InvalidInput: no JSON object, not UTF-8, a value that does not fit its type, an object or array, a key that is no
/// text, or annotated as another type; OutOfRangeInput: a date; DuplicatePropertiesSpecified,
/// DuplicateKeyPropertySpecified; TooManyProperties: at the first above `properties_max`).
/// Source: D-22, D-23, D-30 to D-34, D-45, D-50, O-04, X-02, X-03, X-25.
Result<Entity> read_entity(std::string_view body, std::size_t properties_max = limits::kCustomPropertiesMax);

/// An entity whose keys are in the address; those of the body are not looked at (O-05). Errors: as above.
Result<Entity> read_entity(std::string_view body, std::string_view partition_key, std::string_view row_key,
                           std::size_t properties_max = limits::kCustomPropertiesMax);

/// The TableName of a body. Errors: kInvalidArgument (PropertiesNeedValue: missing or null; InvalidInput). Source:
/// B-02.
Result<std::string> read_table_name(std::string_view body);

}  // namespace varve::serve
