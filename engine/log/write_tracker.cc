// Owns: the sequence of writes in order of position (write_tracker.h).
// Must never: advance over a write that has not succeeded.
#include "engine/log/write_tracker.h"

#include <cassert>

namespace varve::engine {

WriteTracker::WriteTracker(io::Scheduler& scheduler, LogPosition durable, CommitVersion durable_ceiling) noexcept
    : mutex_(scheduler), ended_(scheduler), durable_(durable), durable_ceiling_(durable_ceiling) {}

void WriteTracker::begin(LogPosition end, CommitVersion ceiling) noexcept {
  const io::MutexGuard guard(mutex_);
  assert(count_ < kWritesMax);
  assert(end > durable_.load(std::memory_order_relaxed));
  if (count_ > 0) assert(end > writes_[(first_ + count_ - 1) % kWritesMax].end);  // W1
  writes_[(first_ + count_) % kWritesMax] = Write{end, ceiling, false, false};
  ++count_;
  ++running_;
  in_flight_.store(count_, std::memory_order_release);
}

void WriteTracker::complete(LogPosition end, bool success) noexcept {
  const io::MutexGuard guard(mutex_);
  bool found = false;
  for (std::size_t i = 0; i < count_ && !found; ++i) {
    Write& write = writes_[(first_ + i) % kWritesMax];
    if (write.end != end) continue;
    assert(!write.completed);
    write.completed = true;
    write.failed = !success;
    found = true;
  }
  assert(found);
  if (!success) failed_ = true;
  advance();
  assert(running_ > 0);
  --running_;
  in_flight_.store(count_, std::memory_order_release);
  ended_.notify_all();
}

void WriteTracker::advance() {
  while (count_ > 0) {
    const Write& front = writes_[first_];
    if (!front.completed || front.failed) return;  // W2: a failed write stays in front for good.
    durable_.store(front.end, std::memory_order_release);
    if (front.ceiling > durable_ceiling_.load(std::memory_order_relaxed)) {
      durable_ceiling_.store(front.ceiling, std::memory_order_release);
    }
    first_ = (first_ + 1) % kWritesMax;
    --count_;
  }
}

std::optional<LogPosition> WriteTracker::failed_above() const noexcept {
  const io::MutexGuard guard(mutex_);
  if (!failed_) return std::nullopt;
  LogPosition begin = durable_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count_; ++i) {
    const Write& write = writes_[(first_ + i) % kWritesMax];
    if (write.failed) return begin;
    begin = write.end;
  }
  return begin;
}

void WriteTracker::wait_until_idle() noexcept {
  const io::MutexGuard guard(mutex_);
  while (running_ > 0) ended_.wait(mutex_);
}

bool WriteTracker::wait_for_end() noexcept {
  const io::MutexGuard guard(mutex_);
  if (running_ == 0) return false;
  const std::size_t seen = running_;
  while (running_ == seen) ended_.wait(mutex_);
  return true;
}

void WriteTracker::move_to(LogPosition position) noexcept {
  const io::MutexGuard guard(mutex_);
  assert(running_ == 0);
  assert(!failed_);
  assert(position >= durable_.load(std::memory_order_relaxed));
  durable_.store(position, std::memory_order_release);
}

}  // namespace varve::engine
