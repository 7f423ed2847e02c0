// Owns: the values of an `in` list, sorted so that a value is found without comparing all of them.
// Must never: find a value that no comparison with `eq` would.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <vector>

#include "varve/types.h"

namespace varve {

/// Literals, grouped by type. Within one type, the order of a stored value to the literals never increases from one
/// literal to the next (order_of_property() in filter.h), so a binary search finds the equal one.
class ValueList {
 public:
  /// Sorts the literals. Two equal ones become one. NaN equals nothing, so it is left out.
  static ValueList of(std::vector<Value> literals);

  /// Returns the number of literals as they were written, repeated ones included.
  std::size_t written() const noexcept { return written_; }
  /// Returns the literals of one type in their order. May be empty.
  const std::vector<Value>& of_type(PropertyType type) const noexcept;

  /// Returns true if a literal may lie from one stored value to another. The arguments return the orders of the two
  /// values to a literal. With one function for both, the answer is whether the value equals a literal.
  template <typename Smallest, typename Largest>
  bool any_between(Smallest order_of_smallest, Largest order_of_largest) const {
    return std::any_of(groups_.begin(), groups_.end(), [&](const std::vector<Value>& group) {
      const auto first = std::partition_point(
          group.begin(), group.end(), [&](const Value& literal) { return std::is_gt(order_of_smallest(literal)); });
      return first != group.end() && std::is_gteq(order_of_largest(*first));
    });
  }

 private:
  /// Each has literals of one type.
  std::vector<std::vector<Value>> groups_;
  std::size_t written_ = 0;
};

}  // namespace varve
