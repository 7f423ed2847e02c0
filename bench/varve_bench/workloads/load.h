// Owns: the bulk load as a measurement, for every workload that loads.
// Must never: stop the clock before the background work is done that the load caused.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Choice::entities into `table`, in entities a second.
WorkloadRow load_row(std::string name, std::uint32_t table, LoadWay way);

}  // namespace varve::bench
