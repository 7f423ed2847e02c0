// Owns: emptying the page cache of the files of one directory, so that reads of them are cold.
// Must never: change a file, or forget files of others.
#pragma once

#include <string>

namespace varve::bench {

/// Writes the files below `directory` back, and removes them from the page cache.
void forget_files(const std::string& directory);

}  // namespace varve::bench
