// Owns: the hand-over of steps to threads (workers.h).
// Must never: use a step after it was run.
#include "engine/async/workers.h"

#include <utility>

namespace varve::engine {

Workers::Workers(io::Scheduler& scheduler, std::string_view name, std::size_t threads_max)
    : scheduler_(scheduler), name_(name), threads_max_(threads_max), mutex_(scheduler) {
  threads_.reserve(threads_max);
}

void Workers::stop() noexcept {
  std::vector<io::Thread> threads;
  {
    const io::MutexGuard guard(mutex_);
    is_ending_ = true;
    while (Idle* const idle = take_idle()) idle->woken.set();
    threads.swap(threads_);
  }
  threads.clear();  // Joins.
}

Status Workers::start() {
  const io::MutexGuard guard(mutex_);
  return add_thread();
}

Status Workers::add_thread() {
  Result<io::Thread> thread = scheduler_.start(name_, [this] { run(); });
  if (!thread.ok()) return thread.status();
  threads_.push_back(*std::move(thread));
  return Status();
}

Workers::Idle* Workers::take_idle() noexcept {
  Idle* const idle = idle_;
  if (idle != nullptr) idle_ = idle->next;
  return idle;
}

void Workers::post(Step& step) noexcept {
  Idle* idle = nullptr;
  {
    const io::MutexGuard guard(mutex_);
    idle = take_idle();
    if (idle == nullptr) {
      steps_.push(step);
      if (threads_.size() < threads_max_) (void)add_thread();  // Without it, the other threads run the step later.
      return;
    }
  }
  idle->step = &step;
  idle->woken.set();  // The thread waits for this event, so it still lives.
}

/// Returns the next step, or null at the end.
Step* Workers::next_step() noexcept {
  Idle idle(scheduler_);
  {
    const io::MutexGuard guard(mutex_);
    if (!steps_.empty()) return &steps_.pop();
    if (is_ending_) return nullptr;
    idle.next = idle_;
    idle_ = &idle;
  }
  idle.woken.wait();
  return idle.step;
}

void Workers::run() noexcept {
  while (Step* const step = next_step()) step->run();
}

}  // namespace varve::engine
