// Owns: the keys that a filter can match, as a small set of ranges of sort keys. It also owns the part of the filter
// that the ranges do not cover.
// Must never: leave out a key that may match. Too large a set costs time; too small a set loses results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/filter/filter.h"
#include "format/keys/sort_key.h"
#include "varve/query.h"

namespace varve {

/// The sort keys in [lower, upper).
struct KeyRange {
  std::string lower;
  std::string upper;
  /// True if the range holds only the key `lower`.
  bool is_point = false;
  bool operator==(const KeyRange&) const = default;
};

struct KeyPlan {
  /// The ranges inside `within` that hold every entity that the filter can match, in order and disjoint. None if bounds
  /// contradict each other. A disjunction of keys has one range for each key.
  std::vector<KeyRange> ranges;
  /// The part of the filter that must be evaluated for each entity in the ranges.
  Filter residual;
  /// Whether that is the whole filter.
  bool has_whole_residual = false;
  /// Effort of planning: boxes examined or made, and comparisons of ranges. At most of the order n log n for n
  /// comparisons.
  std::uint64_t steps = 0;
};

/// Returns the keys of a range of a scan. Its texts are UTF-8.
KeyRange keys_in(format::TableId table, const ScanRange& range);

/// Returns whether the filter is one comparison that names no key, so that it and the range are its plan.
bool is_one_of_no_key(const Filter& filter);
/// If all keys of `within` have one PartitionKey, conditions on RowKey alone narrow the ranges too.
KeyPlan plan_keys(const Filter& filter, format::TableId table, const KeyRange& within);
/// Does the same, and takes the filter if the residual is the whole of it.
KeyPlan plan_keys_taking(Filter& filter, format::TableId table, const KeyRange& within);

}  // namespace varve
