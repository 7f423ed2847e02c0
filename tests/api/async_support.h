// Owns: short words for tests that wait for tasks.
// Must never: wait where the seeded scheduler does not see it: a run would stand still.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "api/async.h"
#include "io/scheduler.h"

namespace varve::test {

/// Begins a task now; what it gives can be waited for later. Stays where it is until then.
template <typename T>
class Begun {
 public:
  Begun(io::Scheduler& scheduler, Task<T> task) : ended_(scheduler) {
    start(std::move(task), [this](T given) {
      given_.emplace(std::move(given));
      ended_.set();
    });
  }
  ~Begun() { ended_.wait(); }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

  bool has_ended() const noexcept { return ended_.is_set(); }
  /// Once.
  T take() {
    ended_.wait();
    return *std::move(given_);
  }

 private:
  io::Event ended_;
  std::optional<T> given_;
};

/// As wait() of task.h, under any scheduler.
template <typename T>
T await(io::Scheduler& scheduler, Task<T> task) {
  return Begun<T>(scheduler, std::move(task)).take();
}

}  // namespace varve::test
