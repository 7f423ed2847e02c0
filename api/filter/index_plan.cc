// Owns: the ranges of an index that follow from the comparisons of a filter (index_plan.h).
// Must never: compare values of two types otherwise than comparison.cc does.
#include "api/filter/index_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

using format::PropertyType;
using Comparisons = std::vector<const Comparison*>;

/// One literal for each of several components multiplies the ranges, since a number may be stored with several types.
constexpr std::size_t kIndexRangesMax = 32;
constexpr double kTwoTo63 = 9223372036854775808.0;

/// Returns the comparisons with a literal that are true for every entity that matches.
Comparisons necessary_comparisons(const Filter& filter) {
  Comparisons found;
  if (filter.nodes().empty()) return found;
  std::vector<std::size_t> open{filter.nodes().size() - 1};
  while (!open.empty()) {
    const FilterNode& node = filter.nodes()[open.back()];
    open.pop_back();
    if (node.kind == FilterNode::Kind::kComparison) {
      const Comparison& comparison = filter.comparisons()[node.first];
      if (comparison.kind == Comparison::Kind::kLiteral) found.push_back(&comparison);
    }
    if (node.kind != FilterNode::Kind::kAnd) continue;
    open.push_back(node.first);
    open.push_back(node.second);
  }
  return found;
}

bool is_about(const Comparison& comparison, const format::IndexComponent& component) {
  switch (component.source) {
    case format::IndexSource::kPartitionKey: return comparison.subject == Comparison::Subject::kPartitionKey;
    case format::IndexSource::kRowKey: return comparison.subject == Comparison::Subject::kRowKey;
    case format::IndexSource::kTimestamp: return comparison.subject == Comparison::Subject::kTimestamp;
    case format::IndexSource::kProperty: break;
  }
  return comparison.subject == Comparison::Subject::kCustom && comparison.property == component.property;
}

bool is_lower_bound(CompareOperator compare) noexcept {
  return compare == CompareOperator::kGreater || compare == CompareOperator::kGreaterOrEqual;
}
bool is_upper_bound(CompareOperator compare) noexcept {
  return compare == CompareOperator::kLess || compare == CompareOperator::kLessOrEqual;
}

/// Returns whether each entity that matches has a value of the component. Without the property, each comparison is false.
/// A LargeValue is less than every literal.
bool has_component(const format::IndexComponent& component, const Comparisons& comparisons,
                   bool may_have_large_values) {
  if (component.source != format::IndexSource::kProperty) return true;
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison* comparison) {
    const bool excludes_large_values =
        comparison->compare == CompareOperator::kEqual || is_lower_bound(comparison->compare);
    return is_about(*comparison, component) && (excludes_large_values || !may_have_large_values);
  });
}

bool has_each_component(const format::IndexDefinition& definition, const Comparisons& comparisons,
                        bool may_have_large_values) {
  return std::all_of(definition.components.begin(), definition.components.end(),
                     [&](const format::IndexComponent& component) {
                       return has_component(component, comparisons, may_have_large_values);
                     });
}

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

constexpr std::initializer_list<PropertyType> kIndexedTypes = {
    PropertyType::kBinary, PropertyType::kBoolean, PropertyType::kDateTime, PropertyType::kDouble,
    PropertyType::kGuid,   PropertyType::kInt32,   PropertyType::kInt64,    PropertyType::kString};

/// Appends a value to components. Returns whether it was cut.
bool append_value(std::string& bytes, const format::IndexComponent& component, PropertyType type,
                  std::string_view value, bool is_descending) {
  if (component.source != format::IndexSource::kTimestamp) {
    return format::append_index_component(bytes, type, value, is_descending);
  }
  format::append_index_timestamp(bytes, format::load_u64(value.data()), is_descending);
  return false;
}

/// Returns whether values of the component may have the type.
bool may_have_type(const format::IndexComponent& component, PropertyType type) noexcept {
  switch (component.source) {
    case format::IndexSource::kProperty: return true;
    case format::IndexSource::kTimestamp: return type == PropertyType::kDateTime;
    default: return type == PropertyType::kString;
  }
}

/// Returns the bytes with which the components of a value begin that bounds a range. It includes every value that is cut to
/// the same bytes.
std::string bound_of(const format::IndexComponent& component, PropertyType type, std::string_view value) {
  std::string bytes;
  if (append_value(bytes, component, type, value, false)) bytes.pop_back();
  return bytes;
}

std::string inverted(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~static_cast<unsigned char>(byte));
  return bytes;
}

/// Makes the ranges of one index from its first component on.
class IndexPlanner {
 public:
  IndexPlanner(format::TableId index, const format::IndexDefinition& definition, const Comparisons& comparisons)
      : index_(index), definition_(definition), comparisons_(comparisons) {}

  std::optional<IndexPlan> plan() {
    while (plan_.equal_components < definition_.components.size() && add_equal_component()) {
    }
    const bool has_next = plan_.equal_components < definition_.components.size();
    if (!has_next || !add_range()) {
      if (plan_.equal_components == 0) return std::nullopt;
      for (const std::string& prefix : prefixes_) add(prefix, prefix);
    }
    return std::move(plan_);
  }

  /// Returns nothing if another component comes before the one that orders.
  std::optional<OrderPlan> plan_order(const IndexedOrder& order) {
    while (!is_next(order) && add_equal_component()) {
      if (plan_.equal_components == definition_.components.size()) return std::nullopt;
    }
    if (!is_next(order)) return std::nullopt;
    OrderPlan planned;
    planned.component = plan_.equal_components;
    planned.is_reversed = order.is_descending != next_component().is_descending;
    for (const IndexedOrder::Type& type : order.types) add_values(type, order);
    planned.ranges = std::move(plan_.ranges);
    return planned;
  }

 private:
  bool is_next(const IndexedOrder& order) const {
    if (order.subject == Comparison::Subject::kTimestamp) {
      return next_component().source == format::IndexSource::kTimestamp;
    }
    return next_component().source == format::IndexSource::kProperty && next_component().property == order.property;
  }

  /// Adds the values of a type that the filter's bounds and the position leave.
  void add_values(const IndexedOrder::Type& type, const IndexedOrder& order) {
    if (!may_have_type(next_component(), type.type)) return;
    std::string first =
        bound_of(next_component(), type.type, std::string(format::fixed_value_bytes(type.type).value_or(0), '\0'));
    first.resize(1);  // the tag: all values of the type
    std::string last = first;
    if (const Comparison* const lower = find(is_lower_bound)) {
      const std::optional<std::string> from = value_for(type.type, lower->literal, Side::kLower);
      if (!from) return;  // Values of this type are less than the literal.
      first = bound_of(next_component(), type.type, *from);
    }
    if (const Comparison* const upper = find(is_upper_bound)) {
      if (const auto to = value_for(type.type, upper->literal, Side::kUpper)) {
        last = bound_of(next_component(), type.type, *to);
      }
    }
    if (type.is_bounded && order.position != nullptr) {
      const Side side = order.is_descending ? Side::kUpper : Side::kLower;
      const std::optional<std::string> at = value_for(type.type, *order.position, side);
      if (at) (order.is_descending ? last : first) = bound_of(next_component(), type.type, *at);
    }
    for (const std::string& prefix : prefixes_) add_between(prefix, first, last);
  }

  void add_between(const std::string& prefix, const std::string& first, const std::string& last) {
    next_component().is_descending ? add(prefix + inverted(last), prefix + inverted(first))
                                   : add(prefix + first, prefix + last);
  }

  const format::IndexComponent& next_component() const { return definition_.components[plan_.equal_components]; }

  template <typename Is>
  const Comparison* find(Is is) const {
    const auto found = std::find_if(comparisons_.begin(), comparisons_.end(), [&](const Comparison* comparison) {
      return is_about(*comparison, next_component()) && is(comparison->compare);
    });
    return found == comparisons_.end() ? nullptr : *found;
  }

  bool add_equal_component() {
    const Comparison* const equal = find([](CompareOperator compare) { return compare == CompareOperator::kEqual; });
    if (equal == nullptr) return false;
    std::vector<std::string> longer;
    for (const PropertyType type : kIndexedTypes) {
      if (!may_have_type(next_component(), type)) continue;
      const std::optional<std::string> value = value_for(type, equal->literal, Side::kEqual);
      if (!value) continue;
      for (const std::string& prefix : prefixes_) {
        append_value(longer.emplace_back(prefix), next_component(), type, *value, next_component().is_descending);
      }
    }
    if (longer.size() > kIndexRangesMax) return false;
    prefixes_ = std::move(longer);
    ++plan_.equal_components;
    return true;
  }

  bool add_range() {
    const Comparison* const lower = find(is_lower_bound);
    const Comparison* const upper = find(is_upper_bound);
    // An upper bound alone leaves the values of other types, which only a Timestamp does not have.
    const bool has_one_type = next_component().source == format::IndexSource::kTimestamp;
    if (lower == nullptr && (upper == nullptr || !has_one_type)) return false;
    plan_.has_range = true;
    for (const PropertyType type : kIndexedTypes) {
      if (!may_have_type(next_component(), type)) continue;
      const std::optional<std::string> from =
          lower != nullptr ? value_for(type, lower->literal, Side::kLower) : stored(std::uint64_t{0});
      if (!from) continue;  // Values of this type are less than the literal.
      const std::string first = bound_of(next_component(), type, *from);
      std::string last = first.substr(0, 1);  // all values of the type
      if (upper != nullptr) {
        if (const auto to = value_for(type, upper->literal, Side::kUpper)) last = bound_of(next_component(), type, *to);
      }
      for (const std::string& prefix : prefixes_) add_between(prefix, first, last);
    }
    return true;
  }

  /// Adds the range from the first key that begins with `first` to the last one that begins with `last`.
  void add(const std::string& first, const std::string& last) {
    KeyRange range{format::index_prefix(index_, first), format::end_of_prefix(format::index_prefix(index_, last)),
                   false};
    if (range.lower < range.upper) plan_.ranges.push_back(std::move(range));
  }

  const format::TableId index_;
  const format::IndexDefinition& definition_;
  const Comparisons& comparisons_;
  std::vector<std::string> prefixes_{std::string()};  // of components, not escaped
  IndexPlan plan_;
};

}  // namespace

std::optional<OrderPlan> plan_index_order(const Filter& filter, format::TableId index,
                                          const format::IndexDefinition& definition, bool may_have_large_values,
                                          const IndexedOrder& order) {
  const Comparisons comparisons = necessary_comparisons(filter);
  std::optional<OrderPlan> planned = IndexPlanner(index, definition, comparisons).plan_order(order);
  if (!planned) return planned;
  const format::IndexComponent& ordering = definition.components[planned->component];
  planned->has_all = has_component(ordering, comparisons, may_have_large_values);
  // In the order, a LargeValue is among the values, and not among those that lack the property.
  if (!planned->has_all && may_have_large_values) return std::nullopt;
  for (const format::IndexComponent& component : definition.components) {
    if (component == ordering) continue;
    if (!has_component(component, comparisons, may_have_large_values)) return std::nullopt;
  }
  return planned;
}

std::optional<IndexPlan> plan_index(const Filter& filter, format::TableId index,
                                    const format::IndexDefinition& definition, bool may_have_large_values) {
  const Comparisons comparisons = necessary_comparisons(filter);
  if (!has_each_component(definition, comparisons, may_have_large_values)) return std::nullopt;
  return IndexPlanner(index, definition, comparisons).plan();
}

}  // namespace varve
