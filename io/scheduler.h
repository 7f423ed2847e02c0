// Owns: threads, mutexes, condition variables and events: the only interface to them for all layers above.
// Must never: be bypassed. A std::thread or std::mutex elsewhere would run outside the seeded scheduler, and a run
// could not be replayed from its seed. A lint refuses them.
//
// The interface has two schedulers. The real one costs nothing: a mutex is a std::mutex after one predicted branch. The
// seeded one (seeded_scheduler.h) runs one thread at a time and picks the next thread at every call of this interface.
// branch. The seeded one (seeded_scheduler.h) lets one thread run at a time and picks the next at every call here.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "io/thread_annotations.h"
#include "varve/result.h"

namespace varve::io {

/// The decisions that a simulated scheduler makes in place of the operating system. Only the primitives below call it.
/// The address of a primitive identifies it.
class Simulation {
 public:
  virtual ~Simulation() = default;
  virtual void lock(const void* mutex) noexcept = 0;
  virtual void unlock(const void* mutex) noexcept = 0;
  /// Releases `mutex`, waits for a notification of `condition` or for `timeout` of simulated time, and takes `mutex`
  /// again. Returns false after a timeout.
  virtual bool wait(const void* condition, const void* mutex,
                    std::optional<std::chrono::nanoseconds> timeout) noexcept = 0;
  virtual void notify(const void* condition, bool all) noexcept = 0;
  /// Waits until `*word` is not zero. event_set() announces that it is not zero.
  virtual void event_wait(const std::atomic<std::uint32_t>* word) noexcept = 0;
  virtual void event_set(const std::atomic<std::uint32_t>* word) noexcept = 0;
  /// Lets another thread run.
  virtual void yield() noexcept = 0;
  /// Registers a thread, runs `body` in it, unregisters it. Called on the new thread.
  virtual void run_thread(std::uint64_t ticket, const std::function<void()>& body) noexcept = 0;
  /// Called on the starting thread before the new thread runs. The ticket makes the order of registration
  /// deterministic.
  virtual std::uint64_t announce_thread(std::string_view name) = 0;
  /// Waits for the end of the thread with this ticket.
  virtual void join(std::uint64_t ticket) noexcept = 0;
};

/// A running thread. Its destructor joins.
class Thread {
 public:
  Thread() noexcept = default;
  Thread(Thread&& other) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  /// Waits until the thread's body has returned. Does nothing for an empty or joined thread.
  void join() noexcept;

 private:
  friend class Scheduler;
  Thread(std::thread thread, Simulation* simulation, std::uint64_t ticket) noexcept
      : thread_(std::move(thread)), simulation_(simulation), ticket_(ticket) {}

  std::thread thread_;
  Simulation* simulation_ = nullptr;
  std::uint64_t ticket_ = 0;
};

/// Starts threads, and connects the primitives below with their scheduler. It must outlive everything made with it.
class Scheduler {
 public:
  /// Uses the operating system's scheduler.
  Scheduler() noexcept = default;
  /// Uses a simulated scheduler, which must outlive this object.
  explicit Scheduler(Simulation& simulation) noexcept : simulation_(&simulation) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Runs `body` on a new thread. `name` is at most 15 characters and shows in debuggers.
  /// Errors: kOutOfMemory, kIoError (the system refused a thread); nothing was started.
  Result<Thread> start(std::string_view name, std::function<void()> body);

  /// Lets another thread run under a simulated scheduler. Free under the real one.
  void yield() noexcept {
    if (simulation_ != nullptr) simulation_->yield();
  }

  /// Lets ready threads run first, under the real scheduler too. Their work may save work of this thread.
  void give_way() noexcept;

  Simulation* simulation() const noexcept { return simulation_; }

 private:
  Result<Thread> start_simulated(std::string name, std::function<void()> body);

  Simulation* simulation_ = nullptr;
};

/// A lock for mutual exclusion. Not recursive.
class VARVE_CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(Scheduler& scheduler) noexcept : simulation_(scheduler.simulation()) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept VARVE_ACQUIRE() {
    if (simulation_ == nullptr) [[likely]] {
      mutex_.lock();
    } else {
      simulation_->lock(this);
    }
  }
  void unlock() noexcept VARVE_RELEASE() {
    if (simulation_ == nullptr) [[likely]] {
      mutex_.unlock();
    } else {
      simulation_->unlock(this);
    }
  }

 private:
  friend class Condition;
  std::mutex mutex_;
  Simulation* simulation_;
};

/// Holds a mutex for a scope.
class VARVE_SCOPED_CAPABILITY MutexGuard {
 public:
  explicit MutexGuard(Mutex& mutex) noexcept VARVE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexGuard() VARVE_RELEASE() { mutex_.unlock(); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable. A wait may return without a notification, so callers loop.
class Condition {
 public:
  explicit Condition(Scheduler& scheduler) noexcept : simulation_(scheduler.simulation()) {}
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void wait(Mutex& mutex) noexcept VARVE_REQUIRES(mutex);
  /// Returns false if `timeout` passed without a notification. A timeout of zero or less does not wait.
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds timeout) noexcept VARVE_REQUIRES(mutex);
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  std::condition_variable condition_;
  Simulation* simulation_;
};

/// An event that is set once. Any number of threads may wait for it. Writes before set() are visible after wait(). One
/// wake-up call wakes all waiters. A waiter may destroy the event as soon as its wait() has returned.
class Event {
 public:
  explicit Event(Scheduler& scheduler) noexcept : simulation_(scheduler.simulation()) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool is_set() const noexcept { return word_.load(std::memory_order_acquire) == kSet; }
  void set() noexcept;
  void wait() noexcept;

 private:
  static constexpr std::uint32_t kClear = 0;
  static constexpr std::uint32_t kSet = 1;
  static constexpr std::uint32_t kAwaited = 2;  // clear, and a thread waits
  std::atomic<std::uint32_t> word_{kClear};
  Simulation* simulation_;
};

}  // namespace varve::io
