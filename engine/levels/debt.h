// Owns: the number of bytes that compaction must still write until every level is at its target.
// Must never: be zero while the picker would merge for size, or estimate reads.
#pragma once

#include <cstdint>

#include "engine/levels/tree_shape.h"

namespace varve::engine {

/// Returns an estimate in bytes. Bytes above a target move down level by level. At each step they are merged with an
/// amount that follows from the sizes of the two levels. Zero if level 0 is not full and no level is above its target.
std::uint64_t compaction_debt_bytes(const Levels& levels, const TreeShape& shape) noexcept;

}  // namespace varve::engine
