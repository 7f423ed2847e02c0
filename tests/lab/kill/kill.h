// Owns: the suite "kill": real processes on the real file system that are killed at any time or at any step, or run
// under limits of resources. Afterwards the store's content is checked.
// Must never: trust the killed process beyond its ledger of begun and acknowledged operations.
#pragma once

#include "tests/lab/suite.h"

namespace varve::lab {

struct KillEffort {
  /// The number of lives of each store.
  std::uint64_t lives = 20;
};

/// Parts: "writers", "outbox", "locks", "limits", "small-disk".
Report run_kill(const Share& share);
Report run_kill(const Share& share, const KillEffort& effort);

// The parts. Each works in `directory`, which exists, and leaves it unchanged.

/// Runs the lives of one store. Each life ends by a kill or a clean close.
Report run_killed_writers(std::uint64_t seed, const std::string& directory, std::uint64_t lives);
/// Runs the lives of one outbox: entities committed with messages, and workers that delete the messages.
Report run_killed_outbox(std::uint64_t seed, const std::string& directory, std::uint64_t lives);
/// Many processes open one store at the same time, by different names of its directory. Also tests a fork of an owner.
Report run_lock_races(std::uint64_t seed, const std::string& directory);
/// Runs with few descriptors, and with a limit on the size of files.
Report run_limits(std::uint64_t seed, const std::string& directory);
/// Uses a file system of a few megabytes. If this process cannot mount one, it uses the in-memory file system.
Report run_small_disk(std::uint64_t seed, const std::string& directory);

}  // namespace varve::lab
