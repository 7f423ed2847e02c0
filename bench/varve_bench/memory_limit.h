// Owns: limiting the memory of a contender, including its page cache, and emptying the page cache at the beginning.
// Must never: leave a control group, or limit other processes.
#pragma once

#include <cstdint>
#include <string>

namespace varve::bench {

/// Writes the files below `directory` back, and removes them from the page cache.
void forget_files(const std::string& directory);

/// Limits this process to `bytes` for allocations and for the page cache of its reads. Returns false if the system does
/// not allow it. The parent process calls remove_memory_limit() after this process has ended.
bool limit_memory(std::uint64_t bytes);
void remove_memory_limit();

}  // namespace varve::bench
