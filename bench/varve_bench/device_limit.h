// Owns: the performance of the device itself, measured beside the race.
// Must never: do less than a store must do: writes are durable and have whole sectors, reads bypass the page cache.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Measures a limit. Writes are durable, and go to preallocated, zero-filled space. Reads are random or sequential.
/// Returns operations per second or, if the limit applies to a figure, megabytes per second.
Result<double> measure_limit(const Choice& choice, const Limit& limit);

}  // namespace varve::bench
