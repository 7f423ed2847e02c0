// Owns: the locks of partitions, which allow one writer for each row, and one for each partition that is needed whole.
// Must never: run a caller's code, pace or sync under a lock; let a waiter starve; take two locks in descending order.
//
// A lock is identified by the 64-bit hash of (table id, PartitionKey); two partitions may share a lock. A commit takes
// all its locks together, in ascending order of hash, each once. So no two commits can wait for each other in a circle.
// Locks are granted in the order of the requests. Locks belong to no thread: any owner of the guard may release it. So
// the leader of a commit group releases its members' locks as soon as their entries can be read.
//
// A commit that reads and writes one row needs the partition not whole. Its request names the row, by the 64-bit hash of
// the row's key. Requests that name different rows hold the partition together, so commits to different rows of a hot
// partition can join one group. Each of them depends on its own row only, so the order of the commits may be any. A
// request without a row waits for the end of all holders, and excludes all later requests.
//
// L1  A hash has one holder that has it whole, or holders of different rows. It has an entry in its shard exactly while it
//     is held.
// L2  Requests become holders in the order of the line, and no new request overtakes the line. On each release, and when a
//     request leaves the line, those at the front that can hold the partition with its holders become holders.
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

/// Returns the error of a request that waited for `wait_max` without getting its lock: kBusy.
Status partition_was_held(std::chrono::milliseconds wait_max) noexcept;

/// Holds the locks of one commit. Its destructor releases them, on any thread.
class PartitionGuard {
 public:
  PartitionGuard() noexcept = default;
  PartitionGuard(PartitionGuard&& other) noexcept;
  PartitionGuard& operator=(PartitionGuard&& other) noexcept;
  ~PartitionGuard() { release(); }
  void release() noexcept;
  bool holds_any() const noexcept { return locks_ != nullptr; }
  /// Returns whether a request is waiting for one of the locks now.
  bool is_awaited() const noexcept;

 private:
  friend class PartitionLocks;
  friend class LockRequest;
  PartitionLocks* locks_ = nullptr;     // null if no lock is held
  std::uint64_t single_ = 0;            // the usual commit holds one lock and allocates nothing
  std::optional<std::uint64_t> row_;    // the row of that lock; none if the guard has the partition whole
  std::vector<std::uint64_t> several_;  // ascending; used instead of single_ for more than one lock
};

/// Thread-safe.
class PartitionLocks {
 public:
  /// `scheduler` and `clock` outlive this object. The clock bounds waits.
  PartitionLocks(io::Scheduler& scheduler, io::Clock& clock);
  /// No lock may be held.
  ~PartitionLocks();
  PartitionLocks(const PartitionLocks&) = delete;
  PartitionLocks& operator=(const PartitionLocks&) = delete;

  /// Takes all the locks; `hashes` may be in any order and have repetitions. `wait_max` bounds the total wait for all
  /// of them. If it is zero or less, the call does not wait; without it, there is no bound. With `row`, the caller needs
  /// only this row of the partition. It counts only if `hashes` names one partition.
  /// Errors: kBusy (not all locks could be taken in time), kOutOfMemory; then no lock is held.
  Result<PartitionGuard> lock(std::span<const std::uint64_t> hashes,
                              std::optional<std::chrono::milliseconds> wait_max = std::nullopt,
                              std::optional<std::uint64_t> row = std::nullopt);

  /// Takes the lock of one partition, or of one row of it, if that needs no wait. Otherwise the guard is empty.
  /// Errors: kOutOfMemory.
  Result<PartitionGuard> try_lock(std::uint64_t hash, std::optional<std::uint64_t> row = std::nullopt) noexcept;

  /// Returns how many requests had to wait for a lock since the start. A wait is counted when it begins.
  std::uint64_t waits() const noexcept { return waits_.load(std::memory_order_relaxed); }

 private:
  friend class PartitionGuard;
  friend class LockRequest;
  struct Shard;
  /// One request in line. A request without a bound waits for the event: nothing else wakes it, and it need not take
  /// the shard's mutex again. A request that may give up waits for the condition. A request without a thread gets its
  /// step posted.
  struct Waiter {
    io::Event* event = nullptr;
    io::Condition* condition = nullptr;
    Step* step = nullptr;
    StepTaker* taker = nullptr;  // of the step
    std::optional<std::uint64_t> row;
    bool is_holder = false;  // with a condition or a step; guarded by the shard's mutex
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
  };
  class Deadline;
  static constexpr std::size_t kShardCount = 64;

  Shard& shard_of(std::uint64_t hash) noexcept { return *shards_[hash % kShardCount]; }
  PartitionGuard guard_of(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept;
  Result<PartitionGuard> lock_single(std::uint64_t hash, std::optional<std::uint64_t> row,
                                     const Deadline& deadline) noexcept;
  Result<PartitionGuard> lock_several(std::vector<std::uint64_t> hashes, const Deadline& deadline) noexcept;
  Status lock_one(std::uint64_t hash, std::optional<std::uint64_t> row, const Deadline& deadline) noexcept;
  Status wait_in_line(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept;
  Status wait_in_line_until(std::uint64_t hash, std::optional<std::uint64_t> row, const Deadline& deadline) noexcept;
  Result<bool> take_or_line_up(std::uint64_t hash, Waiter& waiter) noexcept;
  bool leave_line(std::uint64_t hash, Waiter& waiter) noexcept;
  void unlock_one(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept;
  static void wake(Waiter* first) noexcept;
  bool has_line(std::uint64_t hash) noexcept;

  io::Scheduler& scheduler_;
  io::Clock& clock_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::uint64_t> waits_{0};
};

/// A request for the locks of one commit without a waiting thread: like PartitionLocks::lock(), step by step. One
/// thread at a time uses it, and it must not move.
class LockRequest {
 public:
  /// `turn` is posted to `taker` each time a lock that the request waited for is granted. All three outlive this
  /// object.
  LockRequest(PartitionLocks& locks, StepTaker& taker, Step& turn) noexcept : locks_(locks) {
    waiter_.step = &turn;
    waiter_.taker = &taker;
  }
  /// Releases the locks that it holds. It must not be waiting in a line.
  ~LockRequest() { give_up(); }
  LockRequest(const LockRequest&) = delete;
  LockRequest& operator=(const LockRequest&) = delete;

  /// Sets the hashes and the row, as for PartitionLocks::lock(). Called once, before the other functions.
  /// Errors: kOutOfMemory.
  Status ask(std::span<const std::uint64_t> hashes, std::optional<std::uint64_t> row = std::nullopt);
  /// Takes the locks that are free. Returns true if all are held. Returns false if it must wait for one; the caller
  /// calls advance() again at the posted turn. Errors: kOutOfMemory; then no lock is held.
  Result<bool> advance() noexcept;
  /// Leaves the line. Then no lock is held and no turn is posted. Returns false if the turn is already posted.
  bool call_off() noexcept;
  /// Returns the guard, after advance() returned true.
  PartitionGuard take() noexcept;

 private:
  void give_up() noexcept;

  PartitionLocks& locks_;
  PartitionLocks::Waiter waiter_;
  std::vector<std::uint64_t> hashes_;  // ascending
  std::size_t held_ = 0;               // number of hashes held, from the front
  bool waits_ = false;                 // for the next hash
};

}  // namespace varve::engine
