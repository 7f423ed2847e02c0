// Owns: exhaustive crash points: a scenario is crashed at every step that changes the disk, in every way.
// Must never: check the result. law.h checks it.
#pragma once

#include "tests/lab/crash/law.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// A round runs one scenario, which `only` names or the seed selects in turn. It is crashed during and after each of
/// its mutating steps: once by a kill, and by a few kinds of power cuts that the seed selects. If the scenario has two
/// levels, the recoveries of some of these images are crashed again at every step.
Report crash_points(const Share& share);

/// The images of one run of a scenario, and the ledger for checking them.
struct CrashRun {
  Ledger ledger;
  std::vector<Image> images;
  std::uint64_t steps = 0;
  std::string problem;
};
CrashRun run_to_crash(const Scenario& scenario, std::uint64_t seed);

/// A round on the model of RADOS. The owner of the store dies at each change of an object. Changes on their way arrive late or
/// never.
void crash_on_rados(const Scenario& scenario, std::uint64_t seed, Report& report);

}  // namespace varve::lab
