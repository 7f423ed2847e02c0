// SPDX-License-Identifier: Apache-2.0
// Owns: an asynchronous operation as a value. The caller that waits for a task begins it. The task ends on some thread.
// Must never: start a thread, or know a store. async.h has the operations.
//
//   Task<Status> archive(AsyncTable from, AsyncTable to, std::string partition_key, std::string row_key) {
//     Result<std::optional<Entity>> entity = co_await from.get(partition_key, row_key);
//     if (!entity.ok()) co_return entity.status();
//     if (!entity->has_value()) co_return Status(Code::kNotFound);
//     Result<ETag> copied = co_await to.insert_or_replace(**entity);
//     if (!copied.ok()) co_return copied.status();
//     co_return co_await from.remove(partition_key, row_key, (*entity)->etag());
//   }
//
// The parameters of a coroutine must be values, not references: a coroutine outlives the call that created it.
#pragma once

#if __cplusplus < 202002L
#error "Varve needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <atomic>
#include <cassert>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "status.h"
#include "version.h"

namespace varve {

template <typename T>
class Task;

namespace task_detail {

/// A task that this thread is beginning right now. If the task ends before the beginning is over, the waiting coroutine
/// resumes here, at the bottom of the stack.
///
/// Resuming it from the end of the task would use more stack each time, unless the compiler makes tail calls; g++ does
/// not below -O2. A loop over tasks that end at once would then overflow the stack.
class VARVE_EXPORT Beginning {
 public:
  explicit Beginning(const void* task) noexcept : task_(task), outer_(innermost) { innermost = this; }
  ~Beginning() { innermost = outer_; }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  bool has_ended() const noexcept { return has_ended_; }
  /// Reports the end of a task. Runs on any thread; `beginning` may no longer exist. Returns true if the waiting
  /// coroutine resumes where the task began.
  static bool tell_end(const void* task, const Beginning* beginning) noexcept {
    // Both are compared, since the memory of either may belong to another object by now.
    if (innermost == nullptr || innermost != beginning || innermost->task_ != task) return false;
    innermost->has_ended_ = true;
    return true;
  }

 private:
  static inline thread_local constinit Beginning* innermost = nullptr;
  const void* const task_;
  Beginning* const outer_;
  bool has_ended_ = false;
};

/// The state of a task: its result, and the coroutine that waits for it.
template <typename T>
class TaskPromise {
 public:
  Task<T> get_return_object() noexcept;
  std::suspend_always initial_suspend() const noexcept { return {}; }

  /// Resumes the waiting coroutine.
  struct Resume {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<TaskPromise> ended) const noexcept {
      const TaskPromise& promise = ended.promise();
      if (Beginning::tell_end(&promise, promise.beginning_)) return std::noop_coroutine();
      return promise.waiting_;
    }
    void await_resume() const noexcept {}
  };
  Resume final_suspend() const noexcept { return {}; }

  template <typename U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  /// Turns std::bad_alloc into Code::kOutOfMemory, if T can be made from a Status. Keeps every other exception.
  void unhandled_exception() noexcept {
    exception_ = std::current_exception();
#if defined(__cpp_exceptions)
    if constexpr (std::is_constructible_v<T, Status>) {
      try {
        std::rethrow_exception(exception_);
      } catch (const std::bad_alloc&) {
        exception_ = nullptr;
        value_.emplace(Status::out_of_memory());
      } catch (...) {  // Kept for the waiting coroutine.
        return;
      }
    }
#endif
  }

  /// Begins the task. Returns false if the task has ended already: then `waiting` resumes at once. If it returns true,
  /// this promise may be destroyed already.
  bool begin(std::coroutine_handle<> waiting) noexcept {
    const Beginning beginning(this);
    beginning_ = &beginning;
    waiting_ = waiting;
    std::coroutine_handle<TaskPromise>::from_promise(*this).resume();
    return !beginning.has_ended();
  }
  bool is_begun() const noexcept {
    return static_cast<bool>(waiting_);
  }
  T take() {
    if (exception_) std::rethrow_exception(exception_);
    return *std::move(value_);
  }

 private:
  std::coroutine_handle<> waiting_;
  const Beginning* beginning_ = nullptr;
  std::optional<T> value_;
  std::exception_ptr exception_;
};

}  // namespace task_detail

/// One operation, or a coroutine made of several, that returns a T. A task does nothing until co_await, start() or
/// wait() awaits it; it can be awaited once. A begun task must not be destroyed before it has ended.
///
/// Threads   One thread at a time uses a task. If an operation of a store must wait, it ends on the store's
///           asynchronous thread, and the awaiting coroutine resumes there (async.h).
/// Errors    An exception inside the task is thrown to the awaiting coroutine. If T can be made from a Status,
///           std::bad_alloc becomes Code::kOutOfMemory. Making a task allocates memory and may throw std::bad_alloc.
template <typename T>
class [[nodiscard]] Task {
 public:
  /// The promise type that C++ requires of a coroutine type.
  using promise_type = task_detail::TaskPromise<T>;  // NOLINT(readability-identifier-naming): the language's name

  /// Takes the task of `other`, which may then only be destroyed or assigned to.
  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  /// Exchanges the two tasks. The task that this object had is destroyed with `other`.
  Task& operator=(Task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~Task() {
    if (!coroutine_) return;
    assert(coroutine_.done() || !coroutine_.promise().is_begun());
    coroutine_.destroy();
  }

  /// Begins a task and waits for its end. C++ calls its members for `co_await task`.
  class Awaiter {
   public:
    /// Awaits this coroutine, which has not begun and must outlive the awaiter.
    explicit Awaiter(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
    /// Returns false: a task has no result before it is begun.
    bool await_ready() const noexcept { return false; }
    /// Begins the task. Returns false if the task has ended already, so that `waiting` does not suspend.
    bool await_suspend(std::coroutine_handle<> waiting) const noexcept { return coroutine_.promise().begin(waiting); }
    /// Returns the result, or throws the exception that ended the task.
    T await_resume() const { return coroutine_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> coroutine_;
  };
  /// Makes `co_await task` begin the task and give its result. The task must not be moved from.
  Awaiter operator co_await() const noexcept {
    assert(coroutine_);  // The task was moved from.
    return Awaiter(coroutine_);
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
  std::coroutine_handle<promise_type> coroutine_;
};

namespace task_detail {

template <typename T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

/// A coroutine that nothing waits for. It destroys itself when it has ended.
struct Detached {
  struct promise_type {  // NOLINT(readability-identifier-naming): the language's name
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

template <typename T, typename Callback>
Detached run_detached(Task<T> task, Callback on_end) {
  T result = co_await task;
  { const Task<T> ended = std::move(task); }  // Frees the task's state before the callback runs.
  std::move(on_end)(std::move(result));
}

/// Counts down to zero. All users share it, since the last of them may be destroyed before it learns that it was the
/// last.
class Countdown {
 public:
  explicit Countdown(std::size_t count) noexcept : left_(count) {}
  /// Counts one end. Returns true if it was the last.
  bool count() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return false;
    left_.notify_all();
    return true;
  }
  void wait() const noexcept {
    for (std::size_t left = left_.load(std::memory_order_acquire); left > 0;
         left = left_.load(std::memory_order_acquire)) {
      left_.wait(left, std::memory_order_acquire);
    }
  }

 private:
  std::atomic<std::size_t> left_;
};

/// Suspends a coroutine until every task has ended.
template <typename T>
class AllAwaiter {
 public:
  explicit AllAwaiter(std::vector<Task<T>>& tasks) noexcept : tasks_(tasks) {}
  bool await_ready() const noexcept { return tasks_.empty(); }
  /// Counts one more than there are tasks. So the waiting coroutine cannot resume while tasks are still being begun.
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    results_.resize(tasks_.size());
    const auto countdown = std::make_shared<Countdown>(tasks_.size() + 1);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      run_detached(std::move(tasks_[i]), [this, i, countdown, waiting](T result) {
        results_[i].emplace(std::move(result));
        if (countdown->count()) waiting.resume();
      });
    }
    return !countdown->count();
  }
  std::vector<T> await_resume() {
    std::vector<T> results;
    results.reserve(results_.size());
    for (std::optional<T>& result : results_) results.push_back(*std::move(result));
    return results;
  }

 private:
  std::vector<Task<T>>& tasks_;
  std::vector<std::optional<T>> results_;
};

}  // namespace task_detail

/// Begins the task and calls `on_end` with its result. The call runs on the thread on which the task ends. If the task
/// had nothing to wait for, it runs before start() returns. An exception of the task or of `on_end` ends the process.
template <typename T, typename Callback>
void start(Task<T> task, Callback on_end) {
  task_detail::run_detached(std::move(task), std::move(on_end));
}

/// Begins the task, blocks this thread until the task has ended, and returns its result. Must not be called on a
/// store's asynchronous thread, which would wait for itself. An exception of the task ends the process.
template <typename T>
T wait(Task<T> task) {
  std::optional<T> given;
  const auto countdown = std::make_shared<task_detail::Countdown>(1);
  start(std::move(task), [&given, countdown](T result) {
    given.emplace(std::move(result));
    (void)countdown->count();
  });
  countdown->wait();
  return *std::move(given);
}

/// Runs all tasks at the same time. Returns their results in the order of the tasks. An exception of a task ends the
/// process, and so does a lack of memory to begin the tasks.
template <typename T>
Task<std::vector<T>> all(std::vector<Task<T>> tasks) {
  co_return co_await task_detail::AllAwaiter<T>(tasks);
}

}  // namespace varve
