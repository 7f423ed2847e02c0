// Owns: killing a writer during its work, once or repeatedly, and checking the store afterwards.
// Must never: end while a writer is alive.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tour/accounts.h"
#include "varve/result.h"

namespace varve::tour {

/// Starts this program again as a writer (writer.h), kills it with SIGKILL after that many promises were received, and
/// checks the store. Errors: those of give_account(); kIoError if the writer could not be started, or ended by itself.
Result<Account> kill_a_writer(const std::string& program, const std::string& store, std::uint64_t promises,
                              std::uint32_t round, Memory memory);

/// Calls kill_a_writer() repeatedly on one store, at different moments. Prints a line each time. The store keeps its
/// content from one kill to the next, except that every twenty-fifth kill drops the ledger. Errors: those of
/// kill_a_writer(); kCorruption if any promise was broken.
Status kill_writers(const std::string& program, const std::string& store, std::uint64_t times, Memory memory);

}  // namespace varve::tour
