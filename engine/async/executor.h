// Owns: the one thread that runs asynchronous operations: their steps, their reads in flight, their timers.
// Must never: run a step that waits, except for the executor's own reads and for the first opening of a table file.
//
// X1  Each posted step runs once, on the executor's thread. Steps posted by one thread run in their order.
// X2  The thread waits in one place at a time. If no read is in flight, it waits for a post or a timer. Otherwise it
//     waits for a read, and a post wakes it there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "engine/async/workers.h"
#include "engine/base/step.h"
#include "engine/read/searches.h"
#include "engine/tables/block_reader.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// A search, and the step to run when it has ended.
class SearchStep : public Step, public Search {
 public:
  using Search::Search;
};

class Executor final : public StepTaker {
 public:
  /// Largest number of reads in flight, for all operations together.
  static constexpr std::size_t kReadsInFlightMax = 256;

  /// Starts the thread. `env` and `blocks` outlive it. Errors: those of FileSystem::make_read_queue, of
  /// ReadQueue::allow_wake, and of starting a thread.
  static Result<std::unique_ptr<Executor>> start(const io::Env& env, BlockReader& blocks);
  /// Called only by start().
  Executor(const io::Env& env, BlockReader& blocks, std::unique_ptr<io::ReadQueue> queue);
  /// Calls stop() if necessary.
  ~Executor() override;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Returns whether the caller runs on this executor's thread.
  bool is_this_thread() const noexcept;
  void post(Step& step) noexcept override;
  void post_all(StepList steps) noexcept override;

  /// Begins an operation before its first step; returns false after stop(). Each operation is ended by end_operation(),
  /// after which it posts nothing. Any thread may call both functions.
  bool begin_operation() noexcept;
  void end_operation() noexcept;
  /// Returns whether more than one operation is in progress.
  bool has_several_operations() noexcept;
  /// Prevents new operations and waits for the end of the running ones. Not called on the executor's thread.
  void stop() noexcept;

  // Called on the executor's thread:

  /// Begins a search. `search` runs as a step when it has ended, but never within this call.
  void begin(SearchStep& search) noexcept { searches_.begin(search); }

  /// A step to run at a given time, unless it is called off. Must not move until then.
  class Timer {
   public:
    explicit Timer(Step& step) noexcept : step_(step) {}

   private:
    friend class Executor;
    Step& step_;
    std::optional<std::chrono::nanoseconds> at_;
  };
  /// Runs the timer's step at `at` of the monotonic clock, or a little later. Errors: kOutOfMemory.
  Status set(Timer& timer, std::chrono::nanoseconds at) noexcept;
  /// Calls a timer off. Does nothing if the timer has run or was not set.
  void call_off(Timer& timer) noexcept;

 private:
  enum class Waiting : std::uint8_t { kNot, kForPost, kForRead };

  void run() noexcept;
  /// Takes the posted steps. Waits if there is no other work. Returns false at the end.
  bool take_posted(StepList& steps) noexcept;
  bool must_wait() const noexcept VARVE_REQUIRES(mutex_);
  void wake() noexcept VARVE_REQUIRES(mutex_);
  void wait_for_post() noexcept VARVE_REQUIRES(mutex_);
  bool begin_wait_for_read() noexcept;
  void end_wait_for_read() noexcept;
  void run_due_timers() noexcept;
  void run_ended_searches() noexcept;

  const io::Env& env_;
  io::ReadQueue* const queue_;  // of searches_

  // Used only by its thread:
  Searches searches_;
  StepList own_;  // posted by the thread itself
  std::set<std::pair<std::chrono::nanoseconds, Timer*>> timers_;

  io::Mutex mutex_;
  io::Condition changed_;
  StepList posted_ VARVE_GUARDED_BY(mutex_);
  Waiting waiting_ VARVE_GUARDED_BY(mutex_) = Waiting::kNot;
  /// Number of operations in progress, with kStopping from stop() on. After that it changes under the mutex only, since
  /// the executor may be gone as soon as its thread sees the last operation end.
  std::atomic<std::uint64_t> operations_{0};
  static constexpr std::uint64_t kStopping = std::uint64_t{1} << 63;

  Workers helper_;     // of searches_
  io::Thread thread_;  // last: it uses all the members above
};

}  // namespace varve::engine
