// Owns: the ranges of an index that follow from the comparisons of a filter (index_plan.h).
// Must never: compare values of two types otherwise than comparison.cc does.
#include "api/filter/index_plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "api/filter/index_bounds.h"
#include "api/filter/value_order.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

using format::PropertyType;

/// The most ranges of an index that are read for a filter, and that are merged for an order. A number may be stored with
/// several types, and the literals of several components multiply each other.
constexpr std::size_t kIndexRangesMax = 256;
constexpr std::size_t kOrderedRangesMax = 128;

/// Some literals of a filter. Most often there is one, for which the list needs no memory.
class Literals {
 public:
  void add(const Value& literal) {
    if (size_++ == 0) {
      first_ = &literal;
    } else {
      others_.push_back(&literal);
    }
  }
  std::size_t size() const noexcept { return size_; }
  const Value& operator[](std::size_t place) const noexcept { return place == 0 ? *first_ : *others_[place - 1]; }

 private:
  std::size_t size_ = 0;
  const Value* first_ = nullptr;
  std::vector<const Value*> others_;
};

/// What the filter says about one property of every entity that matches.
struct NecessaryCondition {
  const Comparison* comparison = nullptr;
  /// The property equals one of these literals.
  Literals literals{};
  bool has_literals = false;
};
using NecessaryConditions = std::vector<NecessaryCondition>;

/// Appends the literals that the property of a leaf equals if the leaf is true. Returns whether it is such a leaf.
bool append_literals(const Comparison& comparison, Literals& literals) {
  if (comparison.kind == Comparison::Kind::kLiteral && comparison.compare == CompareOperator::kEqual) {
    literals.add(comparison.literal);
    return true;
  }
  if (comparison.kind != Comparison::Kind::kList) return false;
  for (const PropertyType type : kIndexedTypes) {
    for (const Value& literal : comparison.list->of_type(type)) literals.add(literal);
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
  std::vector<std::size_t> open;
  for (std::size_t at = filter.nodes().size() - 1;;) {
    const FilterNode& node = filter.nodes()[at];
    if (node.kind == FilterNode::Kind::kAnd) {
      open.push_back(node.first);
      at = node.second;
      continue;
    }
    if (node.kind == FilterNode::Kind::kComparison) {
      NecessaryCondition& condition = found.emplace_back();
      condition.comparison = &filter.comparisons()[node.first];
      condition.has_literals = append_literals(*condition.comparison, condition.literals);
    } else if (node.kind == FilterNode::Kind::kOr) {
      if (std::optional<NecessaryCondition> one = alternatives(filter, at)) found.push_back(*std::move(one));
    }
    if (open.empty()) return found;
    at = open.back();
    open.pop_back();
  }
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

/// Returns the plan of a filter that is one `eq`, for an index of that component alone, without the lists of the planner.
/// Returns nothing for another filter or index, and for a number, which may be stored with several types.
std::optional<IndexPlan> plan_one_value(const Filter& filter, format::TableId index,
                                        const format::IndexDefinition& definition) {
  if (!filter.is_one_comparison() || definition.components.size() != 1) return std::nullopt;
  const format::IndexComponent& component = definition.components.front();
  const Comparison& comparison = filter.comparisons().front();
  const bool is_equal = comparison.kind == Comparison::Kind::kLiteral && comparison.compare == CompareOperator::kEqual;
  if (!is_equal || !is_about(comparison, component)) return std::nullopt;
  const PropertyType type = comparison.literal.type();
  if (is_number(type)) return std::nullopt;
  std::string value;
  if (!append_component(value, component, type, comparison.literal)) return std::nullopt;
  IndexPlan plan;
  plan.equal_components = 1;
  plan.ranges.push_back(index_range(index, value, {}));
  return plan;
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
      for (const std::string& prefix : prefixes_) add(prefix, {});
    }
    return std::move(plan_);
  }

  /// Returns nothing if another component comes before the one that orders.
  std::optional<OrderPlan> plan_order(std::span<const IndexedOrder> order) {
    const std::size_t components = definition_.components.size();
    while (!is_next(order.front()) && add_equal_component()) {
      if (plan_.equal_components == components) return std::nullopt;
    }
    if (!is_next(order.front()) || prefixes_.size() * order.front().types.size() > ranges_max_) return std::nullopt;
    OrderPlan planned;
    planned.index = index_;
    planned.component = plan_.equal_components;
    planned.is_reversed = is_against(order.front());
    for (const IndexedOrder& next : order) {
      if (plan_.equal_components == components || !is_next(next) || is_against(next) != planned.is_reversed) break;
      const bool is_bounded = find(is_lower_bound) != nullptr || find(is_upper_bound) != nullptr;
      planned.components.push_back({all_values(), values_after(next), is_bounded});
      ++plan_.equal_components;  // Within one value of it, the next component orders.
    }
    planned.is_in_key_order = !planned.is_reversed && plan_.equal_components == components;
    planned.prefixes = std::move(prefixes_);
    return planned;
  }

 private:
  bool is_next(const IndexedOrder& order) const {
    if (order.subject == Comparison::Subject::kTimestamp) {
      return next_component().source == format::IndexSource::kTimestamp;
    }
    return next_component().source == format::IndexSource::kProperty && next_component().property == order.property;
  }
  bool is_against(const IndexedOrder& order) const { return order.is_descending != next_component().is_descending; }

  /// Returns the bounds of the next component's values of the type that the filter leaves.
  std::optional<ComponentBounds> bounds_of(PropertyType type) const {
    const Comparison* const lower = find(is_lower_bound);
    const Comparison* const upper = find(is_upper_bound);
    return bounds_of_type(next_component(), type, lower == nullptr ? nullptr : &lower->literal,
                          upper == nullptr ? nullptr : &upper->literal);
  }
  std::vector<ComponentBounds> all_values() const {
    std::vector<ComponentBounds> values;
    for (const PropertyType type : kIndexedTypes) {
      if (std::optional<ComponentBounds> bounds = bounds_of(type)) add_bounds(*std::move(bounds), values);
    }
    sort_bounds(values);
    return values;
  }
  /// Returns those that follow the position.
  std::vector<ComponentBounds> values_after(const IndexedOrder& order) const {
    std::vector<ComponentBounds> values;
    for (const IndexedOrder::Type& type : order.types) {
      std::optional<ComponentBounds> bounds = bounds_of(type.type);
      if (!bounds) continue;
      const Value* const from = type.is_bounded ? order.position : nullptr;
      if (from != nullptr && !begin_at(next_component(), type.type, *from, order.is_descending, *bounds)) continue;
      add_bounds(*std::move(bounds), values);
    }
    sort_bounds(values);
    return values;
  }
  void add_bounds(ComponentBounds bounds, std::vector<ComponentBounds>& to) const {
    to.push_back(in_index(next_component(), std::move(bounds)));
  }
  static void sort_bounds(std::vector<ComponentBounds>& bounds) {
    std::sort(bounds.begin(), bounds.end(),
              [](const ComponentBounds& a, const ComponentBounds& b) { return a.first < b.first; });
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
    std::vector<std::string> longer;
    for (std::size_t i = 0; i < equal->literals.size(); ++i) {
      for (const PropertyType type : kIndexedTypes) {
        if (!may_equal(type, equal->literals[i])) continue;
        append_equal(type, equal->literals[i], longer);
        if (longer.size() > 2 * ranges_max_ && !keep_each_once(longer)) return false;
      }
    }
    if (!keep_each_once(longer)) return false;
    prefixes_ = std::move(longer);
    ++plan_.equal_components;
    return true;
  }

  /// Appends each prefix with the values of the next component of this type that equal the literal.
  void append_equal(PropertyType type, const Value& literal, std::vector<std::string>& to) const {
    for (const std::string& prefix : prefixes_) {
      if (append_component(to.emplace_back(prefix), next_component(), type, literal)) continue;
      to.pop_back();
      return;  // There are none.
    }
  }

  /// Sorts the prefixes. Numbers of several types may be one stored value, and so may texts that are cut. Returns whether
  /// they are few enough.
  bool keep_each_once(std::vector<std::string>& prefixes) const {
    if (prefixes.size() < 2) return true;
    std::sort(prefixes.begin(), prefixes.end());
    prefixes.erase(std::unique(prefixes.begin(), prefixes.end()), prefixes.end());
    return prefixes.size() <= ranges_max_;
  }

  bool add_range() {
    const NecessaryCondition* const prefix = find_condition([](const NecessaryCondition& condition) {
      return condition.comparison->kind == Comparison::Kind::kStartsWith;
    });
    if (prefix != nullptr) {
      add_between(bounds_of_beginning(prefix->comparison->text()));
      return plan_.has_range = plan_.has_two_bounds = true;
    }
    const bool has_lower = find(is_lower_bound) != nullptr;
    const bool has_upper = find(is_upper_bound) != nullptr;
    if (!has_lower && !has_upper) return false;
    if (prefixes_.size() * count_types() > ranges_max_) return false;
    for (const PropertyType type : kIndexedTypes) {
      if (std::optional<ComponentBounds> bounds = bounds_of(type)) add_between(*std::move(bounds));
    }
    plan_.has_two_bounds = has_lower && has_upper;
    return plan_.has_range = true;
  }

  void add_between(ComponentBounds ascending) {
    const ComponentBounds bounds = in_index(next_component(), std::move(ascending));
    for (const std::string& prefix : prefixes_) add(prefix, bounds);
  }
  void add(const std::string& prefix, const ComponentBounds& bounds) {
    KeyRange range = index_range(index_, prefix, bounds);
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
    if (has_one && is_about(*condition.comparison, subject, property)) return &condition.literals[0];
  }
  return nullptr;
}

KeyRange index_range(format::TableId index, const std::string& prefix, const ComponentBounds& bounds) {
  const bool is_whole = bounds.first.empty() && bounds.last.empty();
  KeyRange range;
  range.lower = is_whole ? format::index_prefix(index, prefix) : format::index_prefix(index, prefix + bounds.first);
  const bool is_one = bounds.first == bounds.last;
  range.upper = is_one ? format::end_of_prefix(range.lower)
                       : format::end_of_prefix(format::index_prefix(index, prefix + bounds.last));
  return range;
}

std::optional<OrderPlan> plan_index_order(const Filter& filter, format::TableId index,
                                          const format::IndexDefinition& definition, bool may_have_large_values,
                                          std::span<const IndexedOrder> order) {
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
  if (std::optional<IndexPlan> plan = plan_one_value(filter, index, definition)) return plan;
  const NecessaryConditions conditions = necessary_conditions(filter);
  if (!has_each_component(definition, conditions, may_have_large_values)) return std::nullopt;
  return IndexPlanner(index, definition, conditions, kIndexRangesMax).plan();
}

}  // namespace varve
