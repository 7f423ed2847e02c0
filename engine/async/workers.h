// Owns: a few threads for what has to wait: a step each at a time, first come, first served.
// Must never: have more threads than it was told, or leave a step that was posted undone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/result.h"
#include "engine/step.h"
#include "io/scheduler.h"

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
  Status add_thread() VARVE_REQUIRES(mutex_);
  void run() noexcept;

  io::Scheduler& scheduler_;
  const std::string name_;
  const std::size_t threads_max_;

  io::Mutex mutex_;
  io::Condition posted_;
  StepList steps_ VARVE_GUARDED_BY(mutex_);
  std::size_t waiting_steps_ VARVE_GUARDED_BY(mutex_) = 0;
  std::size_t idle_threads_ VARVE_GUARDED_BY(mutex_) = 0;
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::vector<io::Thread> threads_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
