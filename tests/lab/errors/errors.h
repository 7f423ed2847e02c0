// Owns: an error at every operation: a scenario is run with its n-th call of the file system failing, n = 1, 2, ...
// Must never: take an error for a finding; only what breaks the law is one.
#pragma once

#include <string>

#include "tests/lab/crash/law.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// A round is a scenario, named by `only` or taken in turn, with every fourth of its calls failing, one a run,
/// beginning where the seed says: once or from then on, with one of nine errnos, having done nothing, a part, or all of
/// it; syncs also so that what they should have made durable never is. Afterwards the law holds: for what is in memory,
/// for a kill, for a power cut, and for the store as it is closed.
Report error_points(const Share& share);

/// What must hold when misfortune has ended, beginning with the store as it is. Empty if it does.
std::string check_aftermath(Stage& stage, const Tuning& tuning, std::uint64_t seed);

}  // namespace varve::lab
