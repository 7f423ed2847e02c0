// Owns: what the device itself does, measured beside the race.
// Must never: be faster than a store could be: writes are durable and of a sector, reads pass the page cache by.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Operations a second: 4 KiB written durably into preallocated, zero-filled space, or read at random places.
Result<double> measure_limit(const Choice& choice, const Limit& limit);

}  // namespace varve::bench
