// Owns: the order of values of two types, as bytes of an index's component (index_bounds.h).
// Must never: compare values of two types otherwise than comparison.cc does.
#include "api/filter/index_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "format/bytes/bytes.h"

namespace varve {
namespace {

using format::PropertyType;

constexpr double kTwoTo63 = 9223372036854775808.0;

std::string stored(std::uint64_t value) {
  std::string bytes;
  format::append_u64(bytes, value);
  return bytes;
}
std::string stored(double value) {
  return stored(std::bit_cast<std::uint64_t>(value));
}
std::string stored(std::int64_t value) {
  return stored(static_cast<std::uint64_t>(value));
}
std::string stored(std::int32_t value) {
  std::string bytes;
  format::append_u32(bytes, static_cast<std::uint32_t>(value));
  return bytes;
}

enum class Side : std::uint8_t { kEqual, kLower, kUpper };

/// Returns the Double that bounds those that compare with the number, or that equals it.
std::optional<std::string> double_for(std::int64_t number, Side side) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto near = static_cast<double>(number);  // rounded above 2^53
  if (side == Side::kLower) return stored(std::nextafter(near, -kInfinity));
  if (side == Side::kUpper) return stored(std::nextafter(near, kInfinity));
  const bool is_exact = near < kTwoTo63 && static_cast<std::int64_t>(near) == number;
  return is_exact ? std::optional(stored(near)) : std::nullopt;
}

/// Returns the value of this type, as it is stored, that equals the literal, or that bounds the values on this side of it.
/// Returns nothing if no value of the type equals the literal, or if the two do not compare.
std::optional<std::string> value_for(PropertyType type, const Value& literal, Side side) {
  const auto* const narrow = literal.get_if<std::int32_t>();
  const auto* const wide = literal.get_if<std::int64_t>();
  const auto* const real = literal.get_if<double>();
  switch (type) {
    case PropertyType::kBinary:
      if (const auto* const binary = literal.get_if<Binary>()) return binary->bytes;
      return std::nullopt;
    case PropertyType::kBoolean:
      if (const auto* const boolean = literal.get_if<bool>()) return std::string(1, *boolean ? '\1' : '\0');
      return std::nullopt;
    case PropertyType::kDateTime:
      if (const auto* const time = literal.get_if<DateTime>()) return stored(std::uint64_t{time->ticks});
      return std::nullopt;
    case PropertyType::kDouble:
      if (real != nullptr) return std::isnan(*real) ? std::nullopt : std::optional(stored(*real));
      if (narrow != nullptr) return double_for(*narrow, side);
      return wide != nullptr ? double_for(*wide, side) : std::nullopt;
    case PropertyType::kGuid:
      if (const auto* const guid = literal.get_if<Guid>()) return std::string(guid->bytes.begin(), guid->bytes.end());
      return std::nullopt;
    case PropertyType::kInt32: return narrow != nullptr ? std::optional(stored(*narrow)) : std::nullopt;
    case PropertyType::kInt64:
      if (narrow != nullptr) return stored(std::int64_t{*narrow});
      return wide != nullptr ? std::optional(stored(*wide)) : std::nullopt;
    case PropertyType::kString:
      if (const auto* const text = literal.get_if<std::string>()) return *text;
      return std::nullopt;
    case PropertyType::kLargeValue: return std::nullopt;
  }
  return std::nullopt;
}

struct IntegerBounds {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
};

/// Returns the values that a type of integers has, or nothing for another type.
std::optional<IntegerBounds> bounds_of_integers(PropertyType type) noexcept {
  if (type == PropertyType::kInt32) return IntegerBounds{INT32_MIN, INT32_MAX};
  if (type == PropertyType::kInt64) return IntegerBounds{INT64_MIN, INT64_MAX};
  return std::nullopt;
}

/// Returns the first integer in an order that is not before a number, or nothing if all of them are. NaN is above all.
std::optional<std::int64_t> integer_at(const Value& number, bool is_descending, IntegerBounds bounds) {
  std::int64_t at = is_descending ? bounds.largest : bounds.smallest;
  if (const auto* const real = number.get_if<double>()) {
    const double whole = is_descending ? std::floor(*real) : std::ceil(*real);
    const bool is_above = std::isnan(*real) || whole >= kTwoTo63;
    const bool is_below = !is_above && whole < -kTwoTo63;
    if (is_descending ? is_below : is_above) return std::nullopt;
    if (is_above || is_below) return at;
    at = static_cast<std::int64_t>(whole);
  } else if (const auto* const narrow = number.get_if<std::int32_t>()) {
    at = *narrow;
  } else if (const auto* const wide = number.get_if<std::int64_t>()) {
    at = *wide;
  }
  if (is_descending ? at < bounds.smallest : at > bounds.largest) return std::nullopt;
  return std::clamp(at, bounds.smallest, bounds.largest);
}

/// Appends a value to components. Returns whether it was cut.
bool append_value(std::string& bytes, const format::IndexComponent& component, PropertyType type,
                  std::string_view value, bool is_descending) {
  if (component.source != format::IndexSource::kTimestamp) {
    return format::append_index_component(bytes, type, value, is_descending);
  }
  format::append_index_timestamp(bytes, format::load_u64(value.data()), is_descending);
  return false;
}

/// Returns the bytes with which the components of a value begin that bounds a range. It includes every value that is cut to
/// the same bytes.
std::string bound_of(const format::IndexComponent& component, PropertyType type, std::string_view value) {
  std::string bytes;
  if (append_value(bytes, component, type, value, false)) bytes.pop_back();
  return bytes;
}

/// Returns the bytes with which the components of all values of the type begin: the tag.
std::string all_of(const format::IndexComponent& component, PropertyType type) {
  std::string bytes = bound_of(component, type, std::string(format::fixed_value_bytes(type).value_or(0), '\0'));
  bytes.resize(1);
  return bytes;
}

std::string inverted(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~static_cast<unsigned char>(byte));
  return bytes;
}

}  // namespace

bool may_have_type(const format::IndexComponent& component, PropertyType type) noexcept {
  switch (component.source) {
    case format::IndexSource::kProperty: return true;
    case format::IndexSource::kTimestamp: return type == PropertyType::kDateTime;
    default: return type == PropertyType::kString;
  }
}

bool append_component(std::string& bytes, const format::IndexComponent& component, PropertyType type,
                      const Value& literal) {
  if (!may_have_type(component, type)) return false;
  if (const auto* const text = literal.get_if<std::string>()) {  // the most frequent one, without a copy
    if (type == PropertyType::kString) append_value(bytes, component, type, *text, component.is_descending);
    return type == PropertyType::kString;
  }
  const std::optional<std::string> value = value_for(type, literal, Side::kEqual);
  if (value) append_value(bytes, component, type, *value, component.is_descending);
  return value.has_value();
}

std::optional<ComponentBounds> bounds_of_type(const format::IndexComponent& component, PropertyType type,
                                              const Value* lower, const Value* upper) {
  if (!may_have_type(component, type)) return std::nullopt;
  ComponentBounds bounds{all_of(component, type), {}};
  bounds.last = bounds.first;
  if (lower != nullptr) {
    const std::optional<std::string> from = value_for(type, *lower, Side::kLower);
    if (!from) return std::nullopt;  // Values of this type are less than the literal.
    bounds.first = bound_of(component, type, *from);
  }
  if (upper != nullptr) {
    if (const auto to = value_for(type, *upper, Side::kUpper)) bounds.last = bound_of(component, type, *to);
  }
  return bounds;
}

bool begin_at(const format::IndexComponent& component, PropertyType type, const Value& position, bool is_descending,
              ComponentBounds& bounds) {
  std::optional<std::string> at;
  if (const std::optional<IntegerBounds> integers = bounds_of_integers(type)) {
    const std::optional<std::int64_t> number = integer_at(position, is_descending, *integers);
    if (!number) return false;
    at = type == PropertyType::kInt32 ? stored(static_cast<std::int32_t>(*number)) : stored(*number);
  } else {
    at = value_for(type, position, is_descending ? Side::kUpper : Side::kLower);
  }
  if (at) (is_descending ? bounds.last : bounds.first) = bound_of(component, type, *at);
  return true;
}

ComponentBounds bounds_of_beginning(std::string_view text) {
  std::string bytes;
  format::append_index_component(bytes, PropertyType::kString, text, false);
  bytes.pop_back();
  return {bytes, bytes};
}

ComponentBounds in_index(const format::IndexComponent& component, ComponentBounds bounds) {
  if (!component.is_descending) return bounds;
  return {inverted(std::move(bounds.last)), inverted(std::move(bounds.first))};
}

}  // namespace varve
