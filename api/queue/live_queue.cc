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
  if (own_.empty()) return;  // What it met ends with another get.
  if (end()) queue_.wake(1);
}

/// Returns whether another get met a claim.
bool LiveQueue::Claims::end() noexcept {
  const io::MutexGuard guard(queue_.mutex_);
  for (const Sequence sequence : own_) queue_.claimed_.erase(sequence);
  return std::exchange(queue_.was_claim_met_, false);
}

bool LiveQueue::Claims::try_claim(Sequence sequence) {
  own_.reserve(own_.size() + 1);
  const io::MutexGuard guard(queue_.mutex_);
  if (queue_.claimed_.insert(sequence).second) {
    own_.push_back(sequence);
    return true;
  }
  queue_.was_claim_met_ = true;
  return false;
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
