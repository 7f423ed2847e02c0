// Owns: the calls that merge loaded entries, from the wait to their end (K4 in compactor.h).
// Must never: let a call wait for a job that will not begin.
#include <algorithm>

#include "engine/compaction/compactor.h"

namespace varve::engine {

Status Compactor::merge_beneath(const std::shared_ptr<LoadedEntries>& loaded) {
  Beneath asked{loaded};
  {
    const io::MutexGuard guard(mutex_);
    beneath_.push_back(&asked);
    plans_again_ = true;
    seat_.wake();
    while (!asked.has_ended && (asked.is_begun || !stopping_.load(std::memory_order_relaxed))) changed_.wait(mutex_);
    std::erase(beneath_, &asked);
  }
  loaded->streams.clear();  // The job may have failed before it read.
  return asked.has_ended ? asked.result : Status(Code::kClosed, "the store is closing");
}

/// Returns the job of the first caller who waits, if there is one. A quarantined file makes the call fail.
std::optional<Job> Compactor::job_beneath(const Levels& levels) {
  Job job;
  job.reason = JobReason::kLoaded;
  job.level = kLastLevel;
  job.output_level = kLastLevel;
  const io::MutexGuard guard(mutex_);
  for (Beneath* const beneath : beneath_) {
    if (beneath->is_begun || beneath->has_ended) continue;
    const LoadedEntries& loaded = *beneath->loaded;
    const Levels::Span files = levels.overlapping(kLastLevel, {loaded.smallest, loaded.largest});
    const auto damaged = std::find_if(files.begin(), files.end(), [this](const LevelFilePtr& file) {
      return quarantined_.contains(file->entry.number);
    });
    if (damaged != files.end()) {
      const auto cause = quarantine_.find({FileKind::kTable, (*damaged)->entry.number});
      beneath->result = cause != quarantine_.end() ? cause->second : Status(Code::kCorruption);
      beneath->has_ended = true;
      changed_.notify_all();
      continue;
    }
    job.inputs.assign(files.begin(), files.end());
    job.loaded = beneath->loaded;
    return job;
  }
  return std::nullopt;
}

/// Returns null if the caller waits no longer.
Compactor::Beneath* Compactor::begin_beneath(const Job& job) noexcept {
  const io::MutexGuard guard(mutex_);
  const auto found = std::find_if(beneath_.begin(), beneath_.end(),
                                  [&job](const Beneath* beneath) { return beneath->loaded == job.loaded; });
  if (found == beneath_.end()) return nullptr;
  (*found)->is_begun = true;
  return *found;
}

void Compactor::end_beneath(Beneath& beneath, const Status& result) noexcept {
  const io::MutexGuard guard(mutex_);
  beneath.result = result;
  beneath.has_ended = true;
  changed_.notify_all();
}

/// Ends the calls whose jobs have not begun.
void Compactor::refuse_beneath(const Status& cause) noexcept {
  const io::MutexGuard guard(mutex_);
  for (Beneath* const beneath : beneath_) {
    if (beneath->is_begun || beneath->has_ended) continue;
    beneath->result = cause;
    beneath->has_ended = true;
  }
  changed_.notify_all();
}

}  // namespace varve::engine
