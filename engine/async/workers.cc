// Owns: the hand-over of steps to threads (workers.h).
// Must never: touch a step that was run.
#include "engine/async/workers.h"

#include <utility>

namespace varve::engine {

Workers::Workers(io::Scheduler& scheduler, std::string_view name, std::size_t threads_max)
    : scheduler_(scheduler), name_(name), threads_max_(threads_max), mutex_(scheduler), posted_(scheduler) {
  threads_.reserve(threads_max);
}

void Workers::stop() noexcept {
  std::vector<io::Thread> threads;
  {
    const io::MutexGuard guard(mutex_);
    is_ending_ = true;
    posted_.notify_all();
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

void Workers::post(Step& step) noexcept {
  const io::MutexGuard guard(mutex_);
  steps_.push(step);
  ++waiting_steps_;
  if (waiting_steps_ > idle_threads_ && threads_.size() < threads_max_) {
    (void)add_thread();  // Without it the others do the step, later.
  }
  posted_.notify_one();
}

void Workers::run() noexcept {
  mutex_.lock();
  for (;;) {
    while (steps_.empty() && !is_ending_) {
      ++idle_threads_;
      posted_.wait(mutex_);
      --idle_threads_;
    }
    if (steps_.empty()) break;
    Step& step = steps_.pop();
    --waiting_steps_;
    mutex_.unlock();
    step.run();
    mutex_.lock();
  }
  mutex_.unlock();
}

}  // namespace varve::engine
