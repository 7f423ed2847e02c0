// Owns: how a coroutine's wait in a row begins and ends (row_wait.h).
// Must never: lose a wake-up. If one is on its way, it decides how the wait ends.
#include "api/async/row_wait.h"

#include <utility>

#include "io/env.h"

namespace varve {

RowWait::RowWait(AsyncCall& call, WaitingRow& row, std::stop_token stop)
    : Place(row),
      executor_(call.async().executor()),
      workers_(call.async().workers()),
      clock_(call.core().backend().env().clock),
      stop_(std::move(stop)),
      stop_signal_(executor_, on_stop_) {
  join();
}

void RowWait::notify() noexcept {
  if (look_ == nullptr) return end_wake_up();
  workers_.post(*look_);
}

bool RowWait::begin(std::coroutine_handle<> coroutine, std::chrono::nanoseconds deadline,
                    std::optional<std::chrono::nanoseconds> look_in, Look* look) noexcept {
  coroutine_ = coroutine;
  look_ = look;
  has_ended_ = false;
  const Arming arming = arm();
  if (arming == Arming::kWoken) {
    outcome_ = !stop_.stop_requested();
    return false;
  }
  const std::chrono::nanoseconds now = clock_.monotonic();
  looks_early_ = arming == Arming::kFirst && look_in && *look_in < deadline - now;
  if (Status set = executor_.set(timer_, looks_early_ ? now + *look_in : deadline); !set.ok()) {
    if (disarm()) {
      outcome_ = set;
      return false;
    }
    // The wake-up is on its way, so no timer is needed.
  }
  stop_signal_.begin(stop_);
  return true;
}

void RowWait::end_for(Why why) noexcept {
  if (has_ended_) return resume();
  if (why != Why::kWakeUp && !disarm()) return;
  has_ended_ = true;
  outcome_ = why == Why::kWakeUp ? !stop_.stop_requested() : why == Why::kTime && looks_early_;
  executor_.call_off(timer_);
  resume();
}

void RowWait::resume() noexcept {
  if (stop_signal_.end()) coroutine_.resume();
}

}  // namespace varve
