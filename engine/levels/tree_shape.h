// Owns: the dimensions of the tree: the size of files, the limit of level 0, and the target size of each level.
// Must never: depend on anything except the sizes of the levels.
//
// Targets are computed from the bottom. The largest level has the size of the data: nearly all data is there, and no
// target can make it smaller. Above it are as few levels as possible while the ratio between neighbours is at most the
// fan-out. The ratios are equal, because equal ratios cost the fewest rewrites for a given number of levels. Level 0 is
// merged into the uppermost of these levels, the base; the levels between are empty. So a small store has only level 0
// and level 6. An additional level pays only if a merge of level 0 would otherwise rewrite several times its own bytes.
// While level 0 is small beside the base, its flushes are merged with each other.
// Source: S. Dong et al., "Optimizing Space Amplification in RocksDB" (CIDR 2017), for sizes computed from the bottom.
// P. O'Neil et al., "The Log-Structured Merge-Tree" (1996), for equal ratios.
#pragma once

#include <array>
#include <cstdint>

#include "engine/levels/levels.h"

namespace varve::engine {

struct TreeShape {
  /// Level 0 is merged down if it has this many flushes (V3 in levels.h).
  std::uint32_t level0_flushes = 8;
  /// The limit that applies while a caller waits for all work to be done.
  std::uint32_t level0_flushes_idle = 1;
  /// Size in bytes at which a merge begins a new file. A range of a merge has at least one such file of the output level.
  /// So it bounds the part of the cache that a range has twice until it is published.
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  /// Limit in bytes of the entries of which a thread beside makes a run (engine/tables/runs_apart.h).
  std::uint64_t chunk_weight_max = std::uint64_t{4} << 20;
  /// Limit in bytes of the next level's files that a file may overlap, so that its next step down is never huge.
  std::uint64_t grandparent_bytes_max = std::uint64_t{640} << 20;
  /// Minimum size of the base level in bytes. A smaller one would be rewritten completely for fewer bytes than it takes
  /// in.
  std::uint64_t base_bytes = std::uint64_t{256} << 20;
  /// Limit of the ratio of a level to the one above it.
  double fan_out = 8;
};

/// Returns the dimensions of all trees of this process. Tests change them before they open a store, so that a few
/// entries fill many files.
TreeShape& tree_shape() noexcept;

/// A table of at least a quarter of a file gets files of its own, so that a drop can unlink them.
constexpr std::uint64_t own_file_bytes(const TreeShape& shape) noexcept {
  return shape.file_bytes / 4;
}

struct LevelTargets {
  /// The level into which level 0 is merged. No level between 0 and it has a file.
  std::uint32_t base = kLastLevel;
  /// Target size of each level in bytes; no limit for the largest, and zero for levels that should be empty.
  std::array<std::uint64_t, kLevelCount> bytes{};
};

/// Limit of the bytes of the base that a merge of level 0 rewrites for each of its own. A flush is compressed for speed, and
/// takes about twice the bytes that it takes in the base. So level 0 grows to about a third of the base. There the merges of
/// flushes with each other, and those into the base, together write the fewest bytes.
inline constexpr std::uint64_t kBaseRewritesMax = 2;

/// Returns whether flushes of so many bytes are merged with each other, and not with the bytes that they overlap in the base.
constexpr bool stays_in_level0(std::uint64_t bytes, std::uint64_t base_bytes, const TreeShape& shape) noexcept {
  return bytes < shape.base_bytes && base_bytes / kBaseRewritesMax > bytes;
}

LevelTargets level_targets(const Levels& levels, const TreeShape& shape) noexcept;

}  // namespace varve::engine
