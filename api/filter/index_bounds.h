// Owns: the bytes in the keys of an index that bound the values of one component.
// Must never: exclude a value that the comparison with a bound includes. More values may lie between the bounds.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "format/keys/entity.h"
#include "format/keys/index_key.h"
#include "varve/types.h"

namespace varve {

inline constexpr std::array kIndexedTypes = {format::PropertyType::kBinary,   format::PropertyType::kBoolean,
                                             format::PropertyType::kDateTime, format::PropertyType::kDouble,
                                             format::PropertyType::kGuid,     format::PropertyType::kInt32,
                                             format::PropertyType::kInt64,    format::PropertyType::kString};

/// The bytes that values of a component begin with: the first of them and the last. They are not escaped.
struct ComponentBounds {
  std::string first;
  std::string last;
};

/// Returns whether values of the component may have the type.
bool may_have_type(const format::IndexComponent& component, format::PropertyType type) noexcept;

/// Returns whether values of the type may equal the literal. Numbers of several types do.
inline bool may_equal(format::PropertyType type, const Value& literal) noexcept {
  const auto is_number = [](format::PropertyType each) {
    return each == format::PropertyType::kDouble || each == format::PropertyType::kInt32 ||
           each == format::PropertyType::kInt64;
  };
  return type == literal.type() || (is_number(type) && is_number(literal.type()));
}

/// Appends the bytes of the values of this type that equal the literal. Returns false if there are none.
bool append_component(std::string& bytes, const format::IndexComponent& component, format::PropertyType type,
                      const Value& literal);

// The bounds of these functions are those of ascending values. in_index() makes them those of the index.
/// Returns the values of the type from `lower` up to `upper`, or nothing if there are none. Null is no bound.
std::optional<ComponentBounds> bounds_of_type(const format::IndexComponent& component, format::PropertyType type,
                                              const Value* lower, const Value* upper);
/// Leaves out the values that an order has before the position. Returns false if it leaves out all values of the type.
bool begin_at(const format::IndexComponent& component, format::PropertyType type, const Value& position,
              bool is_descending, ComponentBounds& bounds);
/// Returns the texts that begin with this one.
ComponentBounds bounds_of_beginning(std::string_view text);

/// Returns the bounds as the index has them, which may be in descending order.
ComponentBounds in_index(const format::IndexComponent& component, ComponentBounds bounds);

}  // namespace varve
