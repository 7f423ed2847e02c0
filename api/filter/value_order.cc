// Owns: the order of values (value_order.h).
// Must never: convert an integer to a Double to compare it.
#include "api/filter/value_order.h"

#include <cassert>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <variant>

#include "api/filter/filter.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// Returns the integer, of either type. The value is one (asserted).
std::int64_t integer_of(const ValueView& value) noexcept {
  if (const auto* const narrow = std::get_if<std::int32_t>(&value)) return *narrow;
  const auto* const wide = std::get_if<std::int64_t>(&value);
  assert(wide != nullptr);
  return *wide;
}

std::partial_ordering reversed(std::partial_ordering order) noexcept {
  if (std::is_lt(order)) return std::partial_ordering::greater;
  return std::is_gt(order) ? std::partial_ordering::less : order;
}

std::partial_ordering order_of_numbers(const ValueView& a, const ValueView& b) noexcept {
  const auto* const first = std::get_if<double>(&a);
  const auto* const second = std::get_if<double>(&b);
  if (first != nullptr && second != nullptr) return *first <=> *second;
  if (first != nullptr) return order_of_number(*first, integer_of(b));
  if (second != nullptr) return reversed(order_of_number(*second, integer_of(a)));
  return integer_of(a) <=> integer_of(b);
}

constexpr int kRankOfNan = 1;

/// Returns the place of a type among the groups.
int rank_of(const ValueView& value) noexcept {
  switch (property_type_of(value)) {
    case PropertyType::kInt32:
    case PropertyType::kInt64: return 0;
    case PropertyType::kDouble: return is_nan(value) ? kRankOfNan : 0;
    case PropertyType::kString: return 2;
    case PropertyType::kDateTime: return 3;
    case PropertyType::kBoolean: return 4;
    case PropertyType::kGuid: return 5;
    case PropertyType::kBinary: return 6;
    case PropertyType::kLargeValue: break;
  }
  return 7;
}

void append_number(std::uint64_t number, std::string& bytes) {
  for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(number >> shift & 0xFFU));
}

void append_text(char kind, std::string_view text, std::string& bytes) {
  bytes.push_back(kind);
  append_number(text.size(), bytes);
  bytes.append(text);
}

struct IdentityWriter {
  void operator()(const BinaryView& value) const { append_text('b', value.bytes, bytes); }
  void operator()(bool value) const { bytes.push_back(value ? 'T' : 'F'); }
  void operator()(const DateTime& value) const {
    bytes.push_back('t');
    append_number(value.ticks, bytes);
  }
  void operator()(double value) const {
    constexpr double kBeyondIntegers = 9223372036854775808.0;
    if (std::isnan(value)) {
      bytes.push_back('N');
    } else if (value >= -kBeyondIntegers && value < kBeyondIntegers && std::trunc(value) == value) {
      (*this)(static_cast<std::int64_t>(value));
    } else {
      std::uint64_t bits = 0;
      static_assert(sizeof(bits) == sizeof(value));
      __builtin_memcpy(&bits, &value, sizeof(bits));
      bytes.push_back('d');
      append_number(bits, bytes);
    }
  }
  void operator()(const Guid& value) const {
    bytes.push_back('g');
    for (const std::uint8_t byte : value.bytes) bytes.push_back(static_cast<char>(byte));
  }
  void operator()(std::int32_t value) const { (*this)(std::int64_t{value}); }
  void operator()(std::int64_t value) const {
    bytes.push_back('i');
    append_number(static_cast<std::uint64_t>(value), bytes);
  }
  void operator()(std::string_view value) const { append_text('s', value, bytes); }
  void operator()(const LargeValue& value) const {
    bytes.push_back('l');
    append_number(value.id(), bytes);
  }

  std::string& bytes;
};

}  // namespace

bool is_number(PropertyType type) noexcept {
  return type == PropertyType::kInt32 || type == PropertyType::kInt64 || type == PropertyType::kDouble;
}

bool are_comparable(PropertyType a, PropertyType b) noexcept {
  if (a == PropertyType::kLargeValue) return false;
  return a == b || (is_number(a) && is_number(b));
}

bool is_nan(const ValueView& value) noexcept {
  const auto* const number = std::get_if<double>(&value);
  return number != nullptr && std::isnan(*number);
}

std::partial_ordering order_of_values(const ValueView& a, const ValueView& b) noexcept {
  assert(are_comparable(property_type_of(a), property_type_of(b)));
  if (is_number(property_type_of(a))) return order_of_numbers(a, b);
  if (const auto* const text = std::get_if<std::string_view>(&a))
    return format::compare_text(*text, *std::get_if<std::string_view>(&b)) <=> 0;
  if (const auto* const time = std::get_if<DateTime>(&a)) return time->ticks <=> std::get_if<DateTime>(&b)->ticks;
  if (const auto* const boolean = std::get_if<bool>(&a)) return *boolean <=> *std::get_if<bool>(&b);
  if (const auto* const guid = std::get_if<Guid>(&a)) return guid->bytes <=> std::get_if<Guid>(&b)->bytes;
  return std::get_if<BinaryView>(&a)->bytes.compare(std::get_if<BinaryView>(&b)->bytes) <=> 0;
}

std::weak_ordering order_of_groups(const ValueView& a, const ValueView& b) noexcept {
  const int rank = rank_of(a);
  if (rank != rank_of(b)) return rank <=> rank_of(b);
  if (rank == kRankOfNan || !are_comparable(property_type_of(a), property_type_of(b)))
    return std::weak_ordering::equivalent;
  const std::partial_ordering order = order_of_values(a, b);
  if (std::is_lt(order)) return std::weak_ordering::less;
  return std::is_gt(order) ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

void append_identity(const ValueView& value, std::string& bytes) {
  std::visit(IdentityWriter{bytes}, value);
}

}  // namespace varve
