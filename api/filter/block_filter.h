// Owns: what a filter says of blocks of tables by what their indexes tell: whether an entity in them may match.
// Must never: say no where one does.
#pragma once

#include <vector>

#include "api/filter/filter.h"
#include "engine/read/pass_rule.h"

namespace varve {

class BlockFilter final : public engine::BlockJudge {
 public:
  /// `filter` outlives it.
  explicit BlockFilter(const Filter& filter) noexcept : filter_(filter) {}

  /// Whether there are blocks of which it may say no.
  bool is_of_use() const noexcept { return !filter_.matches_everything(); }
  Result<bool> may_want(const format::RunEntry& run) const override;
  Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) const override;

 private:
  /// What is told of entities: the versions, and the ranges of properties by name.
  struct Told;
  bool may_match(const Told& told) const;

  const Filter& filter_;
};

}  // namespace varve
