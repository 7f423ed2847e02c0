// Owns: large values, and entities that have them, as fields, which the program and the server exchange over the local
// socket.
// Must never: make a value of fields that are malformed. A commit checks the numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/serve/local/blob_fields.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve::serve {

/// An entity in two parts.
struct EntityFields {
  /// The entity without its large values.
  std::string json;
  /// By the names of the properties.
  std::vector<std::pair<std::string, LargeValue>> large_values;
};

/// Add the fields of a value to a list.
/// @{
void add_fields(Fields& fields, const LargeValue& value);
void add_fields(Fields& fields, const EntityFields& entity);
/// @}

/// Return the value that a list has. Errors: kInvalidArgument (InvalidInput: the fields are malformed).
/// @{
Result<LargeValue> large_value_of(const Fields& fields);
Result<EntityFields> entity_fields_of(const Fields& fields);
/// @}

}  // namespace varve::serve
