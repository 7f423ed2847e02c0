// Owns: the suite `model`: random lists of operations are compared with the model, under several options, and failing
// lists are shortened.
// Must never: ignore a difference.
#pragma once

#include <optional>

#include "tests/lab/model/operation.h"
#include "tests/lab/model/state.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// Round i creates a list from its seed and runs it. If the list has one answer, it also runs under another profile.
Report run_model(const Share& share);
/// Runs one round. `planted` is an error of the model, to show that the suite finds it.
Report run_model_round(std::uint64_t seed, Planted planted = Planted::kNone, bool on_rados = false);

/// Runs a list, and also under another profile if it has one answer. Returns a failure as a finding with a shortened
/// list.
std::optional<Finding> judge_list(const OperationList& list, Planted planted, Report* report);

}  // namespace varve::lab
