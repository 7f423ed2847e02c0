// Owns: the requests for locks and their waits (partition_locks.h).
// Must never: wake a waiter whose stack may be gone.

#include "engine/commit/partition_locks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>
#include <new>
#include <utility>

#include "engine/commit/lock_shard.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// Longest wait: a year. It avoids an overflow of added times. A longer wait may end early with kBusy.
constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(24 * 365);

}  // namespace

Status partition_was_held(std::chrono::milliseconds wait_max) noexcept {
  std::array<char, 96> text;
  const int length = std::snprintf(text.data(), text.size(),
                                   "another commit held the partition for the whole wait of %lld ms; try again",
                                   static_cast<long long>(wait_max.count()));
  assert(length > 0 && static_cast<std::size_t>(length) < text.size());
  return {Code::kBusy, {text.data(), static_cast<std::size_t>(length)}};
}

/// The time at which a request gives up.
class PartitionLocks::Deadline {
 public:
  Deadline(io::Clock& clock, std::optional<std::chrono::milliseconds> wait_max) noexcept : clock_(clock) {
    if (!wait_max) return;
    wait_max_ = std::clamp(*wait_max, std::chrono::milliseconds(0), kWaitMax);
    at_ = clock.monotonic() + *wait_max_;
  }

  bool is_set() const noexcept { return wait_max_.has_value(); }
  std::chrono::nanoseconds left() const noexcept { return at_ - clock_.monotonic(); }

  Status passed() const noexcept { return partition_was_held(*wait_max_); }

 private:
  io::Clock& clock_;
  std::optional<std::chrono::milliseconds> wait_max_;
  std::chrono::nanoseconds at_{0};
};

PartitionGuard::PartitionGuard(PartitionGuard&& other) noexcept
    : locks_(std::exchange(other.locks_, nullptr)),
      single_(other.single_),
      row_(other.row_),
      several_(std::move(other.several_)) {
  other.several_.clear();
}

PartitionGuard& PartitionGuard::operator=(PartitionGuard&& other) noexcept {
  if (this == &other) return *this;
  release();
  locks_ = std::exchange(other.locks_, nullptr);
  single_ = other.single_;
  row_ = other.row_;
  several_ = std::exchange(other.several_, {});
  return *this;
}

void PartitionGuard::release() noexcept {
  if (locks_ == nullptr) return;
  if (several_.empty()) {
    locks_->unlock_one(single_, row_);
  } else {
    for (const std::uint64_t hash : several_) locks_->unlock_one(hash, std::nullopt);
  }
  several_.clear();
  locks_ = nullptr;
}

bool PartitionGuard::is_awaited() const noexcept {
  if (locks_ == nullptr) return false;
  if (several_.empty()) return locks_->has_line(single_);
  return std::any_of(several_.begin(), several_.end(), [this](std::uint64_t hash) { return locks_->has_line(hash); });
}

PartitionLocks::PartitionLocks(io::Scheduler& scheduler, io::Clock& clock) : scheduler_(scheduler), clock_(clock) {
  shards_.reserve(kShardCount);
  for (std::size_t i = 0; i < kShardCount; ++i) shards_.push_back(std::make_unique<Shard>(scheduler));
}

PartitionLocks::~PartitionLocks() {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const io::MutexGuard guard(shard->mutex);
    assert(shard->count == 0);  // A guard that outlives this object would release in freed memory.
  }
}

Result<PartitionGuard> PartitionLocks::lock(std::span<const std::uint64_t> hashes,
                                            std::optional<std::chrono::milliseconds> wait_max,
                                            std::optional<std::uint64_t> row) {
  const Deadline deadline(clock_, wait_max);
  if (hashes.empty()) return PartitionGuard();
  if (hashes.size() == 1) return lock_single(hashes[0], row, deadline);

  std::vector<std::uint64_t> ascending;
  try {
    ascending.assign(hashes.begin(), hashes.end());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  if (ascending.size() == 1) return lock_single(ascending[0], row, deadline);
  return lock_several(std::move(ascending), deadline);
}

Result<PartitionGuard> PartitionLocks::try_lock(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept {
  Shard& shard = shard_of(hash);
  {
    const io::MutexGuard guard(shard.mutex);
    const Result<bool> taken = shard.take(hash, row);
    if (!taken.ok()) return taken.status();
    if (!*taken) return PartitionGuard();
  }
  return guard_of(hash, row);
}

PartitionGuard PartitionLocks::guard_of(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept {
  PartitionGuard guard;
  guard.locks_ = this;
  guard.single_ = hash;
  guard.row_ = row;
  return guard;
}

Result<PartitionGuard> PartitionLocks::lock_single(std::uint64_t hash, std::optional<std::uint64_t> row,
                                                   const Deadline& deadline) noexcept {
  if (Status locked = lock_one(hash, row, deadline); !locked.ok()) return locked;
  return guard_of(hash, row);
}

Result<PartitionGuard> PartitionLocks::lock_several(std::vector<std::uint64_t> hashes,
                                                    const Deadline& deadline) noexcept {
  for (std::size_t taken = 0; taken < hashes.size(); ++taken) {
    if (Status locked = lock_one(hashes[taken], std::nullopt, deadline); !locked.ok()) {
      for (std::size_t i = 0; i < taken; ++i) unlock_one(hashes[i], std::nullopt);
      return locked;
    }
  }
  PartitionGuard guard;
  guard.locks_ = this;
  guard.several_ = std::move(hashes);
  return guard;
}

Status PartitionLocks::lock_one(std::uint64_t hash, std::optional<std::uint64_t> row,
                                const Deadline& deadline) noexcept {
  Shard& shard = shard_of(hash);
  {
    const io::MutexGuard guard(shard.mutex);
    const Result<bool> taken = shard.take(hash, row);
    if (!taken.ok()) return taken.status();
    if (*taken) return Status();
  }
  io::probe("a partition was waited for");
  return deadline.is_set() ? wait_in_line_until(hash, row, deadline) : wait_in_line(hash, row);
}

Status PartitionLocks::wait_in_line(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept {
  io::Event handed_over(scheduler_);
  Waiter waiter;
  waiter.event = &handed_over;
  waiter.row = row;
  const Result<bool> taken = take_or_line_up(hash, waiter);
  if (!taken.ok()) return taken.status();
  if (!*taken) handed_over.wait();
  return Status();
}

Status PartitionLocks::wait_in_line_until(std::uint64_t hash, std::optional<std::uint64_t> row,
                                          const Deadline& deadline) noexcept {
  Shard& shard = shard_of(hash);
  io::Condition handed_over(scheduler_);
  Waiter waiter;
  waiter.condition = &handed_over;
  waiter.row = row;
  Waiter* woken = nullptr;
  {
    const io::MutexGuard guard(shard.mutex);
    const Result<bool> taken = shard.take(hash, row);
    if (!taken.ok()) return taken.status();
    if (*taken) return Status();
    std::chrono::nanoseconds left = deadline.left();
    if (left.count() <= 0) return deadline.passed();
    if (Status lined_up = shard.line_up(*shard.find(hash), waiter); !lined_up.ok()) return lined_up;
    waits_.fetch_add(1, std::memory_order_relaxed);
    while (!waiter.is_holder && left.count() > 0) {
      handed_over.wait_for(shard.mutex, left);
      left = deadline.left();
    }
    if (waiter.is_holder) return Status();
    woken = shard.leave(*shard.find(hash), waiter);  // The entry may have moved, but it exists: the lock is held.
  }
  wake(woken);
  return deadline.passed();
}

/// Returns true if the lock is held now, false if the waiter is in line.
Result<bool> PartitionLocks::take_or_line_up(std::uint64_t hash, Waiter& waiter) noexcept {
  Shard& shard = shard_of(hash);
  const io::MutexGuard guard(shard.mutex);
  const Result<bool> taken = shard.take(hash, waiter.row);
  if (!taken.ok() || *taken) return taken;
  if (Status lined_up = shard.line_up(*shard.find(hash), waiter); !lined_up.ok()) return lined_up;
  waits_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

/// Returns false if the waiter is a holder already and has been notified.
bool PartitionLocks::leave_line(std::uint64_t hash, Waiter& waiter) noexcept {
  Shard& shard = shard_of(hash);
  Waiter* woken = nullptr;
  {
    const io::MutexGuard guard(shard.mutex);
    if (waiter.is_holder) return false;
    woken = shard.leave(*shard.find(hash), waiter);
  }
  wake(woken);
  return true;
}

void PartitionLocks::unlock_one(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept {
  Shard& shard = shard_of(hash);
  Waiter* woken = nullptr;
  {
    const io::MutexGuard guard(shard.mutex);
    woken = shard.release(hash, row);
  }
  wake(woken);
}

/// Wakes the listed waiters. Each waits for its event, so it still lives, and may be gone after the event.
void PartitionLocks::wake(Waiter* first) noexcept {
  while (first != nullptr) {
    Waiter* const next = first->next;
    first->event->set();
    first = next;
  }
}

bool PartitionLocks::has_line(std::uint64_t hash) noexcept {
  Shard& shard = shard_of(hash);
  const io::MutexGuard guard(shard.mutex);
  const Shard::Held* const held = shard.find(hash);
  return held != nullptr && held->first != nullptr;
}

// ------------------------------------------------------------------------------------------- without a thread

Status LockRequest::ask(std::span<const std::uint64_t> hashes, std::optional<std::uint64_t> row) {
  assert(hashes_.empty());
  try {
    hashes_.assign(hashes.begin(), hashes.end());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  if (hashes_.size() == 1) waiter_.row = row;
  return Status();
}

Result<bool> LockRequest::advance() noexcept {
  if (waits_) {
    waits_ = false;
    ++held_;
  }
  while (held_ < hashes_.size()) {
    const Result<bool> taken = locks_.take_or_line_up(hashes_[held_], waiter_);
    if (!taken.ok()) {
      give_up();
      return taken;
    }
    if (!*taken) {
      waits_ = true;
      return false;
    }
    ++held_;
  }
  return true;
}

bool LockRequest::call_off() noexcept {
  assert(waits_);
  if (!locks_.leave_line(hashes_[held_], waiter_)) return false;
  waits_ = false;
  give_up();
  return true;
}

PartitionGuard LockRequest::take() noexcept {
  assert(!waits_ && held_ == hashes_.size());
  PartitionGuard guard;
  if (hashes_.empty()) return guard;
  guard.locks_ = &locks_;
  if (hashes_.size() == 1) {
    guard.single_ = hashes_.front();
    guard.row_ = waiter_.row;
  } else {
    guard.several_ = std::move(hashes_);
  }
  hashes_.clear();
  held_ = 0;
  return guard;
}

void LockRequest::give_up() noexcept {
  assert(!waits_);
  while (held_ > 0) locks_.unlock_one(hashes_[--held_], waiter_.row);
  hashes_.clear();
}

}  // namespace varve::engine
