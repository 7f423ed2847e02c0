// Owns: the command line of a program that measures goals.
// Must never: measure two goals in one process: memory and caches of one must not count for the next.
#pragma once

#include <string>
#include <vector>

#include "bench/blobs/goals.h"

namespace varve::bench {

struct GoalProgram {
  std::string name;
  /// A sentence for the help.
  std::string about;
  std::vector<Goal> goals;
};

/// Measures the goals that the command line chooses, prints their table, and returns the exit code of the program.
int run_goals(int argc, char** argv, const GoalProgram& program);

}  // namespace varve::bench
