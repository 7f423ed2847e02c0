// Owns: the check whether a block or run of a table file may contain a match of the filter, by the statistics in its
// index.
// Must never: exclude a block that contains a match.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "engine/base/pass_rule.h"
#include "format/block/block_statistics.h"

namespace varve {

/// What the statistics of a block or run say of its puts.
struct BlockFacts {
  std::span<const format::NamedRange> ranges;
  format::CommitVersion smallest = 0;
  format::CommitVersion largest = 0;

  /// Returns null if nothing is known about the property.
  const format::PropertyRange* find(std::string_view property) const noexcept;
};

/// Judges blocks beside the filter of a scan.
class BlockUse {
 public:
  virtual ~BlockUse() = default;
  /// Returns whether a put may be of use.
  virtual bool may_use(const BlockFacts& facts) noexcept = 0;
};

/// Use it for one scan, on one thread.
class BlockFilter final : public engine::BlockJudge {
 public:
  /// `filter` must outlive it.
  explicit BlockFilter(const Filter& filter);

  /// Makes blocks excluded also if `use`, which outlives it, has no use of them. Null excludes none.
  void ask_also(BlockUse* use) noexcept { use_ = use; }
  /// Returns true if a block may be excluded. A filter that only uses `not` or keys never does that.
  bool is_of_use() const noexcept { return is_of_use_ || use_ != nullptr; }
  Result<bool> may_want(const format::RunEntry& run) override;
  Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) override;

 private:
  /// For a node: whether it may be true for some entity of the block, and whether it may be false for some entity.
  struct May {
    bool hold = true;
    bool fail = true;
  };
  Status read_ranges(const format::RunEntry& run);
  bool may_want(const BlockFacts& facts);
  static bool may_hold_for(const Comparison& comparison, const BlockFacts& versions) noexcept;
  static bool may_hold(const Comparison& comparison, const BlockFacts& facts) noexcept;
  template <typename MayHold>
  bool may_match(MayHold may_hold);

  const Filter& filter_;
  // Reused for all blocks.
  std::vector<format::NamedRange> ranges_;
  std::vector<May> may_;
  bool is_of_use_;
  BlockUse* use_ = nullptr;
};

}  // namespace varve
