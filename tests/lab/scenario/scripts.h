// Owns: the lists that the scenarios are made of, by what they write.
// Must never: be read by anybody but scenario.cc.
#pragma once

#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace varve::lab {

std::vector<Scenario> commit_scripts();       // entities, batches, transactions; both durabilities; the log
std::vector<Scenario> table_scripts();        // accounts, tables, policies; drops; loads
std::vector<Scenario> tree_scripts();         // flushes and compactions
std::vector<Scenario> whole_store_scripts();  // opening, closing, recovery, checkpoints, faults and full disks

}  // namespace varve::lab
