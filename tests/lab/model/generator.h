// Owns: creating lists of operations from a seed.
// Must never: read a store. The result of an operation is not known when the list is created.
#pragma once

#include <cstdint>

#include "tests/lab/model/operation.h"

namespace varve::lab {

/// Returns a list of 150 to 400 operations. Depending on the seed, some kinds of operations are left out, and others
/// are more frequent.
OperationList make_list(std::uint64_t seed, bool on_rados = false);

/// Returns whether the list has the same answers under every profile: nothing depends on the moment of a crash or a
/// fault.
bool has_one_answer(const OperationList& list);

}  // namespace varve::lab
