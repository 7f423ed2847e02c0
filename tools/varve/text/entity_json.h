// Owns: entities as JSON objects in the service's format. A member "X@odata.type" names the type if JSON cannot express
// it.
// Must never: lose a type or a value of a property.
#pragma once

#include <string>

#include "tools/varve/text/value_text.h"
#include "varve/types.h"

namespace varve::tool {

/// Returns one line: keys first, then Timestamp and odata.etag, then properties in their order.
std::string entity_to_json(const Entity& entity);
/// Returns the line without Timestamp and ETag, so that import can read it. With kFileName, import --contents can read the
/// large values, too.
std::string entity_to_row(const Entity& entity, LargeValueText large_values = LargeValueText::kDescription);

}  // namespace varve::tool
