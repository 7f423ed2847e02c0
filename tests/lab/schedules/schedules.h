// Owns: the suite `schedules`: a whole store with its threads, one at a time by seed, judged by what its clients saw.
// Must never: accept what no order of the operations explains.
#pragma once

#include "tests/lab/suite.h"

namespace varve::lab {

/// Round i: a store and its clients under its seed, run twice; both runs must be the same to the last decision. Then a
/// writer that is stopped while it holds the lock of its partition, beside writers of another.
Report run_schedules(const Share& share);

/// The second half of a round.
Report run_stalled_writer(std::uint64_t seed);

}  // namespace varve::lab
