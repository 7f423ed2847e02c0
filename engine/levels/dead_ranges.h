// Owns: which table ids nobody may read any more, as disjoint ranges of ids.
// Must never: hold an id that a reader, or a crash, could still bring back.
#pragma once

#include <span>
#include <vector>

#include "engine/levels/level_file.h"

namespace varve::engine {

/// A value. Any thread may read.
class DeadRanges {
 public:
  DeadRanges() = default;
  /// Of `dead_ids` those dropped at or below `reclaimable_version`: every drop up to it is durable, and no snapshot,
  /// horizon or running checkpoint is below it. Prefixes are 4 or 8 bytes; any other is left out.
  DeadRanges(std::span<const format::DeadId> dead_ids, CommitVersion reclaimable_version);

  bool empty() const noexcept { return ranges_.empty(); }
  /// Whether every table from `first` to `last` is dead.
  bool covers(TableId first, TableId last) const noexcept;
  bool holds(TableId table) const noexcept { return covers(table, table); }
  /// Whether any table from `first` to `last` is dead.
  bool touches(TableId first, TableId last) const noexcept;

 private:
  struct Range {
    TableId first = 0;
    TableId last = 0;
  };
  std::vector<Range> ranges_;  // by id; neither overlapping nor adjacent
};

}  // namespace varve::engine
