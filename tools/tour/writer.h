// Owns: the process that will be killed: its threads write without end and report each acknowledged write.
// Must never: report a write before the store acknowledged it.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tour/promise.h"
#include "varve/options.h"

namespace varve::tour {

/// Returns the options of a store with that memory. Errors: those of Resources::create().
Result<StoreOptions> options_for(Memory memory);

/// Writes with 16 threads: half of them commit `sync`, half `buffered`. With scarce memory, two more threads drop
/// tables. Each Promise is written to the pipe. Returns an exit code, but only if it cannot continue.
int run_writer(const std::string& store, int pipe, std::uint32_t round, Memory memory);

}  // namespace varve::tour
