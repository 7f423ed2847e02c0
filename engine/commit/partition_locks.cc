// Owns: the holder of each hash, and the lines of waiting requests.
// Must never: wake a waiter whose stack may be gone.

#include "engine/commit/partition_locks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>
#include <new>
#include <utility>

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

/// The held hashes, in a table with free places. A hash is at its home, or after it without a free place between. Most
/// commits hold few locks, and the commit of a list of 50,000 blocks holds one for each.
struct alignas(64) PartitionLocks::Shard {
  struct Held {
    std::uint64_t hash = 0;
    Waiter* first = nullptr;  // the waiter that has waited longest
    Waiter* last = nullptr;
    bool is_held = false;

    void push(Waiter& waiter) noexcept {
      waiter.previous = last;
      waiter.next = nullptr;
      (last == nullptr ? first : last->next) = &waiter;
      last = &waiter;
    }
    void remove(Waiter& waiter) noexcept {
      (waiter.previous == nullptr ? first : waiter.previous->next) = waiter.next;
      (waiter.next == nullptr ? last : waiter.next->previous) = waiter.previous;
    }
  };
  static constexpr std::size_t kPlaces = 32;  // always a power of two, and half of them are free

  explicit Shard(io::Scheduler& scheduler) : mutex(scheduler), places(kPlaces) {}

  Held* find(std::uint64_t hash) noexcept VARVE_REQUIRES(mutex) {
    std::size_t at = home_of(hash);
    for (; places[at].is_held; at = after(at)) {
      if (places[at].hash == hash) return &places[at];
    }
    return nullptr;
  }

  /// Adds the hash, which is not held (L1). Errors: kOutOfMemory.
  Status add(std::uint64_t hash) noexcept VARVE_REQUIRES(mutex) {
    if (2 * (count + 1) > places.size() && !resize(2 * places.size())) return Status::out_of_memory();
    put({hash, nullptr, nullptr, true});
    ++count;
    return Status();
  }

  /// Moves later hashes into the place that becomes free, if it is not before their homes.
  void erase(Held* one) noexcept VARVE_REQUIRES(mutex) {
    auto free = static_cast<std::size_t>(one - places.data());
    for (std::size_t at = after(free); places[at].is_held; at = after(at)) {
      const std::size_t from_home = distance(home_of(places[at].hash), at);
      if (from_home < distance(free, at)) continue;
      places[free] = places[at];
      free = at;
    }
    places[free] = Held();
    --count;
    if (count == 0 && places.size() > kPlaces) (void)resize(kPlaces);
  }

  io::Mutex mutex;
  std::size_t count VARVE_GUARDED_BY(mutex) = 0;
  std::vector<Held> places VARVE_GUARDED_BY(mutex);

 private:
  // The low bits of a hash choose its shard.
  std::size_t home_of(std::uint64_t hash) const noexcept VARVE_REQUIRES(mutex) {
    return static_cast<std::size_t>(hash / kShardCount) & (places.size() - 1);
  }
  std::size_t after(std::size_t at) const noexcept VARVE_REQUIRES(mutex) { return (at + 1) & (places.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const noexcept VARVE_REQUIRES(mutex) {
    return (to - from) & (places.size() - 1);
  }
  /// There is a free place.
  void put(const Held& one) noexcept VARVE_REQUIRES(mutex) {
    std::size_t at = home_of(one.hash);
    while (places[at].is_held) at = after(at);
    places[at] = one;
  }
  /// Returns false, and changes nothing, if memory runs out.
  bool resize(std::size_t size) noexcept VARVE_REQUIRES(mutex) {
    std::vector<Held> before;
    try {
      before.resize(size);
    } catch (const std::bad_alloc&) {
      return false;
    }
    before.swap(places);
    for (const Held& one : before) {
      if (one.is_held) put(one);
    }
    return true;
  }
};

PartitionGuard::PartitionGuard(PartitionGuard&& other) noexcept
    : locks_(std::exchange(other.locks_, nullptr)), single_(other.single_), several_(std::move(other.several_)) {
  other.several_.clear();
}

PartitionGuard& PartitionGuard::operator=(PartitionGuard&& other) noexcept {
  if (this == &other) return *this;
  release();
  locks_ = std::exchange(other.locks_, nullptr);
  single_ = other.single_;
  several_ = std::exchange(other.several_, {});
  return *this;
}

void PartitionGuard::release() noexcept {
  if (locks_ == nullptr) return;
  if (several_.empty()) {
    locks_->unlock_one(single_);
  } else {
    for (const std::uint64_t hash : several_) locks_->unlock_one(hash);
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
                                            std::optional<std::chrono::milliseconds> wait_max) {
  const Deadline deadline(clock_, wait_max);
  if (hashes.empty()) return PartitionGuard();
  if (hashes.size() == 1) return lock_single(hashes[0], deadline);

  std::vector<std::uint64_t> ascending;
  try {
    ascending.assign(hashes.begin(), hashes.end());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  if (ascending.size() == 1) return lock_single(ascending[0], deadline);
  return lock_several(std::move(ascending), deadline);
}

Result<PartitionGuard> PartitionLocks::try_lock(std::uint64_t hash) noexcept {
  Shard& shard = shard_of(hash);
  {
    const io::MutexGuard guard(shard.mutex);
    if (shard.find(hash) != nullptr) return PartitionGuard();
    if (Status added = shard.add(hash); !added.ok()) return added;
  }
  return guard_of(hash);
}

PartitionGuard PartitionLocks::guard_of(std::uint64_t hash) noexcept {
  PartitionGuard guard;
  guard.locks_ = this;
  guard.single_ = hash;
  return guard;
}

Result<PartitionGuard> PartitionLocks::lock_single(std::uint64_t hash, const Deadline& deadline) noexcept {
  if (Status locked = lock_one(hash, deadline); !locked.ok()) return locked;
  return guard_of(hash);
}

Result<PartitionGuard> PartitionLocks::lock_several(std::vector<std::uint64_t> hashes,
                                                    const Deadline& deadline) noexcept {
  for (std::size_t taken = 0; taken < hashes.size(); ++taken) {
    if (Status locked = lock_one(hashes[taken], deadline); !locked.ok()) {
      for (std::size_t i = 0; i < taken; ++i) unlock_one(hashes[i]);
      return locked;
    }
  }
  PartitionGuard guard;
  guard.locks_ = this;
  guard.several_ = std::move(hashes);
  return guard;
}

Status PartitionLocks::lock_one(std::uint64_t hash, const Deadline& deadline) noexcept {
  Shard& shard = shard_of(hash);
  {
    const io::MutexGuard guard(shard.mutex);
    if (shard.find(hash) == nullptr) return shard.add(hash);
  }
  io::probe("a partition was waited for");
  return deadline.is_set() ? wait_in_line_until(hash, deadline) : wait_in_line(hash);
}

Status PartitionLocks::wait_in_line(std::uint64_t hash) noexcept {
  Shard& shard = shard_of(hash);
  io::Event handed_over(scheduler_);
  Waiter waiter;
  waiter.event = &handed_over;
  {
    const io::MutexGuard guard(shard.mutex);
    Shard::Held* const held = shard.find(hash);
    if (held == nullptr) return shard.add(hash);
    held->push(waiter);
    waits_.fetch_add(1, std::memory_order_relaxed);
  }
  handed_over.wait();
  return Status();
}

Status PartitionLocks::wait_in_line_until(std::uint64_t hash, const Deadline& deadline) noexcept {
  Shard& shard = shard_of(hash);
  io::Condition handed_over(scheduler_);
  Waiter waiter;
  waiter.condition = &handed_over;

  const io::MutexGuard guard(shard.mutex);
  Shard::Held* const held = shard.find(hash);
  if (held == nullptr) return shard.add(hash);
  std::chrono::nanoseconds left = deadline.left();
  if (left.count() <= 0) return deadline.passed();
  held->push(waiter);
  waits_.fetch_add(1, std::memory_order_relaxed);
  while (!waiter.is_holder) {
    if (left.count() <= 0) {
      shard.find(hash)->remove(waiter);  // The entry may have moved, but it exists: the lock is held.
      return deadline.passed();
    }
    handed_over.wait_for(shard.mutex, left);
    left = deadline.left();
  }
  return Status();
}

/// Returns true if the lock is held now, false if the waiter is in line.
Result<bool> PartitionLocks::take_or_line_up(std::uint64_t hash, Waiter& waiter) noexcept {
  Shard& shard = shard_of(hash);
  const io::MutexGuard guard(shard.mutex);
  Shard::Held* const held = shard.find(hash);
  if (held == nullptr) {
    if (Status added = shard.add(hash); !added.ok()) return added;
    return true;
  }
  waiter.is_holder = false;
  held->push(waiter);
  waits_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

/// Returns false if the waiter is the holder already and has been notified.
bool PartitionLocks::leave_line(std::uint64_t hash, Waiter& waiter) noexcept {
  Shard& shard = shard_of(hash);
  const io::MutexGuard guard(shard.mutex);
  if (waiter.is_holder) return false;
  shard.find(hash)->remove(waiter);
  return true;
}

void PartitionLocks::unlock_one(std::uint64_t hash) noexcept {
  Shard& shard = shard_of(hash);
  io::Event* handed_over = nullptr;
  {
    const io::MutexGuard guard(shard.mutex);
    Shard::Held* const held = shard.find(hash);
    assert(held != nullptr);  // L1
    Waiter* const next = held->first;
    if (next == nullptr) {
      shard.erase(held);
    } else {
      held->remove(*next);  // L2: the hash stays held, so no new request can take it in between.
      handed_over = next->event;
      next->is_holder = true;
      // Under the mutex: otherwise the waiter could be gone already.
      if (next->condition != nullptr) next->condition->notify_one();
      if (next->step != nullptr) next->taker->post(*next->step);
    }
  }
  if (handed_over != nullptr) handed_over->set();  // The waiter waits for this event, so it still lives.
}

bool PartitionLocks::has_line(std::uint64_t hash) noexcept {
  Shard& shard = shard_of(hash);
  const io::MutexGuard guard(shard.mutex);
  const Shard::Held* const held = shard.find(hash);
  return held != nullptr && held->first != nullptr;
}

// ------------------------------------------------------------------------------------------- without a thread

Status LockRequest::ask(std::span<const std::uint64_t> hashes) {
  assert(hashes_.empty());
  try {
    hashes_.assign(hashes.begin(), hashes.end());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
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
  } else {
    guard.several_ = std::move(hashes_);
  }
  hashes_.clear();
  held_ = 0;
  return guard;
}

void LockRequest::give_up() noexcept {
  assert(!waits_);
  while (held_ > 0) locks_.unlock_one(hashes_[--held_]);
  hashes_.clear();
}

}  // namespace varve::engine
