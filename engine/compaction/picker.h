// Owns: the choice of the next compaction.
// Must never: read a file, a clock or a state of its own: equal inputs give equal jobs, on any machine.
//
// P1  A job is free: none of its files is being compacted or rests after a failure. No file that it reads or moves is
//     quarantined, and the job conflicts with no running job. A quarantined file with only dead tables is unlinked too,
//     since no reader needs it.
// P2  A job is closed: with a file, it takes every file of its output level that overlaps it. From level 0 it also
//     takes every older file that overlaps it. So an entry is never placed beneath an older entry of its key. A job whose
//     output stays in level 0 takes no such file. Every other file of its keys there is older or newer than all that it takes.
// P3  Picking ends: without new files, a finite series of jobs leaves no job.
// P4  A job that merges files of level 0 with each other makes one file of them. So it leaves fewer files than it took (P3).
//
// A level counts without the files that a running job takes to another level.
//
// The order of choice:
//
// Entities that have ended for every reader count as tombstones.
//
// 1. Unlink dead files.
// 2. Level 0, if it has twice its target.
// 3. Files of mostly tombstones.
// 4. Files that are mostly dead, or partly dead while writers rest.
// 5. Files of level 0 that let go of many large values, with the files beneath that name these values.
// 6. Files that keep wasteful value files.
// 7. The level furthest above its target.
// 8. Work of little value, if a caller asked for all work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "engine/levels/dead_ranges.h"
#include "engine/levels/job.h"
#include "engine/levels/tree_shape.h"

namespace varve::engine {

struct PickInput {
  const Levels& levels;
  std::span<const Job> running;
  /// Numbers of files that no job may read or move.
  const std::set<std::uint64_t>& quarantined;
  /// The ranges of ids that no reader can use, now or later.
  const DeadRanges& dead;
  /// For each file number whose table directory was read: bytes in tables of `dead`. It is the whole file size if the
  /// file has nothing else.
  const std::map<std::uint64_t, std::uint64_t>& dead_bytes;
  /// Every reader reads at or above this version, now and later, and it is durable. Tombstones up to it may be dropped.
  CommitVersion reclaimable_version = 0;
  /// A caller waits until all work is done, so work that only helps readers and space is done too.
  bool idle = false;
  /// No writer is busy, so space is freed for which writers would otherwise have to wait.
  bool writers_rest = false;
  /// For each file number: its bytes in value files that must go. Null: no value file must go.
  const std::map<std::uint64_t, std::uint64_t>* leaving_value_bytes = nullptr;
  /// Numbers of files whose last job failed. No job takes them for now, not even one that leaves them unread. Null:
  /// none.
  const std::set<std::uint64_t>* resting = nullptr;
  /// Ends at or below it have passed for every reader, now and later.
  CommitVersion ended_for_all = 0;
  /// Files of level 0 up to this version let go of many large values. Zero: none do.
  CommitVersion let_go_upto = 0;
};

/// Returns at most one job; none if there is nothing to do or all jobs are blocked.
std::optional<Job> pick_job(const PickInput& input, const TreeShape& shape);

}  // namespace varve::engine
