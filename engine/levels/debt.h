// Owns: how many bytes compaction still has to write until every level is at its target.
// Must never: be zero while the picker would merge for size, or say anything of reading.
#pragma once

#include <cstdint>

#include "engine/levels/tree_shape.h"

namespace varve::engine {

/// Bytes, an estimate: what is above a target goes down level by level, and meets below it as much as the sizes of the
/// two levels let expect. Zero when level 0 is not full and no level is above its target.
std::uint64_t compaction_debt_bytes(const Levels& levels, const TreeShape& shape) noexcept;

}  // namespace varve::engine
