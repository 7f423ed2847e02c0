// Owns: how a job is made whole around the file that it is for.
// Must never: give a job that is not free (P1) or not closed (P2).
#pragma once

#include <optional>
#include <set>

#include "engine/compaction/picker.h"

namespace varve::engine {

class MergeChoice {
 public:
  MergeChoice(const PickInput& input, const TreeShape& shape);

  const LevelTargets& targets() const noexcept { return targets_; }
  /// A running job has it, or it rests, or it is quarantined.
  bool is_taken(const LevelFile& file) const noexcept;
  /// A running job has it, or it rests.
  bool is_running(const LevelFile& file) const noexcept;
  /// Whether the file is mostly tombstones that every reader sees.
  bool is_tombstone_dense(const LevelFile& file) const noexcept;
  /// Zero where it is not known.
  std::uint64_t dead_bytes_of(const LevelFile& file) const noexcept;

  /// Level 0 from its oldest free files on. `wanted`, if any, is among the inputs.
  std::optional<Job> from_level0(JobReason reason, const LevelFile* wanted) const;
  /// The file of a level from 1 to 5 that costs the least for what it moves.
  std::optional<Job> cheapest_of(std::uint32_t level, JobReason reason) const;
  /// This file of a level from 1 to 5 to the next one.
  std::optional<Job> to_next_level(const LevelFilePtr& file, JobReason reason) const;
  /// This file alone, to where it is.
  std::optional<Job> in_place(const LevelFilePtr& file, JobReason reason) const;

 private:
  bool is_free(const Job& job) const;
  LevelFiles free_level0() const;
  void widen_small_move(const LevelFiles& files, Job& job) const;
  void widen_within(Job& job) const;
  void decide_kind(Job& job) const;

  const PickInput& input_;
  const TreeShape& shape_;
  LevelTargets targets_;
  std::set<std::uint64_t> running_;  // and resting
};

}  // namespace varve::engine
