// Owns: the ranges of an index that follow from the comparisons of a filter (index_plan.h).
// Must never: compare values of two types otherwise than comparison.cc does.
#include "api/filter/index_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

using format::PropertyType;

constexpr std::initializer_list<PropertyType> kIndexedTypes = {
    PropertyType::kBinary, PropertyType::kBoolean, PropertyType::kDateTime, PropertyType::kDouble,
    PropertyType::kGuid,   PropertyType::kInt32,   PropertyType::kInt64,    PropertyType::kString};

/// The most ranges of an index that are read for a filter, and that are merged for an order. A number may be stored with
/// several types, and the literals of several components multiply each other.
constexpr std::size_t kIndexRangesMax = 256;
constexpr std::size_t kOrderedRangesMax = 128;
constexpr double kTwoTo63 = 9223372036854775808.0;

/// What the filter says about one property of every entity that matches.
struct NecessaryCondition {
  const Comparison* comparison = nullptr;
  /// The property equals one of these literals.
  std::vector<const Value*> literals{};
  bool has_literals = false;
};
using NecessaryConditions = std::vector<NecessaryCondition>;

/// Appends the literals that the property of a leaf equals if the leaf is true. Returns whether it is such a leaf.
bool append_literals(const Comparison& comparison, std::vector<const Value*>& literals) {
  if (comparison.kind == Comparison::Kind::kLiteral && comparison.compare == CompareOperator::kEqual) {
    literals.push_back(&comparison.literal);
    return true;
  }
  if (comparison.kind != Comparison::Kind::kList) return false;
  for (const PropertyType type : kIndexedTypes) {
    for (const Value& literal : comparison.list->of_type(type)) literals.push_back(&literal);
  }
  return true;
}

bool is_about(const Comparison& comparison, Comparison::Subject subject, std::string_view property) {
  return comparison.subject == subject && (subject != Comparison::Subject::kCustom || comparison.property == property);
}

/// Returns nothing unless each leaf below the `or` gives literals of the same property.
std::optional<NecessaryCondition> alternatives(const Filter& filter, std::size_t root) {
  NecessaryCondition found{nullptr, {}, true};
  std::vector<std::size_t> open{root};
  while (!open.empty()) {
    const FilterNode& node = filter.nodes()[open.back()];
    open.pop_back();
    if (node.kind == FilterNode::Kind::kOr) {
      open.push_back(node.first);
      open.push_back(node.second);
      continue;
    }
    if (node.kind != FilterNode::Kind::kComparison) return std::nullopt;
    const Comparison& comparison = filter.comparisons()[node.first];
    if (found.comparison == nullptr) found.comparison = &comparison;
    if (!is_about(comparison, found.comparison->subject, found.comparison->property)) return std::nullopt;
    if (!append_literals(comparison, found.literals)) return std::nullopt;
  }
  return found;
}

/// Returns the conditions that hold for every entity that matches.
NecessaryConditions necessary_conditions(const Filter& filter) {
  NecessaryConditions found;
  if (filter.nodes().empty()) return found;
  std::vector<std::size_t> open{filter.nodes().size() - 1};
  while (!open.empty()) {
    const std::size_t at = open.back();
    const FilterNode& node = filter.nodes()[at];
    open.pop_back();
    if (node.kind == FilterNode::Kind::kComparison) {
      NecessaryCondition condition{&filter.comparisons()[node.first]};
      condition.has_literals = append_literals(*condition.comparison, condition.literals);
      found.push_back(std::move(condition));
    }
    if (node.kind == FilterNode::Kind::kOr) {
      if (std::optional<NecessaryCondition> one = alternatives(filter, at)) found.push_back(*std::move(one));
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

/// Returns whether the comparison is false for a LargeValue. It is less than every literal.
bool excludes_large_values(const NecessaryCondition& condition) noexcept {
  switch (condition.comparison->kind) {
    case Comparison::Kind::kLiteral: return condition.has_literals || is_lower_bound(condition.comparison->compare);
    case Comparison::Kind::kProperty:
    case Comparison::Kind::kExists: return false;
    default: return true;  // a list, or a function of Strings
  }
}

bool is_right_side(const Comparison& comparison, const format::IndexComponent& component) {
  return comparison.kind == Comparison::Kind::kProperty && comparison.other_subject == Comparison::Subject::kCustom &&
         comparison.other_property == component.property;
}

/// Returns whether each entity that matches has a value of the component. Without the property, each condition is false.
bool has_component(const format::IndexComponent& component, const NecessaryConditions& conditions,
                   bool may_have_large_values) {
  if (component.source != format::IndexSource::kProperty) return true;
  return std::any_of(conditions.begin(), conditions.end(), [&](const NecessaryCondition& condition) {
    const Comparison& comparison = *condition.comparison;
    if (may_have_large_values && !excludes_large_values(condition)) return false;
    return is_about(comparison, component) || is_right_side(comparison, component);
  });
}

bool has_each_component(const format::IndexDefinition& definition, const NecessaryConditions& conditions,
                        bool may_have_large_values) {
  return std::all_of(definition.components.begin(), definition.components.end(),
                     [&](const format::IndexComponent& component) {
                       return has_component(component, conditions, may_have_large_values);
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

/// Returns the bytes with which the components of all values of the type begin: the tag.
std::string all_of(const format::IndexComponent& component, PropertyType type) {
  std::string bytes = bound_of(component, type, std::string(format::fixed_value_bytes(type).value_or(0), '\0'));
  bytes.resize(1);
  return bytes;
}

/// Returns the bytes with which the components of all texts begin that begin with this one.
std::string beginning_of(std::string_view text) {
  std::string bytes;
  format::append_index_component(bytes, PropertyType::kString, text, false);
  bytes.pop_back();
  return bytes;
}

std::string inverted(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~static_cast<unsigned char>(byte));
  return bytes;
}

/// Makes the ranges of one index from its first component on.
class IndexPlanner {
 public:
  IndexPlanner(format::TableId index, const format::IndexDefinition& definition, const NecessaryConditions& conditions,
               std::size_t ranges_max)
      : index_(index), definition_(definition), conditions_(conditions), ranges_max_(ranges_max) {}

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
    if (!is_next(order) || prefixes_.size() * order.types.size() > ranges_max_) return std::nullopt;
    OrderPlan planned;
    planned.component = plan_.equal_components;
    planned.is_reversed = order.is_descending != next_component().is_descending;
    planned.is_in_key_order = !planned.is_reversed && planned.component + 1 == definition_.components.size();
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
    std::string first = all_of(next_component(), type.type);
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
      std::optional<std::string> at;
      if (const std::optional<IntegerBounds> integers = bounds_of_integers(type.type)) {
        const std::optional<std::int64_t> number = integer_at(*order.position, order.is_descending, *integers);
        if (!number) return;  // All values of the type are before the position.
        at = type.type == PropertyType::kInt32 ? stored(static_cast<std::int32_t>(*number)) : stored(*number);
      } else {
        at = value_for(type.type, *order.position, order.is_descending ? Side::kUpper : Side::kLower);
      }
      if (at) (order.is_descending ? last : first) = bound_of(next_component(), type.type, *at);
    }
    for (const std::string& prefix : prefixes_) add_between(prefix, first, last);
  }

  void add_between(const std::string& prefix, const std::string& first, const std::string& last) {
    next_component().is_descending ? add(prefix + inverted(last), prefix + inverted(first))
                                   : add(prefix + first, prefix + last);
  }

  std::size_t count_types() const {
    return static_cast<std::size_t>(
        std::count_if(kIndexedTypes.begin(), kIndexedTypes.end(),
                      [this](PropertyType type) { return may_have_type(next_component(), type); }));
  }

  const format::IndexComponent& next_component() const { return definition_.components[plan_.equal_components]; }

  template <typename Is>
  const NecessaryCondition* find_condition(Is is) const {
    const auto found = std::find_if(conditions_.begin(), conditions_.end(), [&](const NecessaryCondition& condition) {
      return is_about(*condition.comparison, next_component()) && is(condition);
    });
    return found == conditions_.end() ? nullptr : &*found;
  }

  /// Returns a comparison of the next component with a literal.
  template <typename Is>
  const Comparison* find(Is is) const {
    const NecessaryCondition* const found = find_condition([&](const NecessaryCondition& condition) {
      return condition.comparison->kind == Comparison::Kind::kLiteral && is(condition.comparison->compare);
    });
    return found == nullptr ? nullptr : found->comparison;
  }

  bool add_equal_component() {
    const NecessaryCondition* const equal =
        find_condition([](const NecessaryCondition& condition) { return condition.has_literals; });
    if (equal == nullptr) return false;
    std::set<std::string> longer;  // Numbers of several types may be one stored value, and so may texts that are cut.
    for (const Value* const literal : equal->literals) {
      for (const PropertyType type : kIndexedTypes) {
        if (!may_have_type(next_component(), type)) continue;
        const std::optional<std::string> value = value_for(type, *literal, Side::kEqual);
        if (!value) continue;
        for (std::string prefix : prefixes_) {
          append_value(prefix, next_component(), type, *value, next_component().is_descending);
          longer.insert(std::move(prefix));
        }
        if (longer.size() > ranges_max_) return false;
      }
    }
    prefixes_.assign(longer.begin(), longer.end());
    ++plan_.equal_components;
    return true;
  }

  bool add_range() {
    const NecessaryCondition* const prefix = find_condition([](const NecessaryCondition& condition) {
      return condition.comparison->kind == Comparison::Kind::kStartsWith;
    });
    if (prefix != nullptr) {
      const std::string first = beginning_of(prefix->comparison->text());
      for (const std::string& components : prefixes_) add_between(components, first, first);
      return plan_.has_range = plan_.has_two_bounds = true;
    }
    const Comparison* const lower = find(is_lower_bound);
    const Comparison* const upper = find(is_upper_bound);
    if (lower == nullptr && upper == nullptr) return false;
    if (prefixes_.size() * count_types() > ranges_max_) return false;
    for (const PropertyType type : kIndexedTypes) {
      if (!may_have_type(next_component(), type)) continue;
      std::string first = all_of(next_component(), type);
      std::string last = first;
      if (lower != nullptr) {
        const std::optional<std::string> from = value_for(type, lower->literal, Side::kLower);
        if (!from) continue;  // Values of this type are less than the literal.
        first = bound_of(next_component(), type, *from);
      }
      if (upper != nullptr) {
        if (const auto to = value_for(type, upper->literal, Side::kUpper)) last = bound_of(next_component(), type, *to);
      }
      for (const std::string& components : prefixes_) add_between(components, first, last);
    }
    plan_.has_two_bounds = lower != nullptr && upper != nullptr;
    return plan_.has_range = true;
  }

  /// Adds the range from the first key that begins with `first` to the last one that begins with `last`.
  void add(const std::string& first, const std::string& last) {
    KeyRange range{format::index_prefix(index_, first), {}, false};
    range.upper = format::end_of_prefix(first == last ? range.lower : format::index_prefix(index_, last));
    if (range.lower < range.upper) plan_.ranges.push_back(std::move(range));
  }

  const format::TableId index_;
  const format::IndexDefinition& definition_;
  const NecessaryConditions& conditions_;
  const std::size_t ranges_max_;
  std::vector<std::string> prefixes_{std::string()};  // of components, not escaped
  IndexPlan plan_;
};

}  // namespace

const Value* fixed_value(const Filter& filter, Comparison::Subject subject, std::string_view property) {
  for (const NecessaryCondition& condition : necessary_conditions(filter)) {
    const bool has_one = condition.literals.size() == 1;
    if (has_one && is_about(*condition.comparison, subject, property)) return condition.literals.front();
  }
  return nullptr;
}

std::optional<OrderPlan> plan_index_order(const Filter& filter, format::TableId index,
                                          const format::IndexDefinition& definition, bool may_have_large_values,
                                          const IndexedOrder& order) {
  const NecessaryConditions conditions = necessary_conditions(filter);
  std::optional<OrderPlan> planned = IndexPlanner(index, definition, conditions, kOrderedRangesMax).plan_order(order);
  if (!planned) return planned;
  const format::IndexComponent& ordering = definition.components[planned->component];
  planned->has_all = has_component(ordering, conditions, may_have_large_values);
  // In the order, a LargeValue is among the values, and not among those that lack the property.
  if (!planned->has_all && may_have_large_values) return std::nullopt;
  for (const format::IndexComponent& component : definition.components) {
    if (component == ordering) continue;
    if (!has_component(component, conditions, may_have_large_values)) return std::nullopt;
  }
  return planned;
}

std::optional<IndexPlan> plan_index(const Filter& filter, format::TableId index,
                                    const format::IndexDefinition& definition, bool may_have_large_values) {
  const NecessaryConditions conditions = necessary_conditions(filter);
  if (!has_each_component(definition, conditions, may_have_large_values)) return std::nullopt;
  return IndexPlanner(index, definition, conditions, kIndexRangesMax).plan();
}

}  // namespace varve
