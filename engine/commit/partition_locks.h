// Owns: one writer a partition.
// Must never: run a user's code, pace or sync under a lock; let a waiter starve; take two locks in a falling order.
//
// A lock is known by the 64-bit hash of (table id, PartitionKey); two partitions may share one. A commit takes all its
// locks together, in ascending order of hash, each once, so no two commits can wait for each other in a circle. Locks
// are handed over first come, first served. They belong to no thread: whoever holds the guard may release it, so that
// the leader of a commit group lets go of its members' locks as soon as their entries can be read.
//
// L1  a hash has at most one holder, and it has an entry in its shard exactly while it is held.
// L2  on release the longest waiting request becomes the holder before anybody new can.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/step.h"
#include "io/clock.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

class PartitionLocks;

/// kBusy: what who waited in vain for `wait_max` is told.
Status partition_was_held(std::chrono::milliseconds wait_max) noexcept;

/// Holds the locks of one commit; releases them when destroyed, on any thread.
class PartitionGuard {
 public:
  PartitionGuard() noexcept = default;
  PartitionGuard(PartitionGuard&& other) noexcept;
  PartitionGuard& operator=(PartitionGuard&& other) noexcept;
  ~PartitionGuard() { release(); }
  void release() noexcept;
  bool holds_any() const noexcept { return locks_ != nullptr; }
  /// Whether somebody waits in line for one of them now.
  bool is_awaited() const noexcept;

 private:
  friend class PartitionLocks;
  friend class LockRequest;
  PartitionLocks* locks_ = nullptr;     // null when none is held
  std::uint64_t single_ = 0;            // the usual commit holds one lock and allocates nothing
  std::vector<std::uint64_t> several_;  // ascending; used instead when there are more
};

/// Any thread.
class PartitionLocks {
 public:
  /// Both are referred to. The clock bounds waits.
  PartitionLocks(io::Scheduler& scheduler, io::Clock& clock);
  /// No lock is held.
  ~PartitionLocks();
  PartitionLocks(const PartitionLocks&) = delete;
  PartitionLocks& operator=(const PartitionLocks&) = delete;

  /// Takes every lock named, in any order and with repetitions as given. `wait_max` bounds the wait for all of them
  /// together; zero or less does not wait, and without it there is no bound.
  /// Errors: kBusy (not all could be had in time), kOutOfMemory; no lock is held then.
  Result<PartitionGuard> lock(std::span<const std::uint64_t> hashes,
                              std::optional<std::chrono::milliseconds> wait_max = std::nullopt);

  /// The lock of one partition, if nobody has it: else the guard holds none. Errors: kOutOfMemory.
  Result<PartitionGuard> try_lock(std::uint64_t hash) noexcept;

  /// How often a request had to wait for a lock, since the start. Counted when the wait begins.
  std::uint64_t waits() const noexcept { return waits_.load(std::memory_order_relaxed); }

 private:
  friend class PartitionGuard;
  friend class LockRequest;
  struct Shard;
  /// One request in line. Told by the event when it waits without a bound: then nobody else wakes it, and it need not
  /// take the shard's mutex again; by the condition when it may give up; by the step when no thread waits.
  struct Waiter {
    io::Event* event = nullptr;
    io::Condition* condition = nullptr;
    Step* step = nullptr;
    StepTaker* taker = nullptr;  // of the step
    bool is_holder = false;      // with a condition or a step; guarded by the shard's mutex
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
  };
  class Deadline;
  static constexpr std::size_t kShardCount = 64;

  Shard& shard_of(std::uint64_t hash) noexcept { return *shards_[hash % kShardCount]; }
  PartitionGuard guard_of(std::uint64_t hash) noexcept;
  Result<PartitionGuard> lock_single(std::uint64_t hash, const Deadline& deadline) noexcept;
  Result<PartitionGuard> lock_several(std::vector<std::uint64_t> hashes, const Deadline& deadline) noexcept;
  Status lock_one(std::uint64_t hash, const Deadline& deadline) noexcept;
  Status wait_in_line(std::uint64_t hash) noexcept;
  Status wait_in_line_until(std::uint64_t hash, const Deadline& deadline) noexcept;
  Result<bool> take_or_line_up(std::uint64_t hash, Waiter& waiter) noexcept;
  bool leave_line(std::uint64_t hash, Waiter& waiter) noexcept;
  void unlock_one(std::uint64_t hash) noexcept;
  bool has_line(std::uint64_t hash) noexcept;

  io::Scheduler& scheduler_;
  io::Clock& clock_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::uint64_t> waits_{0};
};

/// The locks of one commit, asked for without a thread that waits: as PartitionLocks::lock(), step by step. Used by one
/// thread at a time, and stays where it is.
class LockRequest {
 public:
  /// `turn` is posted to `taker` each time a lock that was waited for is handed over. All outlive this.
  LockRequest(PartitionLocks& locks, StepTaker& taker, Step& turn) noexcept : locks_(locks) {
    waiter_.step = &turn;
    waiter_.taker = &taker;
  }
  /// Lets go of what it has. It does not wait in a line.
  ~LockRequest() { give_up(); }
  LockRequest(const LockRequest&) = delete;
  LockRequest& operator=(const LockRequest&) = delete;

  /// Which locks, in any order and with repetitions. Once, first. Errors: kOutOfMemory.
  Status ask(std::span<const std::uint64_t> hashes);
  /// Takes what can be had: true when all are held; false when one must be waited for, after whose turn this is called
  /// again. Errors: kOutOfMemory; no lock is held then.
  Result<bool> advance() noexcept;
  /// Leaves the line, after which no lock is held and no turn comes. False when the turn is on its way already.
  bool call_off() noexcept;
  /// After advance() returned true.
  PartitionGuard take() noexcept;

 private:
  void give_up() noexcept;

  PartitionLocks& locks_;
  PartitionLocks::Waiter waiter_;
  std::vector<std::uint64_t> hashes_;  // ascending
  std::size_t held_ = 0;               // of them, from the front
  bool waits_ = false;                 // for the next one
};

}  // namespace varve::engine
