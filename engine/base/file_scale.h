// Owns: the factor by which the log's files and their buffers are smaller in builds for fuzzers. Fuzzed stores have a
// few rows. With full-size files, their runs would mostly write zeros. A log of small segments also has more segment
// changes.
// Must never: be more than one in other builds. These sizes are part of the format.
#pragma once

#include <cstddef>

namespace varve::engine {

#ifdef VARVE_SMALL_FILES
inline constexpr std::size_t kFileScale = 16;
#else
inline constexpr std::size_t kFileScale = 1;
#endif

}  // namespace varve::engine
