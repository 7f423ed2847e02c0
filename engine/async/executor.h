// Owns: the one thread on which asynchronous operations go on: their steps, the reads they have in flight, their
// timers.
// Must never: run a step that waits for anything but the executor's own reads and, once for each, the opening of a
// table file.
//
// X1  what is posted runs once, on the executor's thread, in the order in which each thread posted it.
// X2  the thread waits in one place at a time: for a post or a timer while no read is in flight, else for a read, and a
//     post wakes it there.
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

/// A search, and the step that is next when it has ended.
class SearchStep : public Step, public Search {
 public:
  using Search::Search;
};

class Executor final : public StepTaker {
 public:
  /// Reads in flight, of all operations together.
  static constexpr std::size_t kReadsInFlightMax = 256;

  /// Both outlive it. Errors: those of FileSystem::make_read_queue, of ReadQueue::allow_wake, and of starting a thread.
  static Result<std::unique_ptr<Executor>> start(const io::Env& env, BlockReader& blocks);
  /// For start() alone.
  Executor(const io::Env& env, BlockReader& blocks, std::unique_ptr<io::ReadQueue> queue);
  /// stop() if need be.
  ~Executor() override;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Whether the caller runs on this executor's thread.
  bool is_this_thread() const noexcept;
  void post(Step& step) noexcept override;

  /// Before the first step of an operation; false when stop() was called. Each is ended by end_operation(), behind
  /// which it posts nothing. Both from any thread.
  bool begin_operation() noexcept;
  void end_operation() noexcept;
  /// Whether more than one is under way.
  bool has_several_operations() noexcept;
  /// Lets no operation begin any more and waits for the end of those that have. Not on the executor's thread.
  void stop() noexcept;

  // On the executor's thread:

  /// `search` runs as a step when it has ended, but never within this call.
  void begin(SearchStep& search) noexcept { searches_.begin(search); }

  /// A step to be run at a time, unless it is called off. Stays where it is until then.
  class Timer {
   public:
    explicit Timer(Step& step) noexcept : step_(step) {}

   private:
    friend class Executor;
    Step& step_;
    std::optional<std::chrono::nanoseconds> at_;
  };
  /// At `at` of the monotonic clock, or a little later. Errors: kOutOfMemory.
  Status set(Timer& timer, std::chrono::nanoseconds at) noexcept;
  /// Does nothing where it has run, or was not set.
  void call_off(Timer& timer) noexcept;

 private:
  enum class Waiting : std::uint8_t { kNot, kForPost, kForRead };

  void run() noexcept;
  /// Waits where there is nothing else to do. False at the end.
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

  // Of its thread alone:
  Searches searches_;
  StepList own_;  // posted by itself
  std::set<std::pair<std::chrono::nanoseconds, Timer*>> timers_;

  io::Mutex mutex_;
  io::Condition changed_;
  StepList posted_ VARVE_GUARDED_BY(mutex_);
  Waiting waiting_ VARVE_GUARDED_BY(mutex_) = Waiting::kNot;
  std::size_t operations_ VARVE_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ VARVE_GUARDED_BY(mutex_) = false;

  Workers helper_;     // of searches_
  io::Thread thread_;  // last: it uses all of the above
};

}  // namespace varve::engine
