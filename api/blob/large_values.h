// Owns: finding the large values of a stored entity.
// Must never: decode another property.
#pragma once

#include <string_view>
#include <vector>

#include "format/keys/entity.h"
#include "varve/result.h"

namespace varve {

/// Adds the contents that the large values of a stored entity name, once for each property. Errors: kCorruption,
/// kUnsupported.
inline Status add_large_values(std::string_view entity, std::vector<format::ContentReference>& contents) {
  const Result<format::EncodedEntity> opened = format::EncodedEntity::open(entity);
  if (!opened.ok()) return opened.status();
  for (std::size_t i = 0; i < opened->property_count(); ++i) {
    const format::PropertyView property = opened->property(i);
    if (property.type == format::PropertyType::kLargeValue) contents.push_back(property.as_large_value());
  }
  return Status();
}

}  // namespace varve
