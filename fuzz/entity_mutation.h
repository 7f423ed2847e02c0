// Owns: the mutation of entities, and of rows that are encoded like them.
// Must never: make an entity whose frame is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/entity.h"
#include "fuzz/mutation.h"

namespace varve::fuzz {

struct OwnProperty {
  std::string name;
  format::PropertyType type = format::PropertyType::kString;
  std::string value;
};

inline void fit_value(OwnProperty& property) {
  switch (property.type) {
    case format::PropertyType::kBoolean: property.value.resize(1); break;
    case format::PropertyType::kInt32: property.value.resize(4); break;
    case format::PropertyType::kDateTime:
    case format::PropertyType::kDouble:
    case format::PropertyType::kInt64: property.value.resize(8); break;
    case format::PropertyType::kGuid:
    case format::PropertyType::kLargeValue: property.value.resize(16); break;
    case format::PropertyType::kBinary:
    case format::PropertyType::kString: break;
  }
}

inline void change_property(Chance& chance, OwnProperty& property) {
  constexpr std::size_t kTypes = 9;
  constexpr std::size_t kNameBytesMax = 4095;
  switch (chance.below(3)) {
    case 0: mutate_bytes(property.name); break;
    case 1: mutate_bytes(property.value); break;
    default: property.type = static_cast<format::PropertyType>(1 + chance.below(kTypes)); break;
  }
  property.name.resize(std::min(property.name.size(), kNameBytesMax));
  fit_value(property);
}

/// Returns a changed entity with correct lengths and hashes, or nothing if the bytes are no entity.
inline std::optional<std::string> mutated_entity(Chance& chance, std::string_view bytes) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(bytes);
  if (!view.ok()) return std::nullopt;
  std::vector<OwnProperty> properties;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const format::PropertyView property = view->property(i);
    properties.push_back({std::string(property.name), property.type, std::string(property.value)});
  }
  mutate_parts(chance, properties, [&](OwnProperty& property) { change_property(chance, property); });
  format::EntityBuilder builder;
  for (const OwnProperty& property : properties) builder.add({property.name, property.type, property.value});
  return builder.finish();
}

}  // namespace varve::fuzz
