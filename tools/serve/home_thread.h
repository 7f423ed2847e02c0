// Owns: the way back from the store's thread to the connection's.
// Must never: let an answer be written on the store's asynchronous thread, which serves all others too.
#pragma once

#include <coroutine>
#include <utility>

#include "api/task.h"

namespace varve::serve {

/// Where a request goes on after the store has answered.
class HomeThread {
 public:
  virtual ~HomeThread() = default;
  /// Whether this is the thread.
  virtual bool is_here() const noexcept = 0;
  /// Resumes the coroutine there. Any thread; one coroutine at a time. There is always memory for it: who cannot come
  /// home would go on elsewhere.
  virtual void post(std::coroutine_handle<> coroutine) noexcept = 0;
};

/// `co_await GoHome(home)`; at home, and without a home, it goes on where it is.
class GoHome {
 public:
  explicit GoHome(HomeThread* home) noexcept : home_(home) {}
  bool await_ready() const noexcept { return home_ == nullptr || home_->is_here(); }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { home_->post(coroutine); }
  void await_resume() const noexcept {}

 private:
  HomeThread* home_;
};

/// An operation of the store, ending at home.
template <typename T>
Task<T> at_home(HomeThread* home, Task<T> operation) {
  T result = co_await operation;
  co_await GoHome(home);
  co_return result;
}

}  // namespace varve::serve
