// Owns: the order of the jobs.
#include "engine/compaction/picker.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/compaction/bottom_check.h"
#include "engine/compaction/merge_choice.h"

namespace varve::engine {
namespace {

/// Rewriting pays at once if it frees at least as many bytes as it writes. In an idle moment it pays if this part of
/// the file is dead (one byte in 8).
constexpr std::uint64_t kIdleDeadPart = 8;

bool holds_dead_tables_alone(const PickInput& input, const MergeChoice& choice, const LevelFile& file) {
  if (input.dead.covers(file.entry.first_table, file.entry.last_table)) return true;
  return file.entry.size_bytes > 0 && choice.dead_bytes_of(file) == file.entry.size_bytes;
}

/// Returns whether a file may be removed unread, because no reader can ask for its entries. This holds even for a
/// damaged file. For a quarantined file only dead tables count, since its own figures about tombstones are not trusted.
bool may_leave_unread(const PickInput& input, const MergeChoice& choice, const LevelFile& file) {
  if (choice.is_running(file)) return false;
  if (holds_dead_tables_alone(input, choice, file)) return true;
  return !choice.is_taken(file) && choice.holds_tombstones_alone(file) &&
         file.largest_version() <= input.reclaimable_version && is_bottom_for(input.levels, file);
}

std::optional<Job> unlink_dead(const PickInput& input, const MergeChoice& choice) {
  Job job;
  job.kind = JobKind::kUnlink;
  job.reason = JobReason::kDead;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : input.levels.level(level)) {
      if (may_leave_unread(input, choice, *file)) job.inputs.push_back(file);
    }
  }
  if (job.inputs.empty()) return std::nullopt;
  return job;
}

/// Moves tombstones down to the entries that they hide. If nothing is beneath them, rewrites the file without them.
std::optional<Job> sink_tombstones(const PickInput& input, const MergeChoice& choice, const LevelFilePtr& file,
                                   JobReason reason) {
  if (is_bottom_for(input.levels, *file)) return choice.in_place(file, reason);
  if (file->entry.level == 0) return choice.from_level0(reason, file.get());
  return choice.to_next_level(file, reason);
}

std::optional<Job> dense_tombstones(const PickInput& input, const MergeChoice& choice) {
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : input.levels.level(level)) {
      if (choice.is_taken(*file) || !choice.is_tombstone_dense(*file)) continue;
      if (std::optional<Job> job = sink_tombstones(input, choice, file, JobReason::kTombstones)) return job;
    }
  }
  return std::nullopt;
}

/// Rewrites the file with the largest dead part, if at least one byte in `part` is dead.
std::optional<Job> excise(const PickInput& input, const MergeChoice& choice, std::uint64_t part, JobReason reason) {
  LevelFiles files;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : input.levels.level(level)) {
      const std::uint64_t dead = choice.dead_bytes_of(*file);
      if (dead > 0 && dead >= file->entry.size_bytes / part) files.push_back(file);
    }
  }
  const auto dead_part = [&choice](const LevelFile& file) {
    return static_cast<double>(choice.dead_bytes_of(file)) / static_cast<double>(file.entry.size_bytes);
  };
  std::sort(files.begin(), files.end(), [&](const LevelFilePtr& left, const LevelFilePtr& right) {
    if (dead_part(*left) != dead_part(*right)) return dead_part(*left) > dead_part(*right);
    return left->entry.number < right->entry.number;
  });
  for (const LevelFilePtr& file : files) {
    if (std::optional<Job> job = choice.in_place(file, reason)) return job;
  }
  return std::nullopt;
}

/// Merges files of level 0 with the files beneath them, so that value files lose the pointers to replaced values.
std::optional<Job> let_go_of_values(const PickInput& input, const MergeChoice& choice) {
  for (const LevelFilePtr& file : input.levels.level(0)) {
    if (file->largest_version() > std::min(input.let_go_upto, input.reclaimable_version)) continue;
    if (is_bottom_for(input.levels, *file)) continue;
    if (std::optional<Job> job = choice.from_level0(JobReason::kValueSpace, file.get())) return job;
  }
  return std::nullopt;
}

/// Rewrites in place the file with the most bytes in leaving value files. Its values are copied into the new file.
std::optional<Job> free_value_files(const PickInput& input, const MergeChoice& choice) {
  if (input.leaving_value_bytes == nullptr) return std::nullopt;
  LevelFiles files;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : input.levels.level(level)) {
      if (input.leaving_value_bytes->contains(file->entry.number)) files.push_back(file);
    }
  }
  const auto bytes = [&input](const LevelFilePtr& file) { return input.leaving_value_bytes->at(file->entry.number); };
  std::stable_sort(files.begin(), files.end(),
                   [&](const LevelFilePtr& left, const LevelFilePtr& right) { return bytes(left) > bytes(right); });
  for (const LevelFilePtr& file : files) {
    if (std::optional<Job> job = choice.in_place(file, JobReason::kValueSpace)) return job;
  }
  return std::nullopt;
}

/// Returns whether the job takes its inputs out of their level.
bool leaves_level(const Job& job) noexcept {
  return job.kind == JobKind::kUnlink || job.output_level != job.level;
}

/// Returns the bytes that each level keeps once the running jobs have ended. Files that a running job takes to another
/// level do not make their level full again: each would get a small job of its own, and small files in the level below.
std::array<std::uint64_t, kLevelCount> bytes_kept(const PickInput& input) {
  std::array<std::uint64_t, kLevelCount> kept{};
  for (std::uint32_t level = 0; level < kLevelCount; ++level) kept[level] = input.levels.level_bytes(level);
  for (const Job& job : input.running) {
    if (!leaves_level(job)) continue;
    for (const LevelFilePtr& file : job.inputs) {
      // The job may have ended just now, and its files be gone from the levels.
      std::uint64_t& bytes = kept[file->entry.level];
      bytes -= std::min(file->entry.size_bytes, bytes);
    }
  }
  return kept;
}

/// Returns the number of flushes of which level 0 keeps a file.
std::size_t flushes_kept(const PickInput& input) {
  const auto is_leaving = [&input](const LevelFilePtr& file) {
    return std::any_of(input.running.begin(), input.running.end(),
                       [&file](const Job& job) { return leaves_level(job) && job.takes(file->entry.number); });
  };
  std::size_t kept = 0;
  for (std::size_t flush = 0; flush < input.levels.flush_count(); ++flush) {
    const Levels::Span files = input.levels.flush(flush);
    if (!std::all_of(files.begin(), files.end(), is_leaving)) ++kept;
  }
  return kept;
}

/// Returns the size of what each level keeps, divided by its target. A level at or below its target has one or less.
std::array<double, kLevelCount> fullness(const PickInput& input, const LevelTargets& targets, const TreeShape& shape) {
  const std::array<std::uint64_t, kLevelCount> kept = bytes_kept(input);
  std::array<double, kLevelCount> full{};
  full[0] = static_cast<double>(flushes_kept(input)) / shape.level0_flushes;
  for (std::uint32_t level = 1; level < kLastLevel; ++level) {
    const std::uint64_t bytes = kept[level];
    full[level] = static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(1, targets.bytes[level]));
  }
  return full;
}

std::optional<Job> fullest_level(const MergeChoice& choice, const std::array<double, kLevelCount>& full) {
  std::array<std::uint32_t, kLevelCount> levels{};
  std::iota(levels.begin(), levels.end(), 0);
  std::stable_sort(levels.begin(), levels.end(), [&full](auto left, auto right) { return full[left] > full[right]; });
  for (const std::uint32_t level : levels) {
    const bool over = level == 0 ? full[0] >= 1 : full[level] > 1;
    if (!over) continue;
    std::optional<Job> job = level == 0 ? choice.from_full_level0() : choice.cheapest_of(level, JobReason::kLevelSize);
    if (job) return job;
  }
  return std::nullopt;
}

/// Rewrites files with tombstones that were moved to a level with nothing beneath, and files with entities that ended there.
std::optional<Job> stranded_tombstones(const PickInput& input, const MergeChoice& choice) {
  for (const LevelFilePtr& file : input.levels.level(kLastLevel)) {
    const std::uint64_t tombstones = choice.tombstones_of(*file);
    if (tombstones == 0) continue;
    if (tombstones < file->entry.entry_count / kIdleDeadPart && !choice.has_long_ended(*file)) continue;
    if (file->largest_version() > input.reclaimable_version) continue;
    if (std::optional<Job> job = choice.in_place(file, JobReason::kIdle)) return job;
  }
  return std::nullopt;
}

std::optional<Job> idle_work(const PickInput& input, const MergeChoice& choice, const TreeShape& shape) {
  if (input.levels.flush_count() >= shape.level0_flushes_idle) {
    if (std::optional<Job> job = choice.from_level0(JobReason::kIdle, nullptr)) return job;
  }
  if (std::optional<Job> job = excise(input, choice, kIdleDeadPart, JobReason::kIdle)) return job;
  return stranded_tombstones(input, choice);
}

}  // namespace

std::optional<Job> pick_job(const PickInput& input, const TreeShape& shape) {
  const MergeChoice choice(input, shape);
  if (std::optional<Job> job = unlink_dead(input, choice)) return job;
  const std::array<double, kLevelCount> full = fullness(input, choice.targets(), shape);
  if (full[0] >= 2) {
    if (std::optional<Job> job = choice.from_full_level0()) return job;
  }
  if (std::optional<Job> job = dense_tombstones(input, choice)) return job;
  const std::uint64_t dead_part = input.writers_rest ? kIdleDeadPart : 2;
  if (std::optional<Job> job = excise(input, choice, dead_part, JobReason::kDeadBytes)) return job;
  if (std::optional<Job> job = let_go_of_values(input, choice)) return job;
  if (std::optional<Job> job = free_value_files(input, choice)) return job;
  if (std::optional<Job> job = fullest_level(choice, full)) return job;
  if (input.idle) return idle_work(input, choice, shape);
  return std::nullopt;
}

}  // namespace varve::engine
