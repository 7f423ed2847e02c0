// Owns: the loop of the asynchronous thread (executor.h).
// Must never: hold the mutex while a step runs.
#include "engine/async/executor.h"

#include <cassert>
#include <new>

namespace varve::engine {

namespace {

/// The executor of this thread.
thread_local const Executor* thread_owner = nullptr;

}  // namespace

Result<std::unique_ptr<Executor>> Executor::start(const io::Env& env, BlockReader& blocks) {
  Result<std::unique_ptr<io::ReadQueue>> queue = env.files.make_read_queue(env.scheduler, kReadsInFlightMax);
  if (!queue.ok()) return queue.status();
  if (Status allowed = (*queue)->allow_wake(); !allowed.ok()) return allowed;
  auto executor = std::make_unique<Executor>(env, blocks, *std::move(queue));
  if (Status helps = executor->helper_.start(); !helps.ok()) return helps;
  Result<io::Thread> thread = env.scheduler.start("varve-async", [&started = *executor] { started.run(); });
  if (!thread.ok()) return thread.status();
  executor->thread_ = *std::move(thread);
  return executor;
}

Executor::Executor(const io::Env& env, BlockReader& blocks, std::unique_ptr<io::ReadQueue> queue)
    : env_(env),
      queue_(queue.get()),
      searches_(env.scheduler, blocks, std::move(queue)),
      mutex_(env.scheduler),
      changed_(env.scheduler),
      helper_(env.scheduler, "varve-unpack", 1) {
  searches_.share_work(helper_, *this);
}

Executor::~Executor() {
  stop();
}

bool Executor::is_this_thread() const noexcept {
  return thread_owner == this;
}

void Executor::post(Step& step) noexcept {
  if (is_this_thread()) {
    own_.push(step);
    return;
  }
  const io::MutexGuard guard(mutex_);
  posted_.push(step);
  wake();
}

void Executor::post_all(StepList steps) noexcept {
  if (is_this_thread()) {
    own_.append(steps);
    return;
  }
  const io::MutexGuard guard(mutex_);
  posted_.append(steps);
  wake();
}

void Executor::wake() noexcept {
  if (waiting_ == Waiting::kForPost) changed_.notify_all();
  if (waiting_ == Waiting::kForRead) queue_->wake();
  waiting_ = Waiting::kNot;
}

bool Executor::begin_operation() noexcept {
  std::uint64_t before = operations_.load(std::memory_order_relaxed);
  do {
    if ((before & kStopping) != 0) return false;
  } while (!operations_.compare_exchange_weak(before, before + 1, std::memory_order_acq_rel));
  return true;
}

void Executor::end_operation() noexcept {
  std::uint64_t before = operations_.load(std::memory_order_relaxed);
  while ((before & kStopping) == 0) {
    assert(before > 0);
    if (operations_.compare_exchange_weak(before, before - 1, std::memory_order_acq_rel)) return;
  }
  const io::MutexGuard guard(mutex_);
  if (operations_.fetch_sub(1, std::memory_order_acq_rel) == (kStopping | 1)) wake();
}

bool Executor::has_several_operations() noexcept {
  return (operations_.load(std::memory_order_relaxed) & ~kStopping) > 1;
}

void Executor::stop() noexcept {
  assert(!is_this_thread());
  {
    const io::MutexGuard guard(mutex_);
    operations_.fetch_or(kStopping, std::memory_order_acq_rel);
    // If the thread waits for a read, it continues to wait, and the next post must find it there.
    if (waiting_ == Waiting::kForPost) changed_.notify_all();
  }
  thread_.join();
  helper_.stop();  // No block is left to unpack: every search has ended.
}

Status Executor::set(Timer& timer, std::chrono::nanoseconds at) noexcept {
  assert(is_this_thread() && !timer.at_);
  try {
    timers_.emplace(at, &timer);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  timer.at_ = at;
  return Status();
}

void Executor::call_off(Timer& timer) noexcept {
  assert(is_this_thread());
  if (!timer.at_) return;
  timers_.erase({*timer.at_, &timer});
  timer.at_.reset();
}

// ------------------------------------------------------------------------------------------------------ the thread

void Executor::run() noexcept {
  thread_owner = this;
  StepList steps;
  while (take_posted(steps)) {
    while (!steps.empty()) steps.pop().run();
    run_due_timers();
    run_ended_searches();
    if (!searches_.reads()) continue;
    const bool may_wait = begin_wait_for_read();
    searches_.go_on(may_wait);
    if (may_wait) end_wait_for_read();
    run_ended_searches();
  }
  thread_owner = nullptr;
}

bool Executor::begin_wait_for_read() noexcept {
  if (!own_.empty()) return false;
  const io::MutexGuard guard(mutex_);
  if (!posted_.empty()) return false;
  waiting_ = Waiting::kForRead;
  return true;
}

void Executor::end_wait_for_read() noexcept {
  const io::MutexGuard guard(mutex_);
  waiting_ = Waiting::kNot;
}

bool Executor::must_wait() const noexcept {
  return posted_.empty() && own_.empty() && !searches_.reads();
}

bool Executor::take_posted(StepList& steps) noexcept {
  const io::MutexGuard guard(mutex_);
  while (must_wait()) {
    if (operations_.load(std::memory_order_acquire) == kStopping) return false;
    if (!timers_.empty() && timers_.begin()->first <= env_.clock.monotonic()) break;
    wait_for_post();
  }
  steps = posted_.take();
  while (!own_.empty()) steps.push(own_.pop());
  return true;
}

void Executor::wait_for_post() noexcept {
  waiting_ = Waiting::kForPost;
  if (timers_.empty()) {
    changed_.wait(mutex_);
  } else {
    (void)changed_.wait_for(mutex_, timers_.begin()->first - env_.clock.monotonic());
  }
  waiting_ = Waiting::kNot;
}

void Executor::run_due_timers() noexcept {
  while (!timers_.empty()) {
    const auto [at, timer] = *timers_.begin();
    if (at > env_.clock.monotonic()) return;
    timers_.erase(timers_.begin());
    timer->at_.reset();
    timer->step_.run();
  }
}

/// Runs the steps of ended searches, including those that end while other searches run.
void Executor::run_ended_searches() noexcept {
  while (Search* const search = searches_.take_ended()) static_cast<SearchStep*>(search)->run();
}

}  // namespace varve::engine
