// Owns: the soak: it runs every suite and every fuzzer in turn with new seeds, in separate processes, until the time is
// over. It adds up counts, and makes a directory for each failure that repeats it.
// Must never: run a suite in its own process: a crash or a hang must be an ordinary finding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace varve::lab {

struct SoakOptions {
  double hours = 1;
  int jobs = 1;
  std::uint64_t seed = 0;         // of the first turn
  std::string directory;          // for findings and logs
  std::string fuzzers;            // directory of libFuzzer programs; empty: none
  std::string seeds;              // directory of their seed corpora
  std::string ledger;             // a file to which a line is appended; empty: none
  std::string build;              // the commit, for the ledger
  std::vector<std::string> only;  // suites by name; empty: all
};

/// Prints a line at intervals, and a summary at the end. Returns the number of findings.
std::uint64_t soak(const SoakOptions& options);

}  // namespace varve::lab
