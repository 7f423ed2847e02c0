// Owns: the calls that merge loaded entries, from the wait to their end (K4 in compactor.h).
// Must never: let a call wait for a job that will not begin.
#include <algorithm>
#include <chrono>
#include <functional>

#include "engine/compaction/compactor.h"

namespace varve::engine {
namespace {

/// How often a caller is asked whether its load goes on.
constexpr std::chrono::milliseconds kLookTime{100};

}  // namespace

Status Compactor::merge_beneath(const std::shared_ptr<LoadedEntries>& loaded, const std::function<bool()>& goes_on) {
  Beneath asked{loaded};
  {
    const io::MutexGuard guard(mutex_);
    beneath_.push_back(&asked);
    plans_again_ = true;
    seat_.wake();
  }
  bool is_asked = static_cast<bool>(goes_on);
  try {
    do {
      if (!is_asked || goes_on()) continue;
      loaded->is_stopped.store(true, std::memory_order_relaxed);
      is_asked = false;
    } while (!await_beneath(asked, is_asked));
  } catch (...) {  // of `goes_on`
    loaded->is_stopped.store(true, std::memory_order_relaxed);
    while (!await_beneath(asked, false)) {
    }
    loaded->streams.clear();
    throw;
  }
  loaded->streams.clear();  // The job may have failed before it read.
  if (asked.has_ended) return asked.result;
  const bool is_stopped = loaded->is_stopped.load(std::memory_order_relaxed);
  return is_stopped ? Status(Code::kCancelled, "the merge was stopped") : Status(Code::kClosed, "the store is closing");
}

/// Waits for a while, or for the end of the call. Returns whether the call has ended; then no job has it.
bool Compactor::await_beneath(Beneath& asked, bool is_brief) {
  const io::MutexGuard guard(mutex_);
  const auto is_over = [&]() VARVE_REQUIRES(mutex_) {
    const bool is_given_up =
        stopping_.load(std::memory_order_relaxed) || asked.loaded->is_stopped.load(std::memory_order_relaxed);
    return asked.has_ended || (!asked.is_begun && is_given_up);
  };
  if (!is_over() && is_brief) {
    changed_.wait_for(mutex_, kLookTime);
  } else if (!is_over()) {
    changed_.wait(mutex_);
  }
  if (!is_over()) return false;
  std::erase(beneath_, &asked);
  return true;
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
