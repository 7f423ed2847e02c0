// Owns: the loop of the timer thread (log_timer.h).
// Must never: write to the log by itself.
#include "engine/commit/log_timer.h"

#include <utility>

namespace varve::engine {

Status LogTimer::start() {
  Result<io::Thread> thread = env_.scheduler.start("varve-log", [this] { run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return Status();
}

void LogTimer::run() noexcept {
  for (;;) {
    const CommitQueue::TimerWork work = queue_.wait_for_timer_work();
    if (work == CommitQueue::TimerWork::kEnd) return;
    if (work == CommitQueue::TimerWork::kRestore) {
      queue_.restore_log_buffer();
      continue;
    }
    if (work == CommitQueue::TimerWork::kDeferredWrites) {
      queue_.write_deferred();
      continue;
    }
    // A failure poisons the queue, which reports it to every committing caller. No caller waits for this flush.
    (void)queue_.flush(work == CommitQueue::TimerWork::kWatermark);
  }
}

}  // namespace varve::engine
