// SPDX-License-Identifier: Apache-2.0
// Owns: the switch from the store's threads to a thread of the caller, for example the thread of an event loop.
// Must never: depend on the kind of the caller's thread.
//
//   AsyncTable orders(table, &home);     // its operations end on the home thread
//   Result<Table> opened = co_await at_home(&home, store.open_table("myaccount", "Orders"));
#pragma once

#include <coroutine>
#include <utility>

#include "task.h"
#include "version.h"

namespace varve {

/// A thread of the caller on which operations resume. It must outlive the operations and run until they have ended. Do
/// not call Store::close() on it, because close() waits for the operations. A write that begins on this thread first
/// lets the coroutines run that were posted earlier.
class VARVE_EXPORT HomeThread {
 public:
  virtual ~HomeThread() = default;
  /// Returns whether the calling thread is this thread.
  virtual bool is_here() const noexcept = 0;
  /// Queues the coroutine, so that this thread resumes it after the call has returned. The call must not block and must
  /// not fail, because the coroutine has no other thread to resume on. Any thread may call it, including the store's
  /// threads. Each begun task has at most one coroutine queued at a time.
  virtual void post(std::coroutine_handle<> coroutine) noexcept = 0;
};

/// `co_await GoHome(home)` continues the coroutine on the home thread. If the coroutine already runs there, or if
/// `home` is null, it continues on its current thread.
class GoHome {
 public:
  /// Waits for this thread, or for nothing if `home` is null.
  explicit GoHome(HomeThread* home) noexcept : home_(home) {}
  /// Returns true if the coroutine can continue on its current thread.
  bool await_ready() const noexcept { return home_ == nullptr || home_->is_here(); }
  /// Posts the suspended coroutine to the home thread.
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { home_->post(coroutine); }
  /// Does nothing: the switch has no result.
  void await_resume() const noexcept {}

 private:
  HomeThread* home_;
};

/// Runs an operation of the store and ends on the home thread.
template <typename T>
Task<T> at_home(HomeThread* home, Task<T> operation) {
  T result = co_await operation;
  co_await GoHome(home);
  co_return result;
}

}  // namespace varve
