// Owns: the suite `repair` of the lab.
// Must never: count a repair that was not judged.
#pragma once

#include <cstdint>

#include "tests/lab/suite.h"

namespace varve::lab {

/// A round: a random store, closed or killed, and many repairs of it, each with some random damage.
Report run_repair(const Share& share);

/// Every single damage of one store, bytes flipped at `stride`. `seed` makes the store.
Report sweep_repairs(std::uint64_t seed, std::uint64_t stride);

}  // namespace varve::lab
