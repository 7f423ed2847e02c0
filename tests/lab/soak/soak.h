// Owns: the soak: every suite and every fuzzer in turn, with fresh seeds, in processes of their own, until the time is
// up; counts added up, and for each failure a directory that repeats it.
// Must never: run a suite in its own process: what crashes or hangs there must be told like any other finding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace varve::lab {

struct SoakOptions {
  double hours = 1;
  int jobs = 1;
  std::uint64_t seed = 0;         // of the first turn
  std::string directory;          // findings and logs are kept there
  std::string fuzzers;            // directory of libFuzzer programs; empty: none
  std::string seeds;              // directory of their seed corpora
  std::string ledger;             // a file to which a line is added; empty: none
  std::string build;              // the commit, for the ledger
  std::vector<std::string> only;  // suites by name; empty: all
};

/// Prints a line every now and then and a summary at its end. Returns the number of findings.
std::uint64_t soak(const SoakOptions& options);

}  // namespace varve::lab
