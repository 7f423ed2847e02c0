// Owns: the start and the end of asynchronous operations, and the end of their waits for locks (async_call.h).
// Must never: resume a coroutine while a step or a callback of its wait may still run.
#include "api/async/async_call.h"

#include <algorithm>

#include "api/model/guarded.h"
#include "io/env.h"

namespace varve {
namespace {

/// Limits `wait_max` to the range that PartitionLocks::lock() accepts.
std::optional<std::chrono::milliseconds> bounded(std::optional<std::chrono::milliseconds> wait_max) noexcept {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  if (wait_max) wait_max = std::clamp(*wait_max, std::chrono::milliseconds(0), kLongest);
  return wait_max;
}

}  // namespace

AsyncCall::~AsyncCall() {
  if (async_ != nullptr && core_->is_usable()) async_->executor().end_operation();
}

Status AsyncCall::check_stop() const noexcept {
  if (!stop_.stop_requested()) return Status();
  return Status(Code::kCancelled, "the caller's stop token cancelled the operation before it changed anything");
}

bool AsyncCall::Begin::await_ready() noexcept {
  const Result<engine::AsyncEngine*> async = guarded([&] { return call_.core_->async(); });
  if (!async.ok()) {
    status_ = async.status();
  } else if ((*async)->executor().begin_operation()) {
    call_.async_ = *async;
  } else {
    status_ = Status(Code::kClosed, "the store was closed; open it again");
  }
  return !status_.ok() || !call_.async_->is_on_its_thread();
}

void AsyncCall::Begin::await_suspend(std::coroutine_handle<> coroutine) noexcept {
  step_.set(coroutine);
  call_.async_->executor().post(step_);
}

void PointReads::await_suspend(std::coroutine_handle<> coroutine) noexcept {
  step_.set(coroutine);
  if (executor_.is_this_thread()) {
    read_.begin(step_);
  } else {
    executor_.post(begin_);
  }
}

/// After commit_.begin() has succeeded, another thread may resume the coroutine and destroy this object.
bool Commit::await_suspend(std::coroutine_handle<> coroutine) {
  step_.set(coroutine);
  Status begun = commit_.begin();
  if (begun.ok()) return true;
  refused_ = std::move(begun);
  return false;
}

void StopSignal::begin(const std::stop_token& stop) {
  has_run_ = false;
  was_stopped_.store(false, std::memory_order_relaxed);
  callback_.emplace(stop, Post{*this});
}

void StopSignal::Post::operator()() const noexcept {
  signal.is_stopping_.store(true, std::memory_order_relaxed);
  signal.was_stopped_.store(true, std::memory_order_relaxed);
  signal.executor_.post(signal);
  signal.is_stopping_.store(false, std::memory_order_release);
}

void StopSignal::run() noexcept {
  has_run_ = true;
  step_.run();
}

bool StopSignal::end() noexcept {
  if (is_stopping_.load(std::memory_order_acquire)) {
    if (has_run_) executor_.post(*this);
    return false;
  }
  callback_.reset();  // From here on, nothing posts a step.
  return !was_stopped_.load(std::memory_order_relaxed) || has_run_;
}

LockWait::LockWait(AsyncCall& call, std::optional<std::chrono::milliseconds> wait_max) noexcept
    : executor_(call.async().executor()),
      clock_(call.core().backend().env().clock),
      stop_(call.stop()),
      wait_max_(bounded(wait_max)),
      stop_signal_(executor_, on_stop_),
      request_(call.async().lock_request(on_turn_)) {
  if (wait_max_) deadline_ = clock_.monotonic() + *wait_max_;
}

bool LockWait::begin(std::coroutine_handle<> coroutine) noexcept {
  coroutine_ = coroutine;
  has_ended_ = false;
  if (wait_max_) {
    outcome_ = executor_.set(timer_, deadline_);
    if (!outcome_.ok() && request_.call_off()) return false;
    // If call_off() fails, the turn is already on its way, and no timer is needed.
  }
  stop_signal_.begin(stop_);
  return true;
}

void LockWait::tell(Why why) noexcept {
  if (has_ended_) {
    resume();
  } else if (why == Why::kTurn) {
    end(Status());
  } else if (request_.call_off()) {  // Otherwise the turn is on its way and decides.
    end(why == Why::kTime
            ? engine::partition_was_held(*wait_max_)
            : Status(Code::kCancelled,
                     "the caller's stop token cancelled the operation while it waited for its partition"));
  }
}

void LockWait::end(Status outcome) noexcept {
  outcome_ = std::move(outcome);
  has_ended_ = true;
  executor_.call_off(timer_);
  resume();
}

/// Resumes the coroutine when no step or callback of the wait can run any more.
void LockWait::resume() noexcept {
  if (stop_signal_.end()) coroutine_.resume();
}

}  // namespace varve
