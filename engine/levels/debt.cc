// Owns: the estimate of the pending work.
#include "engine/levels/debt.h"

#include <algorithm>

namespace varve::engine {

std::uint64_t compaction_debt_bytes(const Levels& levels, const TreeShape& shape) noexcept {
  const LevelTargets targets = level_targets(levels, shape);
  double debt = 0;
  double arriving = 0;
  if (levels.flush_count() >= shape.level0_flushes) {
    const std::uint64_t bytes = levels.level_bytes(0);
    const std::uint64_t beneath = bytes_of(levels.overlapping(targets.base, range_of_all(levels.level(0))));
    debt += static_cast<double>(bytes);
    if (!stays_in_level0(bytes, beneath, shape)) {
      debt += static_cast<double>(beneath);
      arriving = static_cast<double>(bytes);
    }
  }
  for (std::uint32_t level = 1; level < kLastLevel; ++level) {
    if (level < targets.base) continue;
    const double bytes = static_cast<double>(levels.level_bytes(level)) + arriving;
    const double above = std::max(0.0, bytes - static_cast<double>(targets.bytes[level]));
    if (above > 0) {
      const double below = static_cast<double>(levels.level_bytes(level + 1));
      debt += above * (1 + below / bytes);
    }
    arriving = above;
  }
  return static_cast<std::uint64_t>(debt);
}

}  // namespace varve::engine
