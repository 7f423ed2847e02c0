// Owns: shortening a failing list of operations while it violates the same law.
// Must never: use random numbers: one list always shrinks to the same result.
#pragma once

#include <functional>

#include "tests/lab/model/operation.h"

namespace varve::lab {

/// Removes operations in halves, quarters and so on, and then sets numbers to zero, while `goes_wrong` returns true for
/// the result. Calls it at most `tries_max` times. `list` must go wrong.
OperationList shrink(OperationList list, const std::function<bool(const OperationList&)>& goes_wrong, int tries_max);

}  // namespace varve::lab
