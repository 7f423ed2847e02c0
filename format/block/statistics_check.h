// Owns: the check that the statistics of a run and of its blocks include every put in them (block_statistics.h).
// Must never: report a range that is only wider than necessary.
#pragma once

#include <string_view>
#include <vector>

#include "format/block/block_statistics.h"
#include "varve/status.h"

namespace varve::format {

class StatisticsCheck {
 public:
  /// Opens the statistics of a run, which must outlive the check. Errors: kCorruption.
  Status open(std::string_view run_statistics);
  /// Starts the next block with its statistics, which must outlive the checks of its puts. Errors: kCorruption.
  Status begin_block(std::string_view statistics);
  void begin_untold_block() noexcept { in_block_.clear(); }
  /// Checks a put of the block. Errors: kCorruption (a value outside its range). A value that is not an entity is
  /// accepted.
  Status check(std::string_view entity) const;

 private:
  struct Told {
    std::string_view name;
    PropertyRange range;
  };
  static bool agrees(const Told& told, const EncodedEntity& entity) noexcept;

  std::vector<Told> of_run_;
  std::vector<std::string_view> names_in_blocks_;
  std::vector<Told> in_block_;
};

}  // namespace varve::format
