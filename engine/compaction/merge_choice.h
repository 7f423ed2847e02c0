// Owns: how a job is completed around the file that it is for.
// Must never: return a job that is not free (P1) or not closed (P2).
#pragma once

#include <optional>
#include <set>

#include "engine/compaction/picker.h"

namespace varve::engine {

class MergeChoice {
 public:
  MergeChoice(const PickInput& input, const TreeShape& shape);

  const LevelTargets& targets() const noexcept { return targets_; }
  /// Returns whether a running job has the file, it rests, or it is quarantined.
  bool is_taken(const LevelFile& file) const noexcept;
  /// Returns whether a running job has the file, or it rests.
  bool is_running(const LevelFile& file) const noexcept;
  /// Returns whether the job is free (P1).
  bool is_free(const Job& job) const;
  /// Returns the number of tombstones and of entities that have ended for every reader. If only some ends have passed,
  /// their number is estimated from the smallest and the largest end.
  std::uint64_t tombstones_of(const LevelFile& file) const noexcept;
  /// Returns whether the first end passed at least as long ago as it lay after the last write of the file. By then
  /// tombstones_of() may be far too small, since one end may lie much later than all others. From one rewrite of the file
  /// to the next, that time doubles.
  bool has_long_ended(const LevelFile& file) const noexcept;
  /// Returns whether all entries are tombstones, or entities that have ended for every reader.
  bool holds_tombstones_alone(const LevelFile& file) const noexcept;
  /// Returns whether at least half of the file's entries are tombstones that every reader sees.
  bool is_tombstone_dense(const LevelFile& file) const noexcept;
  /// Returns the dead bytes of a file; zero if they are not known.
  std::uint64_t dead_bytes_of(const LevelFile& file) const noexcept;

  /// Returns a job of level 0 that begins at its oldest free files. If `wanted` is given, it is among the inputs.
  std::optional<Job> from_level0(JobReason reason, const LevelFile* wanted) const;
  /// Returns a job for a level 0 with too many flushes: from_level0(), or one that makes the newest flushes one file of
  /// level 0, if they are small beside what they overlap in the base (stays_in_level0()).
  std::optional<Job> from_full_level0() const;
  /// Returns a job for the file of a level from 1 to 5 with the lowest cost for its size.
  std::optional<Job> cheapest_of(std::uint32_t level, JobReason reason) const;
  /// Returns a job that moves or merges this file of a level from 1 to 5 into the next level.
  std::optional<Job> to_next_level(const LevelFilePtr& file, JobReason reason) const;
  /// Returns a job that rewrites this file alone in its level.
  std::optional<Job> in_place(const LevelFilePtr& file, JobReason reason) const;

 private:
  LevelFiles free_level0() const;
  std::optional<Job> within_level0(const LevelFiles& files) const;
  bool keeps_order_in_level0(const Job& job) const;
  void widen_small_move(const LevelFiles& files, Job& job) const;
  void widen_within(Job& job) const;
  void decide_kind(Job& job) const;

  const PickInput& input_;
  const TreeShape& shape_;
  LevelTargets targets_;
  std::set<std::uint64_t> running_;  // running and resting files
};

}  // namespace varve::engine
