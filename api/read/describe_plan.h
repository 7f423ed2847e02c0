// Owns: the description of sort key ranges in the terms of scan_plan.h.
// Must never: be called by a running scan.
#pragma once

#include "api/filter/key_plan.h"
#include "varve/scan_plan.h"

namespace varve {

/// Describes the ranges in the order in which the scan reads them. If `backward` is true, that is their reverse order.
ScanPlan describe_plan(const KeyPlan& plan, bool backward);

}  // namespace varve
