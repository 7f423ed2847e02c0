// SPDX-License-Identifier: Apache-2.0
// Owns: the way from the store's threads to a thread of the caller's: that of an event loop.
// Must never: know what kind of thread that is.
//
//   AsyncTable orders(table, &home);     // its operations end at home
//   Result<Table> opened = co_await at_home(&home, store.open_table("myaccount", "Orders"));
#pragma once

#include <coroutine>
#include <utility>

#include "task.h"

#pragma GCC visibility push(default)

namespace varve {

/// A thread of the caller's on which operations go on. It outlives them, and runs until they have ended: Store::close()
/// waits for them, and so is not called there. Writes that are begun there go on behind what was posted before.
class HomeThread {
 public:
  virtual ~HomeThread() = default;
  /// Whether this is the thread.
  virtual bool is_here() const noexcept = 0;
  /// Resumes the coroutine there, not within this call, which waits for nothing. Any thread, the store's own too; one
  /// coroutine at a time for each task that was begun. It must not fail: who cannot come home would go on elsewhere.
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

}  // namespace varve

#pragma GCC visibility pop
