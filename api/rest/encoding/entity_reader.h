// Owns: parsing the JSON that clients send: entities, and the name of a table to create.
// Must never: check what the store checks (names, sizes, numbers of properties), or change the type of a value
// silently.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "varve/limits.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve::serve {

/// Reads an entity whose keys are in the body. Errors: kInvalidArgument with one of these error strings:
/// - PropertiesNeedValue: a key is missing or null (D-14).
/// - InvalidInput: the body is no JSON object or not UTF-8; a value does not fit its type; a value is an object or
///   array; a key is no text, or is annotated as another type.
/// - OutOfRangeInput: a date is out of range.
/// - DuplicatePropertiesSpecified, DuplicateKeyPropertySpecified.
/// - TooManyProperties: reported at the first property above `properties_max`.
/// Source: D-22, D-23, D-30 to D-34, D-45, D-50, O-04, X-02, X-03, X-25.
Result<Entity> read_entity(std::string_view body, std::size_t properties_max = limits::kCustomPropertiesMax);

/// Reads an entity whose keys are in the address. Keys in the body are ignored (O-05). Errors: as above.
Result<Entity> read_entity(std::string_view body, std::string_view partition_key, std::string_view row_key,
                           std::size_t properties_max = limits::kCustomPropertiesMax);

/// Returns the TableName of a body. Errors: kInvalidArgument (PropertiesNeedValue: missing or null; InvalidInput).
/// Source: B-02.
Result<std::string> read_table_name(std::string_view body);

}  // namespace varve::serve
