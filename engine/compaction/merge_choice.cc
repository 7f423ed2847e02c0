// Owns: the closure of a job, its freedom from other jobs, and whether it can be a move.
#include "engine/compaction/merge_choice.h"

#include <algorithm>
#include <utility>

#include "engine/compaction/bottom_check.h"

namespace varve::engine {
namespace {

/// A file of at least this part (one in 8) of a full file moves alone.
constexpr std::uint64_t kMovedAlonePart = 8;

LevelFiles to_files(Levels::Span files) {
  return LevelFiles(files.begin(), files.end());
}

/// Returns `seed` and all of `files` that overlap it, directly or through other files, in the order of `files`.
LevelFiles connected_to(const LevelFilePtr& seed, const LevelFiles& files) {
  KeyRange range = range_of(*seed);
  LevelFiles found;
  for (std::size_t before = 0;; before = found.size()) {
    found.clear();
    for (const LevelFilePtr& file : files) {
      if (!range_of(*file).overlaps(range)) continue;
      range = range.with(range_of(*file));
      found.push_back(file);
    }
    if (found.size() == before) return found;
  }
}

}  // namespace

MergeChoice::MergeChoice(const PickInput& input, const TreeShape& shape)
    : input_(input), shape_(shape), targets_(level_targets(input.levels, shape)) {
  for (const Job& job : input.running) {
    for (const LevelFilePtr& file : job.inputs) running_.insert(file->entry.number);
    for (const LevelFilePtr& file : job.overlapped) running_.insert(file->entry.number);
  }
  if (input.resting != nullptr) running_.insert(input.resting->begin(), input.resting->end());
}

bool MergeChoice::is_taken(const LevelFile& file) const noexcept {
  return is_running(file) || input_.quarantined.contains(file.entry.number);
}

bool MergeChoice::is_running(const LevelFile& file) const noexcept {
  return running_.contains(file.entry.number);
}

std::uint64_t MergeChoice::tombstones_of(const LevelFile& file) const noexcept {
  const format::Ends& ends = file.entry.ends;
  if (ends.count == 0 || ends.smallest > input_.ended_for_all) return file.entry.tombstone_count;
  if (ends.largest <= input_.ended_for_all) return file.entry.tombstone_count + ends.count;
  const double part =
      static_cast<double>(input_.ended_for_all - ends.smallest) / static_cast<double>(ends.largest - ends.smallest);
  const auto ended = static_cast<std::uint64_t>(static_cast<double>(ends.count - 1) * part) + 1;
  return file.entry.tombstone_count + std::min(ended, ends.count);
}

bool MergeChoice::has_long_ended(const LevelFile& file) const noexcept {
  const format::Ends& ends = file.entry.ends;
  if (ends.count == 0 || ends.smallest > input_.ended_for_all) return false;
  return input_.ended_for_all - ends.smallest >= ends.smallest - std::min(ends.smallest, file.largest_version());
}

bool MergeChoice::holds_tombstones_alone(const LevelFile& file) const noexcept {
  const format::Ends& ends = file.entry.ends;
  return file.entry.entry_count > 0 && file.entry.tombstone_count + ends.count == file.entry.entry_count &&
         ends.largest <= input_.ended_for_all;
}

bool MergeChoice::is_tombstone_dense(const LevelFile& file) const noexcept {
  const std::uint64_t tombstones = tombstones_of(file);
  return tombstones > 0 && tombstones >= file.entry.entry_count / 2 &&
         file.largest_version() <= input_.reclaimable_version;
}

std::uint64_t MergeChoice::dead_bytes_of(const LevelFile& file) const noexcept {
  const auto found = input_.dead_bytes.find(file.entry.number);
  return found == input_.dead_bytes.end() ? 0 : std::min(found->second, file.entry.size_bytes);
}

bool MergeChoice::is_free(const Job& job) const {
  const auto taken = [this](const LevelFilePtr& file) { return is_taken(*file); };
  if (std::any_of(job.inputs.begin(), job.inputs.end(), taken)) return false;
  if (std::any_of(job.overlapped.begin(), job.overlapped.end(), taken)) return false;
  return std::none_of(input_.running.begin(), input_.running.end(),
                      [&job](const Job& running) { return conflict(job, running); });
}

/// Returns the files of level 0 that may move down, oldest first: free files that overlap no older file that must stay.
LevelFiles MergeChoice::free_level0() const {
  LevelFiles files = input_.levels.level(0);
  std::reverse(files.begin(), files.end());
  LevelFiles free;
  LevelFiles staying;
  for (const LevelFilePtr& file : files) {
    const bool stands_on = std::any_of(staying.begin(), staying.end(), [&](const LevelFilePtr& older) {
      return range_of(*older).overlaps(range_of(*file));
    });
    (is_taken(*file) || stands_on ? staying : free).push_back(file);
  }
  return free;
}

std::optional<Job> MergeChoice::from_level0(JobReason reason, const LevelFile* wanted) const {
  const LevelFiles files = free_level0();
  for (const LevelFilePtr& oldest : files) {
    if (wanted != nullptr && oldest.get() != wanted) continue;
    Job job;
    job.reason = reason;
    job.level = 0;
    job.output_level = targets_.base;
    job.inputs = connected_to(oldest, files);
    job.overlapped = to_files(input_.levels.overlapping(job.output_level, range_of_all(job.inputs)));
    decide_kind(job);
    if (job.kind == JobKind::kMove) widen_small_move(files, job);
    std::reverse(job.inputs.begin(), job.inputs.end());  // newest first
    if (is_free(job)) return job;
  }
  return std::nullopt;
}

std::optional<Job> MergeChoice::from_full_level0() const {
  std::optional<Job> job = from_level0(JobReason::kLevel0, nullptr);
  if (!job || input_.idle || !stays_in_level0(bytes_of(job->inputs), bytes_of(job->overlapped), shape_)) return job;
  std::optional<Job> within = within_level0(job->inputs);
  return within ? within : job;
}

/// Makes one file of the newest of these files of level 0. An older file comes along if it is no larger than all newer ones
/// together. So an entry is written anew only when its file at least doubles, or takes in several flushes.
std::optional<Job> MergeChoice::within_level0(const LevelFiles& files) const {
  Job job;
  job.reason = JobReason::kLevel0;
  CommitVersion oldest = format::kCommitVersionMax;
  for (const LevelFilePtr& file : files) {
    const bool is_of_same_flush = file->largest_version() >= oldest;
    const bool is_enough = job.inputs.size() >= std::max<std::size_t>(2, shape_.level0_flushes / 2);
    if (is_enough && !is_of_same_flush && file->entry.size_bytes > bytes_of(job.inputs)) break;
    job.inputs.push_back(file);
    oldest = std::min(oldest, file->smallest_version());
  }
  if (job.inputs.size() < 2 || !keeps_order_in_level0(job) || !is_free(job)) return std::nullopt;
  return job;
}

/// Returns whether one file of all inputs can be in level 0 (V1): every other file of its keys is older or newer than it.
bool MergeChoice::keeps_order_in_level0(const Job& job) const {
  CommitVersion oldest = format::kCommitVersionMax;
  CommitVersion newest = 0;
  for (const LevelFilePtr& file : job.inputs) {
    oldest = std::min(oldest, file->smallest_version());
    newest = std::max(newest, file->largest_version());
  }
  const KeyRange range = range_of_all(job.inputs);
  const LevelSequence& files = input_.levels.level(0);
  return std::all_of(files.begin(), files.end(), [&](const LevelFilePtr& file) {
    const bool is_apart = file->largest_version() < oldest || newest < file->smallest_version();
    return is_apart || job.takes(file->entry.number) || !range_of(*file).overlaps(range);
  });
}

/// Merges small files that could move one by one. Otherwise a trickle of writes would fill the tree with small files.
/// Larger files are not rewritten for the sake of a small one.
void MergeChoice::widen_small_move(const LevelFiles& files, Job& job) const {
  const auto moves_alone = [this](const LevelFilePtr& file) {
    return file->entry.size_bytes >= shape_.file_bytes / kMovedAlonePart;
  };
  if (moves_alone(job.inputs.front())) return;
  KeyRange range = range_of_all(job.inputs);
  for (const LevelFilePtr& file : files) {
    if (bytes_of(job.inputs) >= shape_.file_bytes) break;
    if (file == job.inputs.front()) continue;
    const KeyRange wider = range.with(range_of(*file));
    if (!input_.levels.overlapping(job.output_level, wider).empty()) continue;
    // All files in the wider range come along, since the outputs could overlap them.
    LevelFiles inputs;
    for (const LevelFilePtr& other : files) {
      if (range_of(*other).overlaps(wider)) inputs.push_back(other);
    }
    if (std::any_of(inputs.begin(), inputs.end(), moves_alone)) continue;
    if (range_of_all(inputs).smallest < wider.smallest || wider.largest < range_of_all(inputs).largest) continue;
    job.inputs = std::move(inputs);
    job.kind = JobKind::kMerge;
    range = wider;
  }
}

std::optional<Job> MergeChoice::cheapest_of(std::uint32_t level, JobReason reason) const {
  std::optional<Job> best;
  double best_cost = 0;
  for (const LevelFilePtr& file : input_.levels.level(level)) {
    if (is_taken(*file)) continue;
    // Dead bytes and tombstones need not be written again.
    const double size = static_cast<double>(file->entry.size_bytes + dead_bytes_of(*file));
    const double tombstones = static_cast<double>(tombstones_of(*file)) /
                              static_cast<double>(std::max<std::uint64_t>(1, file->entry.entry_count));
    const Levels::Span below = input_.levels.overlapping(level + 1, range_of(*file));
    const double cost = static_cast<double>(bytes_of(below)) / std::max(1.0, size * (1 + tombstones));
    const bool better = !best || cost < best_cost ||
                        (cost == best_cost &&
                         std::pair(file->largest_version(), file->entry.number) <
                             std::pair(best->inputs.front()->largest_version(), best->inputs.front()->entry.number));
    if (!better) continue;
    std::optional<Job> job = to_next_level(file, reason);
    if (!job) continue;
    // From here only the chosen file counts. The files that come along are searched again below.
    job->inputs = {file};
    best = std::move(job);
    best_cost = cost;
  }
  return best ? to_next_level(best->inputs.front(), reason) : std::nullopt;
}

std::optional<Job> MergeChoice::to_next_level(const LevelFilePtr& file, JobReason reason) const {
  Job job;
  job.reason = reason;
  job.level = file->entry.level;
  job.output_level = job.level + 1;
  job.inputs = {file};
  job.overlapped = to_files(input_.levels.overlapping(job.output_level, range_of(*file)));
  decide_kind(job);
  if (!is_free(job)) return std::nullopt;
  if (job.kind == JobKind::kMerge && !job.overlapped.empty()) widen_within(job);
  return job;
}

/// Adds neighbours of the file that overlap only files that are rewritten anyway.
void MergeChoice::widen_within(Job& job) const {
  const LevelSequence& files = input_.levels.level(job.level);
  const std::size_t place = input_.levels.first_at_or_after(job.level, job.inputs.front()->entry.smallest_key);
  const KeyRange range = range_of_all(job.overlapped);
  const auto fits = [&](const LevelFilePtr& file) {
    if (is_taken(*file)) return false;
    const Levels::Span below = input_.levels.overlapping(job.output_level, range_of(*file));
    return !below.empty() && range.smallest <= below.front()->entry.smallest_key &&
           below.back()->entry.largest_key <= range.largest;
  };
  std::size_t first = place;
  std::size_t end = place + 1;
  while (first > 0 && fits(files[first - 1])) --first;
  while (end < files.size() && fits(files[end])) ++end;
  Job wider = job;
  wider.inputs.assign(files.begin() + static_cast<std::ptrdiff_t>(first),
                      files.begin() + static_cast<std::ptrdiff_t>(end));
  if (is_free(wider)) job = std::move(wider);
}

std::optional<Job> MergeChoice::in_place(const LevelFilePtr& file, JobReason reason) const {
  Job job;
  job.reason = reason;
  job.level = file->entry.level;
  job.output_level = job.level;
  job.inputs = {file};
  if (!is_free(job)) return std::nullopt;
  return job;
}

void MergeChoice::decide_kind(Job& job) const {
  job.kind = JobKind::kMerge;
  if (job.inputs.size() != 1 || !job.overlapped.empty()) return;
  const LevelFile& file = *job.inputs.front();
  const KeyRange range = range_of(file);
  // Without files beneath, moved tombstones would stay forever. A rewrite drops them at once.
  if (is_tombstone_dense(file) && is_bottom_for(input_.levels, job.output_level, range)) return;
  if (job.output_level < kLastLevel &&
      bytes_of(input_.levels.overlapping(job.output_level + 1, range)) > shape_.grandparent_bytes_max) {
    return;
  }
  job.kind = JobKind::kMove;
}

}  // namespace varve::engine
