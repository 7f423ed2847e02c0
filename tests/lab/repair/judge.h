// Owns: the laws of a repair, judged by a history of all that was ever committed.
// Must never: take the report's word for a loss that the history does not show, or pass over one that it does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/repair/repair_figures.h"
#include "io/simulated/memory_disk.h"
#include "tests/lab/repair/world.h"

namespace varve::lab::repair {

struct Verdict {
  /// Laws that were broken, one line each.
  std::vector<std::string> broken;
  engine::RepairFigures figures;
  std::uint64_t rows_lost = 0;
  std::uint64_t rows_stale = 0;
  std::uint64_t tables_renamed = 0;
  bool is_exact = false;  // the repaired store is the newest state, whole
  bool was_refused = false;
};

struct Expectation {
  /// The disk is the world's own, untouched.
  bool nothing_is_lost = false;
  /// Bytes of other stores may stand in place of the store's own, so that what is saved need not be its own where
  /// nothing is left to tell them apart.
  bool may_be_foreign = false;
  /// The log was left open, and its end was damaged: that cannot be told from writes that never finished.
  bool may_end_torn = false;
};

/// Repairs the store on `disk` and judges what comes of it:
///   never invented   every row saved was the row's content at that version
///   nothing silent   a row that is not the newest has a loss that covers its key and the version it should have
///   no return        a dropped table stays away, unless a loss covers its drop
///   counted          stale rows are among those called so
///   sound            the repaired store opens, verifies, and takes writes with numbers and versions never used before
///   untouched        the damaged store is what it was, to the byte
Verdict judge_repair(const World& world, const io::MemoryDisk& disk, const Expectation& expected);

}  // namespace varve::lab::repair
