// Owns: what the device itself does, measured beside the race.
// Must never: be faster than a store could be: writes are durable and of a sector, reads pass the page cache by.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Writes are durable, into preallocated, zero-filled space; reads go to random places or to one behind the other.
/// Operations a second or, where the limit is of a figure, megabytes a second.
Result<double> measure_limit(const Choice& choice, const Limit& limit);

}  // namespace varve::bench
