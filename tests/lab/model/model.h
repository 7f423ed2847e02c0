// Owns: the suite `model`: random lists of operations against the model, under several options, and what went wrong
// made short.
// Must never: pass over a difference.
#pragma once

#include <optional>

#include "tests/lab/model/operation.h"
#include "tests/lab/model/state.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// Round i makes a list from its seed and runs it. A list that has one answer is run under another profile, too.
Report run_model(const Share& share);
/// As one round of it; `planted` is an error of the model, to show that it is found.
Report run_model_round(std::uint64_t seed, Planted planted = Planted::kNone);

/// Runs a list, and under another profile where it has one answer; what went wrong, shrunk, as a finding.
std::optional<Finding> judge_list(const OperationList& list, Planted planted, Report* report);

}  // namespace varve::lab
