// Owns: the laws of a repair, checked with a history of all commits.
// Must never: believe a reported loss that the history does not show, or ignore a loss that it shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/repair/repair_figures.h"
#include "io/simulated/memory_disk.h"
#include "tests/lab/repair/world.h"

namespace varve::lab::repair {

struct Verdict {
  /// The violated laws, one line each.
  std::vector<std::string> broken;
  engine::RepairFigures figures;
  std::uint64_t rows_lost = 0;
  std::uint64_t rows_stale = 0;
  std::uint64_t tables_renamed = 0;
  bool is_exact = false;  // the repaired store is the complete newest state
  bool was_refused = false;
};

struct Expectation {
  /// The disk is undamaged.
  bool nothing_is_lost = false;
  /// Bytes of other stores may replace the store's own. If nothing distinguishes them, the repaired data may be
  /// foreign.
  bool may_be_foreign = false;
  /// The log was open, and its end was damaged. This cannot be distinguished from writes that never finished.
  bool may_end_torn = false;
};

/// Repairs the store on `disk` and checks the result:
/// - never invented: every saved row has the row's content at that version
/// - nothing silent: if a row is not the newest, a loss covers its key and the missing version
/// - no return: a dropped table does not reappear, unless a loss covers its drop
/// - counted: stale rows are reported as stale
/// - sound: the repaired store opens, verifies, and accepts writes with file numbers and versions that were never used
///   before
/// - untouched: every byte of the damaged store is unchanged
Verdict judge_repair(const World& world, const io::MemoryDisk& disk, const Expectation& expected);

}  // namespace varve::lab::repair
