// Owns: a bound on the memory of a contender, page cache included, and an empty page cache to begin with.
// Must never: leave a control group behind, or bound anybody else.
#pragma once

#include <cstdint>
#include <string>

namespace varve::bench {

/// Writes back what is in the files below `directory`, and has the page cache forget them.
void forget_files(const std::string& directory);

/// From here on this process has so many bytes for what it allocates and for the page cache of what it reads. False
/// where the system does not allow it. The parent of the process calls remove_memory_limit() when it has ended.
bool limit_memory(std::uint64_t bytes);
void remove_memory_limit();

}  // namespace varve::bench
