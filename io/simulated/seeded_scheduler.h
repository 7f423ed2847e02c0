// Owns: the simulation for scheduler.h: real threads, one at a time, the next one chosen by a seed.
// Must never: let anything except the seed and the program decide, or let two of its threads run at once.
//
// Invariants
//   S1  at most one registered thread runs: the one whose id is running_. All others wait for their turn.
//   S2  a thread that is chosen is runnable; a thread that runs is in state kRunnable.
//   S3  no decision depends on an address, on the order of a hash, or on real time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/scheduler.h"
#include "io/simulated/manual_clock.h"

namespace varve::io {

/// The rule for choosing the next thread. The seed chooses among these, too.
enum class SchedulePolicy : std::uint8_t {
  kUniform,   // any runnable thread with equal probability
  kSticky,    // the running thread usually continues, so that some threads run far ahead
  kPriority,  // the thread of highest priority; priorities are random and are lowered at random moments
};

/// Runs the threads of one program, its creator among them, one at a time. The same seed and the same program give the
/// same run. Equal trace_hash() values show that two runs were equal.
///
/// Time is simulated. Each decision advances `clock` by a microsecond. If no thread can run, `clock` advances to the
/// earliest deadline. If there is no deadline either, the program has deadlocked: the scheduler prints the waiting
/// threads and the seed, and aborts the process. It also aborts after decisions_max() decisions, because the program
/// then makes no progress.
///
/// A thread that spins without a call of the scheduler keeps the others from running for ever; it must yield().
///
/// The thread that makes the scheduler is registered. It must destroy the scheduler after all other threads have been
/// joined. A call from a thread that was not started through scheduler() ends the process.
class SeededScheduler final : public Simulation {
 public:
  /// `clock` must outlive the scheduler.
  SeededScheduler(std::uint64_t seed, ManualClock& clock);
  ~SeededScheduler() override;
  SeededScheduler(const SeededScheduler&) = delete;
  SeededScheduler& operator=(const SeededScheduler&) = delete;

  Scheduler& scheduler() noexcept { return scheduler_; }

  std::uint64_t seed() const noexcept { return seed_; }
  SchedulePolicy policy() const noexcept { return policy_; }
  /// Returns the hash of all decisions so far: each call, its thread, and the next thread.
  std::uint64_t trace_hash() const;
  std::uint64_t decision_count() const;
  /// Raises the limit for long programs. The default is twenty million.
  void set_decisions_max(std::uint64_t decisions_max);

  void lock(const void* mutex) noexcept override;
  void unlock(const void* mutex) noexcept override;
  bool wait(const void* condition, const void* mutex,
            std::optional<std::chrono::nanoseconds> timeout) noexcept override;
  void notify(const void* condition, bool all) noexcept override;
  void event_wait(const std::atomic<std::uint32_t>* word) noexcept override;
  void event_set(const std::atomic<std::uint32_t>* word) noexcept override;
  void yield() noexcept override;
  void run_thread(std::uint64_t ticket, const std::function<void()>& body) noexcept override;
  std::uint64_t announce_thread(std::string_view name) override;
  void join(std::uint64_t ticket) noexcept override;

 private:
  using ThreadId = std::uint64_t;  // index in threads_; also the ticket
  using Baton = std::unique_lock<std::mutex>;

  enum class State : std::uint8_t { kRunnable, kWaitsForMutex, kWaitsForCondition, kWaitsForEvent, kJoins, kEnded };
  enum class Call : std::uint8_t { kLock, kUnlock, kWait, kNotify, kEventWait, kEventSet, kYield, kBegin, kEnd, kJoin };

  struct ThreadRecord {
    std::string name;
    State state = State::kRunnable;
    const void* awaited = nullptr;  // the mutex, condition or event it waits for
    ThreadId joined = 0;            // the thread it waits for
    std::optional<std::chrono::nanoseconds> deadline;
    bool timed_out = false;
    std::uint64_t priority = 0;  // higher runs first
    std::condition_variable turn;
  };

  struct HeldMutex {
    const void* mutex;
    ThreadId owner;
  };

  ThreadId self(const char* call) const noexcept;
  ThreadRecord& thread(ThreadId id) noexcept { return *threads_[id]; }

  // Gives the baton to the next thread and returns when the caller has the baton again.
  void switch_threads(Baton& baton, ThreadId me, Call call) noexcept;
  void pass_baton(ThreadId me, Call call) noexcept;
  void block(Baton& baton, ThreadId me, State state, const void* awaited, Call call) noexcept;
  void take_mutex(Baton& baton, ThreadId me, const void* mutex) noexcept;
  void release_mutex(ThreadId me, const void* mutex) noexcept;
  std::vector<HeldMutex>::iterator find_held(const void* mutex) noexcept;
  void wake_one(const void* condition) noexcept;
  void wake_all(State state, const void* awaited) noexcept;
  void wake(ThreadRecord& record) noexcept;

  ThreadId choose(ThreadId me) noexcept;
  ThreadId choose_by_priority(ThreadId me) noexcept;
  void expire_deadlines() noexcept;
  bool advance_to_deadline() noexcept;
  std::uint64_t random_below(std::uint64_t bound) noexcept { return io::random_below(random_, bound); }
  void mix(std::uint64_t value) noexcept;

  [[noreturn]] void give_up(const char* reason) noexcept;
  void describe(ThreadId id) noexcept;

  const std::uint64_t seed_;
  ManualClock& clock_;
  Scheduler scheduler_;
  SeededRandom random_;
  SchedulePolicy policy_;
  std::uint64_t change_rate_;    // kPriority: one decision in this many lowers a priority
  std::uint64_t spurious_rate_;  // one wait in this many wakes without cause; zero: none

  mutable std::mutex mutex_;  // guards all members below, and passes them from thread to thread
  std::vector<std::unique_ptr<ThreadRecord>> threads_;
  ThreadId running_ = 0;
  std::vector<HeldMutex> held_;
  std::vector<ThreadId> runnable_;  // used by choose(); a member to reuse its memory
  std::uint64_t lowest_priority_ = 0;
  std::uint64_t turns_in_a_row_ = 0;
  std::uint64_t decision_count_ = 0;
  std::uint64_t decisions_max_ = 20'000'000;
  std::uint64_t trace_hash_ = 0;
};

}  // namespace varve::io
