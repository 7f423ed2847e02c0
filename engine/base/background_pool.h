// Owns: the threads that flush and merge for all stores that share them, and the order of that work.
// Must never: know what the work is, let merges take the last thread from flushes, or allocate to queue work.
//
// Each store takes seats: one for its flushes, one for its merges, one for spare work. A seat that has work waits in a
// queue. A free thread takes the first seat and calls its source once: flushes first, and spare work last. So stores take
// turns, and a store with much work may have several threads at once. The threads number one more than the merges that
// may run at once. Spare work counts as a merge.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class PoolThreads;

/// The queues of the work. The object lives as long as its last seat; its threads end with PoolThreads. Thread-safe.
class BackgroundPool {
 public:
  enum class Kind : std::uint8_t { kFlush, kMerge, kSpare };
  /// The time until a source is called without a wake(). Zero: as soon as a thread is free. Nothing: an earlier pause
  /// stays.
  using Pause = std::optional<std::chrono::nanoseconds>;

  /// One kind of work of one store.
  class Source {
   public:
    virtual ~Source() = default;
    /// Does one piece of work. Several calls of merges may run at once, but one call of the other kinds.
    /// `is_due` says that the pause is over that an earlier call returned.
    virtual Pause work(bool is_due) noexcept = 0;
  };

  /// The place of one source in the pool. It begins asleep. `pool` and `source` outlive it.
  class Seat {
   public:
    Seat(BackgroundPool& pool, Source& source, Kind kind) noexcept;
    ~Seat() { leave(); }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    /// Lets a free thread call the source once more.
    void wake() noexcept;
    /// Waits until no thread is in the source. No thread calls it afterwards. Must not be called from the source.
    void leave() noexcept;

   private:
    friend class BackgroundPool;
    BackgroundPool& pool_;
    Source& source_;
    const Kind kind_;
    // Guarded by the pool's mutex:
    Seat* next_in_queue_ = nullptr;
    Seat* next_ = nullptr;  // of all seats
    Seat* previous_ = nullptr;
    std::optional<std::chrono::nanoseconds> due_;  // on the time line of now()
    std::size_t threads_inside_ = 0;
    bool is_queued_ = false;
    bool is_due_ = false;            // queued because its pause is over
    bool was_woken_inside_ = false;  // must be called again, but not beside the present call
    bool has_left_ = false;
  };

  /// Whether threads that rest help with the work of others. On few processors, they would take the time of writers.
  enum class Helpers : std::uint8_t { kNone, kThreadsThatRest };

  /// The objects in `env` outlive the pool.
  BackgroundPool(const io::Env& env, std::size_t merges_max, Helpers helpers = Helpers::kThreadsThatRest) noexcept;
  BackgroundPool(const BackgroundPool&) = delete;
  BackgroundPool& operator=(const BackgroundPool&) = delete;

  /// Returns how many threads rest that could merge, and help. They may begin other work at any moment.
  std::size_t free_threads() const noexcept;
  bool has_free_thread() const noexcept { return free_threads() > 0; }

  /// Calls `part` with each number below `count`, on this thread and on every thread that is free for merges. Returns
  /// when all calls have returned. `part` must not throw.
  void share(std::size_t count, const std::function<void(std::size_t)>& part) noexcept;

 private:
  struct Queue {
    Seat* first = nullptr;
    Seat* last = nullptr;
  };

  friend class PoolThreads;

  void run() noexcept;
  void stop() noexcept;
  Seat* take() noexcept VARVE_REQUIRES(mutex_);
  void put_back(Seat& seat, Pause pause) noexcept VARVE_REQUIRES(mutex_);
  void enqueue(Seat& seat) noexcept VARVE_REQUIRES(mutex_);
  void dequeue(Seat& seat) noexcept VARVE_REQUIRES(mutex_);
  /// Returns the monotonic clock's time. A wait that timed out has passed, even by a clock that does not move.
  std::chrono::nanoseconds now() const noexcept VARVE_REQUIRES(mutex_);
  void wait() noexcept VARVE_REQUIRES(mutex_);
  /// Queues the seats whose time has come. Returns the time until the next one's.
  Pause enqueue_due() noexcept VARVE_REQUIRES(mutex_);
  Queue& queue_of(Kind kind) noexcept VARVE_REQUIRES(mutex_) { return queues_[static_cast<std::size_t>(kind)]; }

  const io::Env env_;
  const std::size_t merges_max_;
  const Helpers helpers_;
  mutable io::Mutex mutex_;  // a leaf: no other lock is taken under it
  io::Condition changed_;
  io::Condition left_;
  Seat* seats_ VARVE_GUARDED_BY(mutex_) = nullptr;
  std::array<Queue, 3> queues_ VARVE_GUARDED_BY(mutex_);          // by kind
  std::chrono::nanoseconds reached_ VARVE_GUARDED_BY(mutex_){0};  // the end of the last wait that timed out
  std::size_t merging_ VARVE_GUARDED_BY(mutex_) = 0;
  std::size_t resting_ VARVE_GUARDED_BY(mutex_) = 0;  // threads that wait for work
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
};

/// The threads of a pool, from start to destruction.
class PoolThreads {
 public:
  /// `merges_max` is at least 1. The objects in `env` outlive the threads. Errors: kOutOfMemory, kIoError.
  static Result<std::shared_ptr<PoolThreads>> start(
      const io::Env& env, std::size_t merges_max,
      BackgroundPool::Helpers helpers = BackgroundPool::Helpers::kThreadsThatRest);
  /// Starts as many threads as suit this machine. A simulation has the same number on every machine.
  static Result<std::shared_ptr<PoolThreads>> start(const io::Env& env);
  /// Ends the threads. All seats have left.
  ~PoolThreads();
  PoolThreads(const PoolThreads&) = delete;
  PoolThreads& operator=(const PoolThreads&) = delete;

  const std::shared_ptr<BackgroundPool>& pool() const noexcept { return pool_; }

 private:
  explicit PoolThreads(std::shared_ptr<BackgroundPool> pool) noexcept : pool_(std::move(pool)) {}

  const std::shared_ptr<BackgroundPool> pool_;
  std::vector<io::Thread> threads_;
};

/// The pool of all open stores of one Resources object. Its threads run from the first store's open to the last one's
/// close. Thread-safe.
class SharedPool {
 public:
  explicit SharedPool(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}

  /// Returns the threads for stores of this environment. Errors: those of PoolThreads::start(). Throws std::bad_alloc.
  Result<std::shared_ptr<PoolThreads>> threads_for(const io::Env& env);

 private:
  std::shared_ptr<PoolThreads> running(const io::Scheduler& scheduler) const;

  mutable io::Mutex mutex_;
  /// By scheduler: a simulated machine has threads of its own.
  std::map<const io::Scheduler*, std::weak_ptr<PoolThreads>> running_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
