// Owns: the suite `repair` of the lab.
// Must never: count a repair that was not checked.
#pragma once

#include <cstdint>

#include "tests/lab/suite.h"

namespace varve::lab {

/// Runs a round: a random store, closed or killed, and many repairs of it, each after a random damage.
Report run_repair(const Share& share);

/// Tries every single damage of one store, with bytes flipped at `stride`. `seed` determines the store.
Report sweep_repairs(std::uint64_t seed, std::uint64_t stride);

}  // namespace varve::lab
