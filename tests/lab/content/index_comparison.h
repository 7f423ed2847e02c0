// Owns: the comparison of each index with its table, by reading both, and the search for entries that belong to no index.
// Must never: use the sums by which Store::verify compares them.
#pragma once

#include <string>
#include <string_view>

#include "io/env.h"

namespace varve::lab {

/// Opens the store to read it, and returns one line with the first difference, or an empty text. The entries of a ready
/// index are those that its entities make; those of an index that is being built are some of them. After a compaction of
/// all (`is_compacted`), there are no entries of a dropped index.
std::string index_difference(const io::Env& env, std::string_view path, bool is_compacted);

}  // namespace varve::lab
