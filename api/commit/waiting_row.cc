// Owns: how waits begin and end (waiting_row.h).
// Must never: call out of the room while it holds the mutex, except for the notice of a wake-up.
#include "api/commit/waiting_row.h"

#include <utility>

namespace varve {

void WaitingRow::Place::join() {
  const io::MutexGuard guard(row_.mutex_);
  row_.places_.push_back(this);
}

void WaitingRow::Place::leave() noexcept {
  const io::MutexGuard guard(row_.mutex_);
  std::erase(row_.places_, this);
  if (row_.wakes_ == Wakes::kOne) row_.wake_locked(1);  // W2, and another waiter is the first one now.
}

void WaitingRow::Place::begin_look() noexcept {
  const io::MutexGuard guard(row_.mutex_);
  is_woken_ = false;
}

WaitingRow::Place::Arming WaitingRow::Place::arm() noexcept {
  const io::MutexGuard guard(row_.mutex_);
  return arm_locked();
}

WaitingRow::Place::Arming WaitingRow::Place::arm_locked() noexcept {
  if (is_woken_ || row_.has_ended()) return Arming::kWoken;
  is_armed_ = true;
  return row_.places_.front() == this ? Arming::kFirst : Arming::kLater;
}

bool WaitingRow::Place::disarm() noexcept {
  const io::MutexGuard guard(row_.mutex_);
  return std::exchange(is_armed_, false);
}

WaitingRow::Waiter::Waiter(WaitingRow& row, std::stop_token stop)
    : Place(row), stop_(std::move(stop)), changed_(row.scheduler_) {
  join();
}

bool WaitingRow::Waiter::wait(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> look_in) {
  std::atomic<bool> was_told{false};
  const std::stop_callback when_stopped(stop_, [this, &was_told] {
    {
      const io::MutexGuard guard(row_.mutex_);
      changed_.notify_one();
    }
    was_told.store(true, std::memory_order_release);
  });
  const bool goes_on = wait_for_change(time_max, look_in);
  // The end of `when_stopped` waits for a callback that is running, but out of the scheduler's sight.
  while (stop_.stop_requested() && !was_told.load(std::memory_order_acquire)) row_.scheduler_.give_way();
  return goes_on;
}

bool WaitingRow::Waiter::wait_for_change(std::chrono::nanoseconds time_max,
                                         std::optional<std::chrono::nanoseconds> look_in) {
  const io::MutexGuard guard(row_.mutex_);
  const Arming arming = arm_locked();
  if (stop_.stop_requested()) return false;
  if (arming == Arming::kWoken) return true;
  const bool looks_early = arming == Arming::kFirst && look_in && *look_in < time_max;
  const bool was_told = changed_.wait_for(row_.mutex_, looks_early ? *look_in : time_max);
  if (stop_.stop_requested()) return false;
  return was_told || looks_early;
}

void WaitingRow::wake(std::size_t waiters) noexcept {
  const io::MutexGuard guard(mutex_);
  wake_locked(waiters);
}

void WaitingRow::wake_locked(std::size_t waiters) noexcept {
  for (Place* const place : places_) {
    if (waiters == 0) return;
    if (place->is_woken_) continue;
    --waiters;
    place->is_woken_ = true;
    if (std::exchange(place->is_armed_, false)) place->notify();
  }
}

void WaitingRow::end_waits() noexcept {
  const io::MutexGuard guard(mutex_);
  has_ended_.store(true, std::memory_order_release);
  wake_locked(SIZE_MAX);
}

}  // namespace varve
