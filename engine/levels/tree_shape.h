// Owns: the measures of the tree: how large files are, when level 0 is full, and how large each level should be.
// Must never: depend on anything but the sizes of the levels.
//
// Targets are computed from below. The largest level is what it is: nearly all data lies there, and no target can make
// it smaller. Above it stand as few levels as keep the ratio between neighbours at or below the fan-out, and the ratios
// are equal, because for a given number of levels equal ratios cost the fewest rewrites. The uppermost of them, the
// base, is where level 0 is merged to; the levels between are empty. So a small store is level 0 and level 6 alone: a
// level between pays only once a merge of level 0 meets several times its own bytes.
// Source: S. Dong et al., "Optimizing Space Amplification in RocksDB" (CIDR 2017), for sizes set from below; P. O'Neil
// et al., "The Log-Structured Merge-Tree" (1996), for equal ratios.
#pragma once

#include <array>
#include <cstdint>

#include "engine/levels/levels.h"

namespace varve::engine {

struct TreeShape {
  /// Level 0 is merged down when it has this many files.
  std::uint32_t level0_files = 8;
  /// Where somebody waits for all work to be done, this many suffice.
  std::uint32_t level0_files_idle = 1;
  /// A merge begins a new file when one has grown to this, or in the last two levels to more: file_bytes_at().
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  /// A file overlaps at most this much of the next level, so that one step further down is never a huge one.
  std::uint64_t grandparent_bytes_max = std::uint64_t{640} << 20;
  /// The base level is not made smaller than this: it would be rewritten whole for less than it takes in.
  std::uint64_t base_bytes = std::uint64_t{256} << 20;
  /// The largest ratio of a level to the one above it.
  double fan_out = 8;
};

/// A table that fills a quarter of a file gets files of its own, so that it can be dropped by unlinking.
constexpr std::uint64_t own_file_bytes(const TreeShape& shape) noexcept {
  return shape.file_bytes / 4;
}

/// Files are larger where nearly all data lies: twice as large above the last level, and four times there. So a store
/// of a terabyte has some four thousand, and a step down from any level above rewrites no more than before.
constexpr std::uint64_t file_bytes_at(std::uint32_t level, const TreeShape& shape = {}) noexcept {
  constexpr std::uint32_t kGrowth = 2;  // as a power of two
  const std::uint32_t above_last = kLastLevel - level;
  return above_last < kGrowth ? shape.file_bytes << (kGrowth - above_last) : shape.file_bytes;
}

struct LevelTargets {
  /// Level 0 is merged into it. No level between 0 and it holds a file.
  std::uint32_t base = kLastLevel;
  /// Bytes that a level should not be above; no limit for the largest. Zero for levels that should be empty.
  std::array<std::uint64_t, kLevelCount> bytes{};
};

LevelTargets level_targets(const Levels& levels, const TreeShape& shape) noexcept;

}  // namespace varve::engine
