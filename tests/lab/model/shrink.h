// Owns: making a list of operations that goes wrong as short as can be, with the same law still broken.
// Must never: draw anything at random: the same list shrinks to the same one.
#pragma once

#include <functional>

#include "tests/lab/model/operation.h"

namespace varve::lab {

/// Takes out operations, in halves, quarters and so on, and then makes numbers zero, as long as `goes_wrong` says so of
/// what is left; asks it at most `tries_max` times. `list` goes wrong.
OperationList shrink(OperationList list, const std::function<bool(const OperationList&)>& goes_wrong, int tries_max);

}  // namespace varve::lab
