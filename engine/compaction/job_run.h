// Owns: the performance of one job: what it reads and writes, and the edits that publish its result.
// Must never: choose a job, or decide what happens after a failure.
//
// R1  A merge of level 0 into another level is cut into ranges of at least TreeShape::file_bytes. A cut lies between two files of the output
//     level, at the first key of such a file or of a run of level 0. Free threads of the pool share the ranges. Each
//     range is published by an edit of its own as soon as it ends: its outputs enter, and its files of the output level
//     leave.
// R2  The files of level 0 stay until the last range. They leave together, in that range's edit. Until then the entries
//     of published ranges are in two places, with equal keys and versions. In memory, each edit notes its range with
//     these files. From then on gets, and scans within the range, pass them: the outputs have all that a reader may ask
//     for. If a range fails, all files of level 0 stay, and a later job merges them again. So at every moment level 0
//     has either all of these files or none.
// R3  The whole job counts as running until its last range has ended. So no other job takes what a range published.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/background_pool.h"
#include "engine/base/read_queues.h"
#include "engine/compaction/tree.h"
#include "engine/levels/dead_ranges.h"
#include "engine/levels/job.h"
#include "engine/levels/tree_shape.h"
#include "engine/tables/block_reader.h"
#include "varve/result.h"

namespace varve::engine {

/// What a job was picked from.
struct JobView {
  std::shared_ptr<const Levels> levels;
  std::vector<CommitVersion> horizon;
  DeadRanges dead;
  /// Value files that must go. Ascending numbers.
  std::vector<std::uint64_t> leaving_value_files;
  /// As PickInput::ended_for_all.
  CommitVersion ended_for_all = 0;
};

/// Counts of jobs. Any thread may change them.
struct JobFigures {
  std::atomic<std::uint64_t> moved_files{0};
  std::atomic<std::uint64_t> unlinked_files{0};
  std::atomic<std::uint64_t> read_bytes{0};
  std::atomic<std::uint64_t> written_bytes{0};
  std::atomic<std::uint64_t> copied_bytes{0};
};

/// What a job works with. All parts outlive the job.
struct JobTools {
  Tree& tree;
  BlockReader& blocks;
  ReadQueues& read_queues;
  BackgroundPool& pool;
  const TreeShape& shape;
  const std::atomic<bool>& stopping;
  JobFigures& figures;
};

/// Performs a job and publishes its result. After an error, the inputs stay (R2). Throws std::bad_alloc. Errors: those
/// of the files read and written, and of Tree::apply(); kClosed (the store is closing).
Status perform_job(const Job& job, const JobView& view, const JobTools& tools);

}  // namespace varve::engine
