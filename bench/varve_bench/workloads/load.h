// Owns: the bulk load as a measurement, for every workload that loads.
// Must never: stop the clock before the background work of the load is done.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Returns a row that loads Choice::entities into `table`, in entities per second.
WorkloadRow load_row(std::string name, std::uint32_t table, LoadWay way);

}  // namespace varve::bench
