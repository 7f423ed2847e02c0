// Owns: lists of operations made from a seed.
// Must never: look at a store; what an operation meets is not known when it is made.
#pragma once

#include <cstdint>

#include "tests/lab/model/operation.h"

namespace varve::lab {

/// Of 150 to 400 operations. Some kinds of operations are left out and others are more frequent than usual, by the
/// seed.
OperationList make_list(std::uint64_t seed);

/// Whether every profile must answer it alike: nothing in it depends on where a crash or a fault meets the store.
bool has_one_answer(const OperationList& list);

}  // namespace varve::lab
