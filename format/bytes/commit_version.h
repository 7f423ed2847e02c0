// Owns: the type of a commit's version.
// Must never: depend on the structures that contain a version.
#pragma once

#include <cstdint>

namespace varve::format {

/// A commit's position in the order, its time (ticks of 100 ns since year 1) and its ETag, in one number. Below 2^62.
using CommitVersion = std::uint64_t;
inline constexpr CommitVersion kCommitVersionMax = (std::uint64_t{1} << 62) - 1;

}  // namespace varve::format
