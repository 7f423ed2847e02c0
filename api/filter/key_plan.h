// Owns: which keys a filter can match: a small set of ranges of sort keys that holds them, and what of the filter the
// ranges do not say already.
// Must never: leave out a key that may match. Too large a set costs time, too small a one an answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/filter/filter.h"
#include "format/keys/sort_key.h"

namespace varve {

/// Sort keys from `lower` on, up to but without `upper`.
struct KeyRange {
  std::string lower;
  std::string upper;
  /// It holds one key, `lower`.
  bool is_point = false;
  bool operator==(const KeyRange&) const = default;
};

struct KeyPlan {
  /// The ranges of the table, within what was asked for, that hold every entity which the filter can match: in order,
  /// apart from each other. None where bounds contradict each other. A disjunction of keys is a range each
  ///
  std::vector<KeyRange> ranges;
  /// What is still to be judged of an entity in one of them.
  Filter residual;
  /// Of planning: boxes that were looked at or made, and comparisons of ranges. At most in the order of n log n of the
  /// filter's comparisons.
  std::uint64_t steps = 0;
};

KeyPlan plan_keys(const Filter& filter, format::TableId table, const KeyRange& within);

}  // namespace varve
