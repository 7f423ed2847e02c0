// Owns: claims, and the queues in use (live_queue.h).
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
  if (own_.empty() && !has_let_go_) return;  // What it met ends with another get.
  if (end()) queue_.wake(1);
}

/// Returns whether another get met a claim.
bool LiveQueue::Claims::end() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  for (const Sequence sequence : own_) queue_.claimed_.erase(sequence);
  if (!are_settled_ && !own_.empty()) queue_.ahead_.forget();
  return std::exchange(queue_.was_claim_met_, false);
}

bool LiveQueue::Claims::try_claim(Sequence sequence) {
  own_.reserve(own_.size() + 1);
  const io::MutexGuard guard(queue_.mutex_);
  if (queue_.claimed_.insert(sequence).second) {
    own_.push_back(sequence);
    queue_.ahead_.pass(sequence);
    return true;
  }
  queue_.was_claim_met_ = true;
  return false;
}

std::optional<TimedPlace> LiveQueue::Claims::claim_ahead(engine::CommitVersion version, Ticks now) {
  own_.reserve(own_.size() + 1);
  const io::MutexGuard guard(queue_.mutex_);
  while (const TimedPlace* const first = queue_.ahead_.first(version, now)) {
    const TimedPlace place = *first;
    const bool is_own = queue_.claimed_.insert(place.sequence).second;
    queue_.ahead_.pop();
    if (!is_own) continue;
    own_.push_back(place.sequence);
    return place;
  }
  return std::nullopt;
}

void LiveQueue::Claims::let_go_of_newest() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  queue_.claimed_.erase(own_.back());
  own_.pop_back();
  has_let_go_ = true;
}

void LiveQueue::Claims::forget_ahead() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  queue_.ahead_.forget();
}

LiveQueue::Making::Making(LiveQueue& queue) noexcept : queue_(queue) {
  const io::MutexGuard guard(queue_.mutex_);
  // Released messages come between others, wherever their places are.
  if (!queue_.may_have_released_.load(std::memory_order_relaxed)) making_ = queue_.ahead_.begin();
}

LiveQueue::Making::~Making() {
  if (making_.wanted == 0) return;
  const io::MutexGuard guard(queue_.mutex_);
  queue_.ahead_.give_up(making_);
}

void LiveQueue::Making::end(std::vector<TimedPlace> places, engine::CommitVersion version) noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  queue_.ahead_.end(making_, std::move(places), version);
  making_ = {};
}

void LiveQueue::note_waiting(Ticks visible) noexcept {
  const io::MutexGuard guard(mutex_);
  ahead_.note(visible);
}

bool LiveQueue::has_claims() const noexcept {
  const io::MutexGuard guard(mutex_);
  return !claimed_.empty();
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
