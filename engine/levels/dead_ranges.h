// Owns: the table ids that no reader may read any more, as disjoint ranges of ids.
// Must never: contain an id that a reader, or a crash, could still bring back.
#pragma once

#include <span>
#include <vector>

#include "engine/levels/level_file.h"

namespace varve::engine {

/// A value. Any thread may read it.
class DeadRanges {
 public:
  DeadRanges() = default;
  /// Takes the `dead_ids` that were dropped at or below `reclaimable_version`. Every drop up to that version must be
  /// durable, and no snapshot, horizon or running checkpoint may be below it. Prefixes have 4 or 8 bytes; others are
  /// ignored.
  DeadRanges(std::span<const format::DeadId> dead_ids, CommitVersion reclaimable_version);

  bool empty() const noexcept { return ranges_.empty(); }
  /// Returns whether every table from `first` to `last` is dead.
  bool covers(TableId first, TableId last) const noexcept;
  bool holds(TableId table) const noexcept { return covers(table, table); }
  /// Returns whether any table from `first` to `last` is dead.
  bool touches(TableId first, TableId last) const noexcept;

 private:
  struct Range {
    TableId first = 0;
    TableId last = 0;
  };
  std::vector<Range> ranges_;  // by id; neither overlapping nor adjacent
};

}  // namespace varve::engine
