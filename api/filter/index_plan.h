// Owns: the part of an index that a filter can match, as ranges of its keys.
// Must never: leave out an entry of an entity that may match, or use an index that may lack such an entity (I6).
//
// An entity without one of the components has no entry. So the filter must say something about each component that is
// false without the property. The ranges may hold too much: what they lead to is judged again by the whole filter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "api/filter/index_bounds.h"
#include "api/filter/key_plan.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {

struct IndexPlan {
  /// Ranges of the index's keys, disjoint, in no particular order. None if the filter can match nothing.
  std::vector<KeyRange> ranges;
  /// The first components that the filter compares with `eq`.
  std::size_t equal_components = 0;
  /// Whether the filter bounds the next component.
  bool has_range = false;
  /// Whether it does so from both sides.
  bool has_two_bounds = false;
};

/// What entities are ordered by in one component, and where the order goes on.
struct IndexedOrder {
  /// A type whose values may follow the position.
  struct Type {
    format::PropertyType type = format::PropertyType::kString;
    /// Whether the position bounds the values. Otherwise all of them follow it.
    bool is_bounded = false;
  };
  /// A property, or the Timestamp.
  Comparison::Subject subject = Comparison::Subject::kCustom;
  std::string_view property;
  bool is_descending = false;
  std::vector<Type> types;
  /// Null at the beginning of the order.
  const Value* position = nullptr;
};

struct OrderPlan {
  /// A component of the index that is a component of the order. For each type of its values, it has what the filter leaves of
  /// them, in the order of the index's keys.
  struct Component {
    std::vector<ComponentBounds> all;
    /// What follows the position, among the entities that have the position's values in the components before.
    std::vector<ComponentBounds> after;
    /// Whether the filter leaves a part of the values only.
    bool is_bounded = false;
  };
  format::TableId index = 0;
  /// What the entries begin with: the components to which the filter gives one value or several.
  std::vector<std::string> prefixes;
  /// How many components that is. The ordering components follow them.
  std::size_t component = 0;
  std::vector<Component> components;
  /// Whether the entries are in the order from the last to the first.
  bool is_reversed = false;
  /// Whether entries with one value in each component are in the order of their entities' keys.
  bool is_in_key_order = false;
  /// Whether every entity that matches has an entry. Otherwise those that lack the first of the components have none.
  bool has_all = false;
};

/// Returns the range of an index whose components begin with `prefix`, and then with bytes within the bounds. It may be empty:
/// lower >= upper.
KeyRange index_range(format::TableId index, const std::string& prefix, const ComponentBounds& bounds);

/// Returns the one value that the property, or the Timestamp, of each entity that matches equals. Null if the filter does not
/// say so. It lies in the filter.
const Value* fixed_value(const Filter& filter, Comparison::Subject subject, std::string_view property);

/// Finds how many components of the order follow one another in the index. Returns nothing if it has not the first one. Those
/// that lack the first property may be missing. `order` is not empty.
std::optional<OrderPlan> plan_index_order(const Filter& filter, format::TableId index,
                                          const format::IndexDefinition& definition, bool may_have_large_values,
                                          std::span<const IndexedOrder> order);

/// Returns nothing if the index cannot serve the filter. `may_have_large_values` is true for a table whose entities may
/// have a LargeValue in the place of a component.
std::optional<IndexPlan> plan_index(const Filter& filter, format::TableId index,
                                    const format::IndexDefinition& definition, bool may_have_large_values);

}  // namespace varve
