// Owns: what a filter says of blocks of tables by what their indexes tell: whether an entity in them may match.
// Must never: say no where one does.
#pragma once

#include <vector>

#include "api/filter/filter.h"
#include "engine/base/pass_rule.h"
#include "format/block/block_statistics.h"

namespace varve {

/// For one walk, by one thread.
class BlockFilter final : public engine::BlockJudge {
 public:
  /// `filter` outlives it.
  explicit BlockFilter(const Filter& filter);

  /// Whether there may be blocks of which it says no. Of `not` and of keys there are none.
  bool is_of_use() const noexcept { return is_of_use_; }
  Result<bool> may_want(const format::RunEntry& run) override;
  Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) override;

 private:
  struct Versions {
    format::CommitVersion smallest = 0;
    format::CommitVersion largest = 0;
  };
  /// Of a node: whether some entity may be one for which it holds, and one for which it does not.
  struct May {
    bool hold = true;
    bool fail = true;
  };
  Status read_ranges(const format::RunEntry& run);
  bool may_hold(const Comparison& comparison, const Versions& versions) const noexcept;
  template <typename MayHold>
  bool may_match(MayHold may_hold);

  const Filter& filter_;
  // Their memory serves all blocks.
  std::vector<format::NamedRange> ranges_;
  std::vector<May> may_;
  bool is_of_use_;
};

}  // namespace varve
