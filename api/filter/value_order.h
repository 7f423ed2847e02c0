// Owns: the order and the equality of property values of any type, as aggregations use them.
// Must never: compare two values of types that have no common order.
#pragma once

#include <compare>
#include <string>

#include "varve/entity_view.h"
#include "varve/property_type.h"

namespace varve {

bool is_number(PropertyType type) noexcept;
/// Returns true if values of the types have a common order: numbers of all types, and other types with themselves.
bool are_comparable(PropertyType a, PropertyType b) noexcept;
bool is_nan(const ValueView& value) noexcept;
/// Compares two values of comparable types (asserted). NaN is unordered.
std::partial_ordering order_of_values(const ValueView& a, const ValueView& b) noexcept;
/// Compares any values except LargeValues: numbers, NaN, String, DateTime, Boolean, Guid, Binary.
std::weak_ordering order_of_groups(const ValueView& a, const ValueView& b) noexcept;
/// Appends bytes that are equal exactly for equal values: a number is equal in all types, and all NaN are equal. No such
/// bytes are the beginning of others.
void append_identity(const ValueView& value, std::string& bytes);

}  // namespace varve
