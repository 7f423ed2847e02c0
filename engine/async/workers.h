// Owns: a few threads for what has to wait: a step each at a time, first come, first served.
// Must never: have more threads than it was told, or leave a step that was posted undone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/step.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Any thread.
class Workers final : public StepTaker {
 public:
  /// `name` is that of the threads.
  Workers(io::Scheduler& scheduler, std::string_view name, std::size_t threads_max);
  ~Workers() override { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Starts the first thread; the others come as they are needed, as far as the system gives them.
  /// Errors: kOutOfMemory, kIoError.
  Status start();
  /// Waits for what was posted. Nothing is posted from now on.
  void stop() noexcept;
  /// After start().
  void post(Step& step) noexcept override;

 private:
  /// A thread without a step, on its own stack. It is given one and woken, and needs no mutex for either: who posts may
  /// hold others, which a thread woken there would run into.
  struct Idle {
    explicit Idle(io::Scheduler& scheduler) noexcept : woken(scheduler) {}
    io::Event woken;
    Step* step = nullptr;  // none at the end
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
  StepList steps_ VARVE_GUARDED_BY(mutex_);        // for which no thread was idle
  Idle* idle_ VARVE_GUARDED_BY(mutex_) = nullptr;  // the last one to become so is the first
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::vector<io::Thread> threads_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
