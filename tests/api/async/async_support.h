// Owns: short functions for tests that wait for tasks.
// Must never: wait without the seeded scheduler's knowledge: a run would hang.
#pragma once

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "io/scheduler.h"
#include "varve/async.h"

namespace varve::test {

/// Begins a task now. Its result can be awaited later. The object must not move until then.
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
  /// Returns the result. Called once.
  T take() {
    ended_.wait();
    return *std::move(given_);
  }

 private:
  io::Event ended_;
  std::optional<T> given_;
};

/// A home without a loop of its own. Coroutines that return to it continue when the test says so.
class HeldHome final : public HomeThread {
 public:
  explicit HeldHome(io::Scheduler& scheduler) : mutex_(scheduler), changed_(scheduler) {}

  bool is_here() const noexcept override { return std::this_thread::get_id() == thread_; }
  void post(std::coroutine_handle<> coroutine) noexcept override {
    const io::MutexGuard guard(mutex_);
    posted_.push_back(coroutine);
    ++posts_;
    changed_.notify_all();
  }
  /// Resumes the first coroutine that returned, or waits for one.
  void run_one() {
    mutex_.lock();
    while (posted_.empty()) changed_.wait(mutex_);
    const std::coroutine_handle<> coroutine = posted_.front();
    posted_.pop_front();
    mutex_.unlock();
    coroutine.resume();
  }
  template <typename T>
  T run(Task<T> task) {
    std::optional<T> given;
    start(std::move(task), [&](T answer) {
      assert(is_here());
      given.emplace(std::move(answer));
    });
    while (!given) run_one();
    return *std::move(given);
  }
  /// Returns the number of all coroutines that ever returned.
  std::size_t posts() {
    const io::MutexGuard guard(mutex_);
    return posts_;
  }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  io::Mutex mutex_;
  io::Condition changed_;
  std::deque<std::coroutine_handle<>> posted_ VARVE_GUARDED_BY(mutex_);
  std::size_t posts_ VARVE_GUARDED_BY(mutex_) = 0;
};

/// Does the same as wait() of task.h, under any scheduler.
template <typename T>
T await(io::Scheduler& scheduler, Task<T> task) {
  return Begun<T>(scheduler, std::move(task)).take();
}

}  // namespace varve::test
