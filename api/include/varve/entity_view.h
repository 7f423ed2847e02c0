// SPDX-License-Identifier: Apache-2.0
// Owns: a read-only view of an entity in the store's memory, for callers that convert pages and need no copy.
// Must never: be used after the call that receives it has returned.
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

/// The view form of Value::Variant, with its alternatives in the order of PropertyType.
using ValueView = std::variant<BinaryView, bool, DateTime, double, Guid, std::int32_t, std::int64_t, std::string_view>;

inline PropertyType property_type_of(const ValueView& value) noexcept {
  return static_cast<PropertyType>(value.index() + 1);
}
/// Returns a view of the value. The Value must outlive the view.
ValueView view_of(const Value& value) noexcept;

struct PropertyView {
  std::string_view name;
  ValueView value;
};

/// The view form of Entity.
struct EntityView {
  std::string_view partition_key;
  std::string_view row_key;
  std::span<const PropertyView> properties;
  ETag etag;

  /// Returns the value of the first property with this name, or null if there is none.
  const ValueView* find(std::string_view name) const noexcept;
};

/// Receives the entities of a page in page order, on one thread. It may throw only std::bad_alloc, which ends the scan
/// with kOutOfMemory.
using EntityReader = std::function<void(const EntityView&)>;

}  // namespace varve

#pragma GCC visibility pop
