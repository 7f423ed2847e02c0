// Owns: the check that the statistics of a run and of its blocks tell of every put in them (block_statistics.h).
// Must never: find fault with a range that is wider than it need be.
#pragma once

#include <string_view>
#include <vector>

#include "format/block/block_statistics.h"
#include "varve/status.h"

namespace varve::format {

class StatisticsCheck {
 public:
  /// The statistics of a run, which outlive the check. Errors: kCorruption.
  Status open(std::string_view run_statistics);
  /// Those of the block that comes next, which outlive its puts. Errors: kCorruption.
  Status begin_block(std::string_view statistics);
  void begin_untold_block() noexcept { in_block_.clear(); }
  /// A put of the block. Errors: kCorruption (a value that a range denies). What is no entity is not told of.
  Status check(std::string_view entity) const;

 private:
  struct Told {
    std::string_view name;
    PropertyRange range;
  };
  static bool agrees(const Told& told, const EntityView& entity) noexcept;

  std::vector<Told> of_run_;
  std::vector<std::string_view> names_in_blocks_;
  std::vector<Told> in_block_;
};

}  // namespace varve::format
