// Owns: what a repair read, saved and wrote, in terms of sort keys.
// Must never: count a file as whole if a byte of it was not read.
#pragma once

#include <string>
#include <vector>

#include "engine/repair/losses.h"
#include "varve/repair.h"

namespace varve::engine {

struct RepairFigures {
  /// Everything except the findings, the losses, and what the catalog knows.
  RepairReport report;
  /// One line for each damaged file, and for each other irregularity, even if it loses nothing.
  std::vector<std::string> findings;
  std::vector<Loss> losses;
};

}  // namespace varve::engine
