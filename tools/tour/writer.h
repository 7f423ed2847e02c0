// Owns: the process that is to be killed: threads that write for ever and say what was acknowledged.
// Must never: say so before the store has.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tour/promise.h"
#include "varve/options.h"

namespace varve::tour {

/// The options of a store with that memory. Errors: those of Resources::create().
Result<StoreOptions> options_for(Memory memory);

/// Writes with 16 threads, half of them committing `sync` and half `buffered`, and with scarce memory drops tables with
/// two more; each Promise goes to the pipe. Returns, an exit code, only where it cannot go on.
int run_writer(const std::string& store, int pipe, std::uint32_t round, Memory memory);

}  // namespace varve::tour
