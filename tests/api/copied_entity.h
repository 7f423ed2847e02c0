// Owns: copying entities that are viewed in place into entities with memory of their own, so that tests can keep and
// compare them.
// Must never: change the copied data.
#pragma once

#include <string>
#include <type_traits>
#include <variant>

#include "varve/entity_view.h"
#include "varve/types.h"

namespace varve::test {

inline Entity copied(const EntityView& view) {
  Entity entity{std::string(view.partition_key), std::string(view.row_key)};
  for (const PropertyView& property : view.properties) {
    const auto copy = [](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, BinaryView>) {
        return Value(Binary{std::string(value.bytes)});
      } else {
        return Value(value);
      }
    };
    entity.add(std::string(property.name), std::visit(copy, property.value));
  }
  entity.set_etag(view.etag);
  return entity;
}

}  // namespace varve::test
