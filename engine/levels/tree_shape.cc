// Owns: the computation of level targets from the bottom.
#include "engine/levels/tree_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace varve::engine {
namespace {

std::uint32_t first_level_with_files(const Levels& levels) noexcept {
  for (std::uint32_t level = 1; level < kLevelCount; ++level) {
    if (!levels.level(level).empty()) return level;
  }
  return kLastLevel;
}

}  // namespace

TreeShape& tree_shape() noexcept {
  static TreeShape shape;
  return shape;
}

LevelTargets level_targets(const Levels& levels, const TreeShape& shape) noexcept {
  std::uint64_t largest = 0;
  for (std::uint32_t level = 1; level < kLevelCount; ++level) largest = std::max(largest, levels.level_bytes(level));

  // Steps between the base and the last level. There are none while a merge from level 0 costs less than another level.
  const double whole = static_cast<double>(largest) / static_cast<double>(shape.base_bytes);
  std::uint32_t steps = 0;
  double reach = shape.fan_out;
  while (reach < whole && steps + 1 < kLastLevel) {
    reach *= shape.fan_out;
    ++steps;
  }
  LevelTargets targets;
  targets.bytes[kLastLevel] = std::numeric_limits<std::uint64_t>::max();
  // Each of the `steps` levels takes an equal share of the whole ratio. The base itself is one share above base_bytes.
  const double ratio = steps == 0 ? 1 : std::pow(whole, 1.0 / (steps + 1));
  double bytes = static_cast<double>(largest);
  for (std::uint32_t step = 1; step <= steps; ++step) {
    bytes /= ratio;
    targets.bytes[kLastLevel - step] = static_cast<std::uint64_t>(bytes);
  }
  // If a level above the base still has files, it is emptied downward first. Until then, files of level 0 may not
  // bypass it.
  targets.base = std::min(kLastLevel - steps, first_level_with_files(levels));
  return targets;
}

}  // namespace varve::engine
