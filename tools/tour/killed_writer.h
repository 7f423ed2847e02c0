// Owns: a writer in a process of its own that is killed in mid-work, and the account of what it had been promised.
// Must never: believe the store about itself: acknowledgements come over a pipe that the killed process cannot take
// back.
#pragma once

#include <cstdint>
#include <string>

#include "api/result.h"

namespace varve::tour {

struct KillReport {
  std::uint64_t acknowledged = 0;
  std::uint64_t recovered = 0;
  std::uint64_t lost = 0;
  /// Transactions of which some rows are there and others are not.
  std::uint64_t torn = 0;
};

/// Starts this program again as a writer of 16 threads, half of them committing `sync` and half `buffered`, kills it
/// with SIGKILL after `acknowledgements` were counted, reopens the store and counts.
Result<KillReport> kill_a_writer(const std::string& program, const std::string& store, std::uint64_t acknowledgements);

/// kill_a_writer() again and again on one store, at differing moments; prints a line each time. Errors: those of
/// kill_a_writer(); kCorruption when anything was lost or torn.
Status kill_writers(const std::string& program, const std::string& store, std::uint64_t times);

/// What the second process runs; it writes to the pipe until it is killed.
int run_writer(const std::string& store, int pipe);

}  // namespace varve::tour
