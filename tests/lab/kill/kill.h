// Owns: the suite "kill": real processes on the real file system, ended at any moment and at any step, and refused
// resources; and what must be there afterwards.
// Must never: trust the process that was killed for more than what its ledger says was begun and acknowledged.
#pragma once

#include "tests/lab/suite.h"

namespace varve::lab {

struct KillEffort {
  /// Lives of each store.
  std::uint64_t lives = 20;
};

/// Parts: "writers", "locks", "limits", "small-disk".
Report run_kill(const Share& share);
Report run_kill(const Share& share, const KillEffort& effort);

// The parts. Each works in `directory`, which exists and is left as it was found.

/// One store and its lives: each ends by a kill, or cleanly.
Report run_killed_writers(std::uint64_t seed, const std::string& directory, std::uint64_t lives);
/// Many processes open one store at the same moment, by different names of its directory; and a fork of an owner.
Report run_lock_races(std::uint64_t seed, const std::string& directory);
/// Few descriptors, and a bound on the size of files.
Report run_limits(std::uint64_t seed, const std::string& directory);
/// A file system of a few megabytes: one of its own where this process may mount one, else the one in memory.
Report run_small_disk(std::uint64_t seed, const std::string& directory);

}  // namespace varve::lab
