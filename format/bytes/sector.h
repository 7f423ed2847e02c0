// Owns: the unit in which devices are read, as far as it shapes files.
// Must never: follow the device at hand; a file is read on others.
#pragma once

#include <cstdint>

namespace varve::format {

/// Blocks end where one ends if that takes few bytes, and the size of a table file is a multiple of it (FORMAT.md).
inline constexpr std::uint64_t kSectorBytes = 4096;

}  // namespace varve::format
