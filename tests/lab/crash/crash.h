// Owns: exhaustive crash points: a scenario is crashed at every step that changes the disk, in every way.
// Must never: judge; law.h does.
#pragma once

#include "tests/lab/crash/law.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// A round is a scenario, the one that `only` names or the seed chooses in turn, crashed during and after each of its
/// mutating steps: once by a kill and by a few of the ways in which the power can fail, which the seed chooses. Those
/// marked so are crashed again at every step of the recoveries of some of these images.
Report crash_points(const Share& share);

/// The images of one run of a scenario, and the ledger to judge them by.
struct CrashRun {
  Ledger ledger;
  std::vector<Image> images;
  std::uint64_t steps = 0;
  std::string problem;
};
CrashRun run_to_crash(const Scenario& scenario, std::uint64_t seed);

}  // namespace varve::lab
