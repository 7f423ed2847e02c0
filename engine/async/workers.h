// Owns: a few threads for steps that wait. Each thread runs one step at a time, in the order of posting.
// Must never: have more threads than `threads_max`, or leave a posted step undone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/step.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Thread-safe.
class Workers final : public StepTaker {
 public:
  /// `name` is the name of the threads.
  Workers(io::Scheduler& scheduler, std::string_view name, std::size_t threads_max);
  ~Workers() override { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Starts the first thread. More threads are started when needed, if the system allows.
  /// Errors: kOutOfMemory, kIoError.
  Status start();
  /// Waits for the posted steps. Nothing may be posted from now on.
  void stop() noexcept;
  /// Posts a step, after start().
  void post(Step& step) noexcept override;

 private:
  /// An idle thread, on its own stack. A poster gives it a step and wakes it without a mutex of the woken thread. The
  /// poster may hold other mutexes, and the woken thread would block on them.
  struct Idle {
    explicit Idle(io::Scheduler& scheduler) noexcept : woken(scheduler) {}
    io::Event woken;
    Step* step = nullptr;  // null at the end
    Idle* next = nullptr;
  };

  Status add_thread() VARVE_REQUIRES(mutex_);
  Idle* take_idle() noexcept VARVE_REQUIRES(mutex_);
  Step* next_step() noexcept;
  void run() noexcept;

  io::Scheduler& scheduler_;
  const std::string name_;
  const std::size_t threads_max_;

  io::Mutex mutex_;
  StepList steps_ VARVE_GUARDED_BY(mutex_);        // steps for which no thread was idle
  Idle* idle_ VARVE_GUARDED_BY(mutex_) = nullptr;  // a stack: the thread idle last is used first
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::vector<io::Thread> threads_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
