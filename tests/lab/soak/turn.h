// Owns: one turn of the soak: a process, its output, its end, and the script that repeats it.
// Must never: wait without a limit. A turn that takes too long counts as a hang, and is ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace varve::lab {

struct TurnOutcome {
  bool failed = false;
  std::string how;  // "exit code 1", "signal 6", "hangs"
  /// The lines "  NAME   NUMBER" that varve-lab prints, and the executions that libFuzzer prints.
  std::map<std::string, std::uint64_t> counts;
};

/// Runs the command with its output in `directory`/log, and writes `directory`/repeat.
TurnOutcome run_turn(const std::vector<std::string>& command, const std::string& directory);

}  // namespace varve::lab
