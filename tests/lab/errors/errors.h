// Owns: an error at every operation: a scenario is run with its n-th call of the file system failing, n = 1, 2, ...
// Must never: report an error as a finding. Only a violation of the law is one.
#pragma once

#include <string>

#include "tests/lab/crash/law.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// A round runs one scenario, which `only` names or which is next in turn. Every fourth of its calls fails, one in each
/// run, starting at a call that the seed determines. A call fails once or from then on, with one of nine errnos, after
/// doing nothing, a part, or all of its work. Some syncs fail so that their data never becomes durable. Afterwards the
/// law must hold for the content in memory, after a kill, after a power cut, and after a close.
Report error_points(const Share& share);

/// A round on the model of RADOS: in each run an operation on an object fails. A change that failed may have been made.
void fail_each_on_rados(const Scenario& scenario, std::uint64_t seed, Report& report);

/// Checks the law after faults have ended, first in the open store. Returns an empty text if it holds.
std::string check_aftermath(Stage& stage, const Tuning& tuning, std::uint64_t seed);

}  // namespace varve::lab
