// Owns: the check whether a block or run of a table file may contain a match of the filter, by the statistics in its
// index.
// Must never: exclude a block that contains a match.
#pragma once

#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "engine/base/pass_rule.h"
#include "format/block/block_statistics.h"

namespace varve {

/// Use it for one scan, on one thread.
class BlockFilter final : public engine::BlockJudge {
 public:
  /// `filter` must outlive it.
  explicit BlockFilter(const Filter& filter);

  /// Returns true if the filter may exclude a block. A filter that only uses `not` or keys never does.
  bool is_of_use() const noexcept { return is_of_use_; }
  Result<bool> may_want(const format::RunEntry& run) override;
  Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) override;

 private:
  struct Versions {
    format::CommitVersion smallest = 0;
    format::CommitVersion largest = 0;
  };
  /// For a node: whether it may be true for some entity of the block, and whether it may be false for some entity.
  struct May {
    bool hold = true;
    bool fail = true;
  };
  Status read_ranges(const format::RunEntry& run);
  static bool may_hold_for(const Comparison& comparison, const Versions& versions) noexcept;
  /// Returns null if nothing is known about the property.
  const format::PropertyRange* find_range(std::string_view property) const noexcept;
  bool may_hold(const Comparison& comparison, const Versions& versions) const noexcept;
  template <typename MayHold>
  bool may_match(MayHold may_hold);

  const Filter& filter_;
  // Reused for all blocks.
  std::vector<format::NamedRange> ranges_;
  std::vector<May> may_;
  bool is_of_use_;
};

}  // namespace varve
