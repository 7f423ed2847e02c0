// Owns: killing a writer in mid-work, once or again and again, and what came of it.
// Must never: end with a writer alive.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tour/accounts.h"
#include "varve/result.h"

namespace varve::tour {

/// Starts this program again as a writer (writer.h), kills it with SIGKILL after that many promises were heard, and
/// has the store give account. Errors: those of give_account(); kIoError where no writer could be started, or it ended
/// by itself.
Result<Account> kill_a_writer(const std::string& program, const std::string& store, std::uint64_t promises,
                              std::uint32_t round, Memory memory);

/// kill_a_writer() again and again on one store, at differing moments; prints a line each time. The store keeps what it
/// holds from one kill to the next, except that every twenty-fifth drops the ledger. Errors: those of kill_a_writer();
/// kCorruption when any promise was broken.
Status kill_writers(const std::string& program, const std::string& store, std::uint64_t times, Memory memory);

}  // namespace varve::tour
