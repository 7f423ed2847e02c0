// Owns: the comparison of a stored property with a literal (filter.h).
// Must never: convert a value in a way that changes the result. For example, an Int64 is not always exact as a Double.
#include <cmath>
#include <compare>
#include <optional>

#include "api/filter/filter.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

using Order = std::partial_ordering;

/// If the types differ, the property is less than the literal.
constexpr Order kMismatch = Order::less;

Order order_of_text(std::string_view stored, const Value& literal) noexcept {
  const std::string* const text = literal.get_if<std::string>();
  return text == nullptr ? kMismatch : Order(format::compare_text(stored, *text) <=> 0);
}

Order order_of_integer(std::int64_t stored, bool is_int64, const Value& literal) noexcept {
  if (const auto* const narrow = literal.get_if<std::int32_t>()) return stored <=> std::int64_t{*narrow};
  const auto* const wide = literal.get_if<std::int64_t>();
  return is_int64 && wide != nullptr ? Order(stored <=> *wide) : kMismatch;
}

Order order_of_double(double stored, const Value& literal) noexcept {
  if (const auto* const same = literal.get_if<double>()) return stored <=> *same;
  if (const auto* const narrow = literal.get_if<std::int32_t>()) return order_of_number(stored, *narrow);
  if (const auto* const wide = literal.get_if<std::int64_t>()) return order_of_number(stored, *wide);
  return kMismatch;
}

Order order_of_guid(const format::GuidBytes& stored, const Value& literal) noexcept {
  const auto* const guid = literal.get_if<Guid>();
  return guid == nullptr ? kMismatch : Order(stored <=> guid->bytes);
}

Order order_of_binary(std::string_view stored, const Value& literal) noexcept {
  const auto* const binary = literal.get_if<Binary>();
  return binary == nullptr ? kMismatch : Order(stored.compare(binary->bytes) <=> 0);
}

Order order_of_boolean(bool stored, const Value& literal) noexcept {
  const auto* const boolean = literal.get_if<bool>();
  return boolean == nullptr ? kMismatch : Order(stored <=> *boolean);
}

}  // namespace

std::partial_ordering order_of_number(double stored, std::int64_t integer) noexcept {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(stored)) return Order::unordered;
  if (stored >= kTwoTo63) return Order::greater;
  if (stored < -kTwoTo63) return Order::less;
  const double whole = std::trunc(stored);
  const auto truncated = static_cast<std::int64_t>(whole);
  if (truncated != integer) return truncated < integer ? Order::less : Order::greater;
  return stored - whole <=> 0.0;
}

bool satisfies(std::partial_ordering order, CompareOperator compare) noexcept {
  switch (compare) {
    case CompareOperator::kEqual: return std::is_eq(order);
    case CompareOperator::kNotEqual: return std::is_neq(order);
    case CompareOperator::kGreater: return std::is_gt(order);
    case CompareOperator::kGreaterOrEqual: return std::is_gteq(order);
    case CompareOperator::kLess: return std::is_lt(order);
    case CompareOperator::kLessOrEqual: return std::is_lteq(order);
  }
  return false;
}

std::partial_ordering order_of_date_time(std::uint64_t ticks, const Value& literal) noexcept {
  const auto* const date_time = literal.get_if<DateTime>();
  return date_time == nullptr ? kMismatch : Order(ticks <=> date_time->ticks);
}

std::partial_ordering order_of_property(const format::PropertyView& stored, const Value& literal) noexcept {
  switch (stored.type) {
    case format::PropertyType::kBinary: return order_of_binary(stored.value, literal);
    case format::PropertyType::kBoolean: return order_of_boolean(stored.as_boolean(), literal);
    case format::PropertyType::kDateTime: return order_of_date_time(stored.as_date_time_ticks(), literal);
    case format::PropertyType::kDouble: return order_of_double(stored.as_double(), literal);
    case format::PropertyType::kGuid: return order_of_guid(stored.as_guid(), literal);
    case format::PropertyType::kInt32: return order_of_integer(stored.as_int32(), false, literal);
    case format::PropertyType::kInt64: return order_of_integer(stored.as_int64(), true, literal);
    case format::PropertyType::kString: return order_of_text(stored.value, literal);
    case format::PropertyType::kLargeValue: return kMismatch;  // No filter has such a literal.
  }
  return kMismatch;
}

namespace {

/// Returns nothing if the entity lacks the property.
std::optional<Order> order_in(const FilterSubject& subject, const Comparison& comparison) noexcept {
  switch (comparison.subject) {
    case Comparison::Subject::kPartitionKey: return order_of_text(subject.partition_key, comparison.literal);
    case Comparison::Subject::kRowKey: return order_of_text(subject.row_key, comparison.literal);
    case Comparison::Subject::kTimestamp: return order_of_date_time(subject.version, comparison.literal);
    case Comparison::Subject::kCustom: break;
  }
  const std::optional<format::PropertyView> stored =
      subject.properties.find(comparison.property, comparison.property_hash);
  if (!stored) return std::nullopt;
  return order_of_property(*stored, comparison.literal);
}

}  // namespace

bool holds(const Comparison& comparison, const FilterSubject& subject) noexcept {
  if (comparison.kind != Comparison::Kind::kLiteral) [[unlikely]]
    return holds_extended(comparison, subject);
  const std::optional<Order> order = order_in(subject, comparison);
  return order.has_value() && satisfies(*order, comparison.compare);
}

}  // namespace varve
