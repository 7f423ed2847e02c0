// Owns: how many times smaller the log's files and the buffers behind them are in builds of fuzzers, whose stores hold
// a few rows: what a run of a whole store costs is mostly zeros otherwise, and a log of small segments has more seams.
// Must never: be more than one elsewhere: these sizes are part of the format.
#pragma once

#include <cstddef>

namespace varve::engine {

#ifdef VARVE_SMALL_FILES
inline constexpr std::size_t kFileScale = 16;
#else
inline constexpr std::size_t kFileScale = 1;
#endif

}  // namespace varve::engine
