// Owns: who gets room next in the account of bytes on their way (bytes_in_flight.h).
// Must never: wait for an answer of the cluster.
#include "io/rados/bytes_in_flight.h"

#include <algorithm>
#include <cassert>

namespace varve::io {

void BytesInFlight::Share::watch(SentChange& sent) noexcept {
  assert(account_ != nullptr);
  const MutexGuard guard(account_->mutex_);
  sent_ = &sent;
}

void BytesInFlight::Share::unwatch() noexcept {
  if (account_ == nullptr) return;
  const MutexGuard guard(account_->mutex_);
  sent_ = nullptr;
}

void BytesInFlight::Share::give_back() noexcept {
  if (account_ == nullptr) return;
  BytesInFlight& account = *account_;
  const MutexGuard guard(account.mutex_);
  if (bytes_ > 0) account.leave(*this);
  account_ = nullptr;
}

BytesInFlight::BytesInFlight(Scheduler& scheduler, Clock& clock, std::uint64_t bytes_max) noexcept
    : clock_(clock), bytes_max_(bytes_max), mutex_(scheduler), changed_(scheduler) {}

bool BytesInFlight::try_take(Share& share, std::uint64_t bytes) noexcept {
  const MutexGuard guard(mutex_);
  const std::uint64_t counted = std::min(bytes, bytes_max_);
  if (first_ != nullptr || !make_room(counted)) return false;
  enter(share, counted);
  return true;
}

bool BytesInFlight::take(Share& share, std::uint64_t bytes, std::chrono::milliseconds patience) noexcept {
  const MutexGuard guard(mutex_);
  const std::uint64_t counted = std::min(bytes, bytes_max_);
  const std::chrono::nanoseconds begin = clock_.monotonic();
  Waiter own;
  join(own);
  while (first_ != &own || !make_room(counted)) {
    const std::chrono::nanoseconds left = patience - (clock_.monotonic() - begin);
    if (patience.count() > 0 && left.count() <= 0) {
      part(own);
      return false;
    }
    const bool is_first = first_ == &own;
    if (patience.count() == 0 && !is_first) {
      changed_.wait(mutex_);
    } else if (patience.count() == 0) {
      (void)changed_.wait_for(mutex_, kLookEvery);
    } else {
      (void)changed_.wait_for(mutex_, is_first ? std::min<std::chrono::nanoseconds>(left, kLookEvery) : left);
    }
  }
  enter(share, counted);
  part(own);
  return true;
}

std::uint64_t BytesInFlight::bytes() noexcept {
  const MutexGuard guard(mutex_);
  return bytes_;
}

bool BytesInFlight::has_room(std::uint64_t bytes) const noexcept {
  return bytes <= bytes_max_ - bytes_;
}

bool BytesInFlight::make_room(std::uint64_t bytes) noexcept {
  for (Share* share = oldest_; share != nullptr && !has_room(bytes);) {
    Share* const after = share->after_;
    if (share->sent_ != nullptr && share->sent_->is_answered()) leave(*share);
    share = after;
  }
  return has_room(bytes);
}

void BytesInFlight::enter(Share& share, std::uint64_t bytes) noexcept {
  assert(share.account_ == nullptr && bytes > 0);
  share.account_ = this;
  share.bytes_ = bytes;
  share.sent_ = nullptr;
  share.before_ = newest_;
  share.after_ = nullptr;
  (newest_ != nullptr ? newest_->after_ : oldest_) = &share;
  newest_ = &share;
  bytes_ += bytes;
}

void BytesInFlight::leave(Share& share) noexcept {
  (share.before_ != nullptr ? share.before_->after_ : oldest_) = share.after_;
  (share.after_ != nullptr ? share.after_->before_ : newest_) = share.before_;
  bytes_ -= share.bytes_;
  share.bytes_ = 0;
  share.sent_ = nullptr;
  if (first_ != nullptr) changed_.notify_all();
}

void BytesInFlight::join(Waiter& waiter) noexcept {
  (last_ != nullptr ? last_->after : first_) = &waiter;
  last_ = &waiter;
}

void BytesInFlight::part(Waiter& waiter) noexcept {
  Waiter* before = nullptr;
  for (Waiter* other = first_; other != &waiter; other = other->after) before = other;
  (before != nullptr ? before->after : first_) = waiter.after;
  if (last_ == &waiter) last_ = before;
  if (first_ != nullptr) changed_.notify_all();  // Another one may be the first now.
}

}  // namespace varve::io
