// Owns: the lists of the scenarios, ordered by the kind of their writes.
// Must never: be included by files other than scenario.cc and the files of the scripts.
#pragma once

#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace varve::lab {

std::vector<Scenario> commit_scripts();       // entities, batches, transactions; both durabilities; the log
std::vector<Scenario> table_scripts();        // accounts, tables, policies; drops; loads
std::vector<Scenario> index_scripts();        // builds, drops and maintenance of indexes; what ends in them
std::vector<Scenario> tree_scripts();         // flushes and compactions
std::vector<Scenario> whole_store_scripts();  // opening, closing, recovery, checkpoints, faults and full disks
std::vector<Scenario> object_scripts();       // messages, blobs, large values; transactions with them

}  // namespace varve::lab
