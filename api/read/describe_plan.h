// Owns: ranges of sort keys in the words of scan_plan.h.
// Must never: be asked for by a scan that runs.
#pragma once

#include "api/filter/key_plan.h"
#include "varve/scan_plan.h"

namespace varve {

/// `backward` turns the order of the ranges round.
ScanPlan describe_plan(const KeyPlan& plan, bool backward);

}  // namespace varve
