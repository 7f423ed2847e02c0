// Owns: the counted edits of a set of files.
// Must never: open a table file: the files of the set do not exist.
#pragma once

#include "bench/instructions/hot_paths.h"

namespace varve::bench {

/// Moves files, one at a time, between two levels of a store of `files` files.
bool edits_of_set(std::uint64_t files, const HotPath::Setting& setting,
                  const std::function<void(const std::function<void()>&)>& counted);

}  // namespace varve::bench
