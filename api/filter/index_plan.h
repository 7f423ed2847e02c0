// Owns: the part of an index that a filter can match, as ranges of its keys.
// Must never: leave out an entry of an entity that may match, or use an index that may lack such an entity (I6).
//
// An entity without one of the components has no entry. So the filter must say something about each component that is
// false without the property. The ranges may hold too much: what they lead to is judged again by the whole filter.
#pragma once

#include <cstddef>
#include <optional>
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
};

/// Returns nothing if the index cannot serve the filter. `may_have_large_values` is true for a table whose entities may
/// have a LargeValue in the place of a component.
std::optional<IndexPlan> plan_index(const Filter& filter, format::TableId index,
                                    const format::IndexDefinition& definition, bool may_have_large_values);

}  // namespace varve
