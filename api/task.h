// SPDX-License-Identifier: Apache-2.0
// Owns: an asynchronous operation as a value: begun by who waits for it, ended on the thread that ends it.
// Must never: start a thread, or know a store; async.h has the operations.
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
// A coroutine's parameters must be values: it goes on when the call that made it has long returned.
#pragma once

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

#pragma GCC visibility push(default)

namespace varve {

template <typename T>
class Task;

namespace task_detail {

/// A task that this thread is just beginning. Where it ends before that is over, who waits for it goes on here, at the
/// bottom of the stack: to go on from the end would take stack each time where a compiler makes no tail calls, as g++
/// does not below -O2, and a loop over tasks that end at once would use it up.
class Beginning {
 public:
  explicit Beginning(const void* task) noexcept : task_(task), outer_(innermost) { innermost = this; }
  ~Beginning() { innermost = outer_; }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  bool has_ended() const noexcept { return has_ended_; }
  /// At the end of a task, on any thread; `beginning` may be long gone. True: who waits goes on where it began.
  static bool tell_end(const void* task, const Beginning* beginning) noexcept {
    // Both, for the memory of either may belong to another one meanwhile.
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

/// What every task keeps of how it ends.
template <typename T>
class TaskPromise {
 public:
  Task<T> get_return_object() noexcept;
  std::suspend_always initial_suspend() const noexcept { return {}; }

  /// Goes on with who waits.
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
  /// A lack of memory is an answer, where there is a way to give it.
  void unhandled_exception() noexcept {
    exception_ = std::current_exception();
    if constexpr (std::is_constructible_v<T, Status>) {
      try {
        std::rethrow_exception(exception_);
      } catch (const std::bad_alloc&) {
        exception_ = nullptr;
        value_.emplace(Status::out_of_memory());
      } catch (...) {  // Kept for who waits.
        return;
      }
    }
  }

  /// False: it has ended, and `waiting` goes on; otherwise it may be gone already.
  bool begin(std::coroutine_handle<> waiting) noexcept {
    const Beginning beginning(this);
    beginning_ = &beginning;
    waiting_ = waiting;
    std::coroutine_handle<TaskPromise>::from_promise(*this).resume();
    return !beginning.has_ended();
  }
  bool is_begun() const noexcept { return static_cast<bool>(waiting_); }
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

/// One operation, or a coroutine made of several, that gives a T. It does nothing before it is awaited by co_await,
/// start() or wait(), which may be done once. A task that was begun must not be destroyed before it has ended.
///
/// Threads   of one thread at a time. What a store's operations wait for ends on the store's asynchronous thread, and
///           whoever awaits them goes on there (async.h).
/// Errors    what is thrown inside is thrown to who awaits; std::bad_alloc becomes Code::kOutOfMemory where T can say
///           so. Making a task takes memory, and throws std::bad_alloc where there is none.
template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = task_detail::TaskPromise<T>;  // NOLINT(readability-identifier-naming): the language's name

  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~Task() {
    if (!coroutine_) return;
    assert(coroutine_.done() || !coroutine_.promise().is_begun());
    coroutine_.destroy();
  }

  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) const noexcept { return coroutine_.promise().begin(waiting); }
    T await_resume() const { return coroutine_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> coroutine_;
  };
  Awaiter operator co_await() const noexcept {
    assert(coroutine_);  // It was moved away.
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

/// A coroutine that nobody waits for; it goes when it has ended.
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
  { const Task<T> ended = std::move(task); }  // What it kept goes before anybody is told.
  std::move(on_end)(std::move(result));
}

/// Ends that are counted down to none. Shared by all who count, since the last one may be gone before it was told.
class Countdown {
 public:
  explicit Countdown(std::size_t count) noexcept : left_(count) {}
  /// True: it was the last.
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

/// Suspends until every task has ended.
template <typename T>
class AllAwaiter {
 public:
  explicit AllAwaiter(std::vector<Task<T>>& tasks) noexcept : tasks_(tasks) {}
  bool await_ready() const noexcept { return tasks_.empty(); }
  /// One more is counted than there are tasks, so that none resumes who waits while others are still being begun.
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

/// Begins the task and calls `on_end` with what it gives: on the thread on which it ends, or before this returns where
/// there was nothing to wait for. What the task or `on_end` throws ends the process.
template <typename T, typename Callback>
void start(Task<T> task, Callback on_end) {
  task_detail::run_detached(std::move(task), std::move(on_end));
}

/// Begins the task and blocks this thread until it has ended. Not on a store's asynchronous thread, which would wait
/// for itself. What the task throws ends the process.
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

/// All tasks side by side; what they give, in their order. What one throws ends the process, and so does a lack of
/// memory to begin them.
template <typename T>
Task<std::vector<T>> all(std::vector<Task<T>> tasks) {
  co_return co_await task_detail::AllAwaiter<T>(tasks);
}

}  // namespace varve

#pragma GCC visibility pop
