// Owns: a failure at every allocation: a scenario is run with its n-th request for memory refused, n = 1, 2, ...
// Must never: refuse what the lab itself asks for, or what a kernel would have.
#pragma once

#include "tests/lab/errors/errors.h"

namespace varve::lab {

/// A round is a scenario, named by `only` or taken in turn, with many of its allocations refused, one a run, spread
/// over all by the seed: of the calling thread in two runs of three, of the store's own threads in the third, there
/// also all from some moment on. Afterwards the law holds as after an error (errors.h).
Report allocation_points(const Share& share);

}  // namespace varve::lab
