// Owns: claims and waiters (live_queue.h).
// Must never: call out of the room while it holds a mutex.
#include "api/queue/live_queue.h"

#include <algorithm>
#include <utility>

namespace varve {

std::optional<TimedPlace> LiveQueue::released_from() const noexcept {
  if (!may_have_released_.load(std::memory_order_relaxed)) return std::nullopt;
  const io::MutexGuard guard(mutex_);
  return released_from_;
}

void LiveQueue::raise_released(const std::optional<TimedPlace>& place) noexcept {
  if (!place) return may_have_released_.store(false, std::memory_order_relaxed);
  const io::MutexGuard guard(mutex_);
  const auto order = [](const TimedPlace& of) { return std::pair(of.time, of.sequence); };
  released_from_ = std::max(released_from_, *place, [order](const TimedPlace& left, const TimedPlace& right) {
    return order(left) < order(right);
  });
}

LiveQueue::Claims::~Claims() {
  const io::MutexGuard guard(queue_.mutex_);
  for (const Sequence sequence : own_) queue_.claimed_.erase(sequence);
}

bool LiveQueue::Claims::try_claim(Sequence sequence) {
  own_.reserve(own_.size() + 1);
  const io::MutexGuard guard(queue_.mutex_);
  if (!queue_.claimed_.insert(sequence).second) return false;
  own_.push_back(sequence);
  return true;
}

void LiveQueue::Place::join() {
  const io::MutexGuard guard(queue_.mutex_);
  queue_.places_.push_back(this);
}

void LiveQueue::Place::leave() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  std::erase(queue_.places_, this);
  queue_.wake_locked(1);  // L2, and L3: another waiter is the first one now.
}

void LiveQueue::Place::begin_look() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  is_woken_ = false;
}

LiveQueue::Place::Arming LiveQueue::Place::arm() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  return arm_locked();
}

LiveQueue::Place::Arming LiveQueue::Place::arm_locked() noexcept {
  if (is_woken_ || queue_.has_ended()) return Arming::kWoken;
  is_armed_ = true;
  return queue_.places_.front() == this ? Arming::kFirst : Arming::kLater;
}

bool LiveQueue::Place::disarm() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  return std::exchange(is_armed_, false);
}

LiveQueue::Waiter::Waiter(LiveQueue& queue, std::stop_token stop)
    : Place(queue), stop_(std::move(stop)), changed_(queue.env_.scheduler) {
  join();
}

bool LiveQueue::Waiter::wait(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> until_visible) {
  std::atomic<bool> was_told{false};
  const std::stop_callback when_stopped(stop_, [this, &was_told] {
    {
      const io::MutexGuard guard(queue_.mutex_);
      changed_.notify_one();
    }
    was_told.store(true, std::memory_order_release);
  });
  const bool goes_on = wait_for_change(time_max, until_visible);
  // The end of `when_stopped` waits for a callback that is running, but out of the scheduler's sight.
  while (stop_.stop_requested() && !was_told.load(std::memory_order_acquire)) queue_.env_.scheduler.give_way();
  return goes_on;
}

bool LiveQueue::Waiter::wait_for_change(std::chrono::nanoseconds time_max,
                                        std::optional<std::chrono::nanoseconds> until_visible) {
  const io::MutexGuard guard(queue_.mutex_);
  const Arming arming = arm_locked();
  if (stop_.stop_requested()) return false;
  if (arming == Arming::kWoken) return true;
  const bool looks_early = arming == Arming::kFirst && until_visible && *until_visible < time_max;
  const bool was_told = changed_.wait_for(queue_.mutex_, looks_early ? *until_visible : time_max);
  if (stop_.stop_requested()) return false;
  return was_told || looks_early;
}

void LiveQueue::wake(std::size_t messages) noexcept {
  const io::MutexGuard guard(mutex_);
  wake_locked(messages);
}

void LiveQueue::wake_locked(std::size_t waiters) noexcept {
  for (Place* const place : places_) {
    if (waiters == 0) return;
    if (place->is_woken_) continue;
    --waiters;
    place->is_woken_ = true;
    if (std::exchange(place->is_armed_, false)) place->notify();
  }
}

void LiveQueue::end_waits() noexcept {
  const io::MutexGuard guard(mutex_);
  has_ended_.store(true, std::memory_order_release);
  wake_locked(SIZE_MAX);
}

std::shared_ptr<LiveQueue> QueueBoard::find(format::TableId id) const {
  const io::MutexGuard guard(mutex_);
  const auto found = queues_.find(id);
  return found == queues_.end() ? nullptr : found->second;
}

std::shared_ptr<LiveQueue> QueueBoard::add(format::TableId id, const QueueTraits& traits, std::uint64_t secret) {
  auto made = std::make_shared<LiveQueue>(env_, id, traits, MessageIdentity(secret), opened_);
  const io::MutexGuard guard(mutex_);
  std::shared_ptr<LiveQueue> state = queues_.try_emplace(id, std::move(made)).first->second;
  if (has_ended_) state->end_waits();
  if (queues_.size() > sweep_at_) let_some_go();
  return state;
}

void QueueBoard::wake_all_at(format::TableId id) const noexcept {
  const io::MutexGuard guard(mutex_);
  if (const auto found = queues_.find(id); found != queues_.end()) found->second->wake_all();
}

void QueueBoard::wake_all_of(std::uint32_t account) const noexcept {
  const io::MutexGuard guard(mutex_);
  for (auto at = queues_.lower_bound(format::make_table_id(account, 0)); at != queues_.end(); ++at) {
    if (format::account_of(at->first) != account) return;
    at->second->wake_all();
  }
}

void QueueBoard::end_waits() noexcept {
  const io::MutexGuard guard(mutex_);
  has_ended_ = true;
  for (const auto& [id, queue] : queues_) queue->end_waits();
}

/// Claims and waiters hold their queue. So a queue without a holder has neither.
void QueueBoard::let_some_go() {
  std::erase_if(queues_, [](const auto& entry) { return entry.second.use_count() == 1; });
  sweep_at_ = std::max(2 * queues_.size(), kUnusedMax);
}

}  // namespace varve
