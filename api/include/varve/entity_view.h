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
#include "version.h"

namespace varve {

/// The view form of Binary.
struct BinaryView {
  /// The bytes of the value, in the memory of the store or of the viewed Value.
  std::string_view bytes;
  bool operator==(const BinaryView&) const = default;
};

/// The view form of Value::Variant, with its alternatives in the order of PropertyType.
using ValueView =
    std::variant<BinaryView, bool, DateTime, double, Guid, std::int32_t, std::int64_t, std::string_view, LargeValue>;

/// Returns the type of the value.
inline PropertyType property_type_of(const ValueView& value) noexcept {
  return static_cast<PropertyType>(value.index() + 1);
}
/// Returns a view of the value. The Value must outlive the view.
VARVE_EXPORT ValueView view_of(const Value& value) noexcept;

/// The view form of Property.
struct PropertyView {
  /// Property name: 1 to limits::kPropertyNameCodeUnitsMax UTF-16 code units, as UTF-8.
  std::string_view name;
  /// The value. Texts and bytes in it are views too.
  ValueView value;
};

/// The view form of Entity.
struct VARVE_EXPORT EntityView {
  /// PartitionKey, as UTF-8. May be empty.
  std::string_view partition_key;
  /// RowKey, as UTF-8. May be empty.
  std::string_view row_key;
  /// The properties in the order of the stored entity. If the scan selects names, only the selected ones, in the order of the
  /// names.
  std::span<const PropertyView> properties;
  /// The ETag of the last write of the entity. ETag::timestamp() gives the Timestamp.
  ETag etag;

  /// Returns the value of the first property with this name, or null if there is none.
  const ValueView* find(std::string_view name) const noexcept;
};

/// Receives the entities of a page in page order, on one thread. It may throw only std::bad_alloc, which ends the scan
/// with kOutOfMemory.
using EntityReader = std::function<void(const EntityView&)>;

}  // namespace varve
