// Owns: the size of the unit in which devices are read, as far as it determines the layout of files.
// Must never: depend on the present device. A file is also read on other devices.
#pragma once

#include <cstdint>

namespace varve::format {

/// A block ends at a multiple of this many bytes if that takes little filling. The size of a table file is a multiple
/// of it (FORMAT.md).
inline constexpr std::uint64_t kSectorBytes = 4096;

}  // namespace varve::format
