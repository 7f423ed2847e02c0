// Owns: the part of an index that a filter can match, as ranges of its keys.
// Must never: leave out an entry of an entity that may match, or use an index that may lack such an entity (I6).
//
// An entity without one of the components has no entry. So the filter must say something about each component that is
// false without the property. The ranges may hold too much: what they lead to is judged again by the whole filter.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
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

/// What entities are ordered by, and where the order goes on.
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
  /// Ranges of the index's keys. The entries of each have one type in the component that orders them.
  std::vector<KeyRange> ranges;
  /// Which component orders the entries. The filter gives those before it one value or several.
  std::size_t component = 0;
  /// Whether the entries are in the order from the last to the first.
  bool is_reversed = false;
  /// Whether the entries of one value in a range are in the order of their entities' keys.
  bool is_in_key_order = false;
  /// Whether every entity that matches has an entry. Otherwise those that lack the property have none.
  bool has_all = false;
};

/// Returns the one value that the property, or the Timestamp, of each entity that matches equals. Null if the filter does not
/// say so. It lies in the filter.
const Value* fixed_value(const Filter& filter, Comparison::Subject subject, std::string_view property);

/// Returns nothing if the index does not have the entities in this order. Those that lack the property may be missing.
std::optional<OrderPlan> plan_index_order(const Filter& filter, format::TableId index,
                                          const format::IndexDefinition& definition, bool may_have_large_values,
                                          const IndexedOrder& order);

/// Returns nothing if the index cannot serve the filter. `may_have_large_values` is true for a table whose entities may
/// have a LargeValue in the place of a component.
std::optional<IndexPlan> plan_index(const Filter& filter, format::TableId index,
                                    const format::IndexDefinition& definition, bool may_have_large_values);

}  // namespace varve
