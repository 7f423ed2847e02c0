// Owns: the choice of the next compaction.
// Must never: read a file, a clock or a state of its own: the same input gives the same job, on any machine.
//
// P1  a job is free: none of its files is being compacted or rests after a failure, none that it reads or moves is
// quarantined, and it conflicts
//     with no running job. What holds dead tables alone is unlinked in quarantine too: nobody reads it again.
// P2  a job is closed: with a file it takes every file of its output level that overlaps it, and of level 0 every older
//     one that does. So an entry never comes to lie beneath an older one of its key.
// P3  it ends: without new files, a finite row of jobs leads to none.
//
// In order: unlink what is dead; level 0 when it is twice full; files that are mostly tombstones; files that are mostly
// dead, or dead in part when writers rest; files that keep wasteful value files; the level furthest above its target;
// and, when somebody asked for it, what is worth little.
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
  /// Numbers of files that nobody may read or move.
  const std::set<std::uint64_t>& quarantined;
  /// Of the ids that no reader can name, now or later.
  const DeadRanges& dead;
  /// By file number, where the table directory was read: bytes in tables of `dead`; the file's whole size where it
  /// holds nothing else.
  const std::map<std::uint64_t, std::uint64_t>& dead_bytes;
  /// Every reader, now and later, reads at or above it, and it is durable. Tombstones up to it may go.
  CommitVersion reclaimable_version = 0;
  /// Somebody waits until all is done: work that only helps readers and space is welcome.
  bool idle = false;
  /// No writer is busy: space is given back for which others would have to wait.
  bool writers_rest = false;
  /// By file number: bytes it points to in value files that are to go. Null: none do.
  const std::map<std::uint64_t, std::uint64_t>* leaving_value_bytes = nullptr;
  /// Numbers of files whose last job failed: no job takes them for now, not even one that leaves them unread. Null:
  /// none.
  const std::set<std::uint64_t>* resting = nullptr;
};

/// At most one job; none when there is nothing to do or all of it is blocked.
std::optional<Job> pick_job(const PickInput& input, const TreeShape& shape);

}  // namespace varve::engine
