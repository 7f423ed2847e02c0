// SPDX-License-Identifier: Apache-2.0
// Owns: an entity of a page where the store keeps it: for those who turn pages into something else, and need no copy.
// Must never: outlive the call that is given it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <variant>

#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

struct BinaryView {
  std::string_view bytes;
  bool operator==(const BinaryView&) const = default;
};

/// As Value::Variant, in the order of PropertyType.
using ValueView = std::variant<BinaryView, bool, DateTime, double, Guid, std::int32_t, std::int64_t, std::string_view>;

inline PropertyType property_type_of(const ValueView& value) noexcept {
  return static_cast<PropertyType>(value.index() + 1);
}
/// The same value; what it views must outlive it.
ValueView view_of(const Value& value) noexcept;

struct PropertyView {
  std::string_view name;
  ValueView value;
};

/// As Entity.
struct EntityView {
  std::string_view partition_key;
  std::string_view row_key;
  std::span<const PropertyView> properties;
  ETag etag;

  /// The first property with this name, or null.
  const ValueView* find(std::string_view name) const noexcept;
};

/// Is given the entities of a page in their order, by one thread. It may throw std::bad_alloc alone, which ends the
/// scan with kOutOfMemory.
using EntityReader = std::function<void(const EntityView&)>;

}  // namespace varve

#pragma GCC visibility pop
