// Owns: the drop of a table as a measurement, for every workload that drops one.
// Must never: change the neighbours of the dropped table.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Loads `entities` into table 1, drops it, and waits until nine tenths of its space is free again. The value is the
/// latency of the drop itself.
Result<Outcome> load_and_drop(Session& session, std::uint64_t entities);

}  // namespace varve::bench
