// Owns: a failure at every allocation: a scenario is run with its n-th request for memory refused, n = 1, 2, ...
// Must never: refuse allocations of the lab itself, or allocations that a kernel would grant.
#pragma once

#include "tests/lab/errors/errors.h"

namespace varve::lab {

/// A round runs one scenario, which `only` names or which is next in turn. Many of its allocations are refused, one in
/// each run, spread by the seed. Two runs of three refuse allocations of the calling thread. The third refuses those of
/// the store's own threads, in some cases all from a given one on. Afterwards the law must hold as after an error
/// (errors.h).
Report allocation_points(const Share& share);

}  // namespace varve::lab
