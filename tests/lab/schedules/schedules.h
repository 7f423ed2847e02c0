// Owns: the suite `schedules`: a whole store whose threads run one at a time by seed. The results of its clients are
// checked.
// Must never: accept results that no order of the operations explains.
#pragma once

#include "tests/lab/suite.h"

namespace varve::lab {

/// Round i runs a store and its clients under its seed twice. Every decision of both runs must be equal. Then it stops
/// a writer that has the lock of its partition, beside writers of another partition.
Report run_schedules(const Share& share);

/// Runs the second half of a round.
Report run_stalled_writer(std::uint64_t seed, bool on_rados);

}  // namespace varve::lab
