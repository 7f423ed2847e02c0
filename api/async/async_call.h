// Owns: the awaitables at which an asynchronous operation waits: its start, a change of thread, reads, locks, a commit.
// Must never: block a thread. If an operation need not wait, it must never leave the thread that began it: two changes
// of thread take longer than most operations.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/store_core.h"
#include "engine/async/async_commit.h"
#include "engine/async/async_engine.h"
#include "engine/async/async_read.h"
#include "engine/base/step.h"
#include "engine/commit/partition_locks.h"
#include "varve/home_thread.h"
#include "varve/result.h"

namespace varve {

/// Resumes a coroutine.
class ResumeStep final : public engine::Step {
 public:
  void set(std::coroutine_handle<> coroutine) noexcept { coroutine_ = coroutine; }
  std::coroutine_handle<> coroutine() const noexcept { return coroutine_; }
  void run() noexcept override { coroutine_.resume(); }

 private:
  std::coroutine_handle<> coroutine_;
};

/// Continues the coroutine on the thread that runs the taker's steps.
class Hop {
 public:
  explicit Hop(engine::StepTaker& taker) noexcept : taker_(taker) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) noexcept {
    step_.set(coroutine);
    taker_.post(step_);
  }
  void await_resume() const noexcept {}

 private:
  engine::StepTaker& taker_;
  ResumeStep step_;
};

/// If the coroutine runs on its home thread, lets the coroutines run that are already queued there, and then continues.
class TurnAtHome {
 public:
  explicit TurnAtHome(HomeThread* home) noexcept : home_(home) {}
  bool await_ready() const noexcept { return home_ == nullptr || !home_->is_here(); }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { home_->post(coroutine); }
  void await_resume() const noexcept {}

 private:
  HomeThread* home_;
};

/// The state of one operation in progress. It is a part of the operation's coroutine frame.
class AsyncCall {
 public:
  AsyncCall(std::shared_ptr<StoreCore> core, std::stop_token stop, HomeThread* home = nullptr) noexcept
      : core_(std::move(core)), stop_(std::move(stop)), home_(home) {}
  ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  /// `co_await call.begin()` starts the operation; await it once, before anything else. It returns Ok, or the reason
  /// why the operation cannot begin; then nothing has changed. The operation continues on its current thread. On the
  /// asynchronous thread it first lets other steps run, so that a loop over operations that end at once does not occupy
  /// the thread.
  /// Errors: kCancelled, and those of StoreCore::async().
  class Begin {
   public:
    explicit Begin(AsyncCall& call) noexcept : call_(call) {}
    bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> coroutine) noexcept;
    Status await_resume() noexcept { return status_.ok() ? call_.check_stop() : status_; }

   private:
    AsyncCall& call_;
    Status status_;
    ResumeStep step_;
  };
  Begin begin() noexcept { return Begin(*this); }

  /// Moves the coroutine to a worker thread, which may block; back() moves it to the asynchronous thread.
  Hop to_worker() noexcept { return Hop(async_->workers()); }
  Hop back() noexcept { return Hop(async_->executor()); }

  /// Returns kCancelled if the operation was asked to stop.
  Status check_stop() const noexcept;

  StoreCore& core() noexcept { return *core_; }
  engine::AsyncEngine& async() noexcept { return *async_; }
  const std::stop_token& stop() const noexcept { return stop_; }
  /// Returns the home thread, on which the operation should preferably continue, or null.
  HomeThread* home() const noexcept { return home_; }

 private:
  const std::shared_ptr<StoreCore> core_;
  const std::stop_token stop_;
  HomeThread* const home_;
  engine::AsyncEngine* async_ = nullptr;  // set by begin()
};

/// `co_await PointReads(...)` returns the newest entry of each key up to a version, in the order of the keys. The
/// coroutine awaits reads from the disk on the asynchronous thread. Errors: as engine::ReadView::get_many.
class PointReads {
 public:
  /// All arguments must outlive the object, including the bytes of the keys.
  PointReads(AsyncCall& call, const engine::ReadView& view, std::span<const std::string_view> sort_keys,
             engine::CommitVersion at_most, engine::EntryPart part) noexcept
      : executor_(call.async().executor()),
        read_(executor_, view),
        sort_keys_(sort_keys),
        at_most_(at_most),
        part_(part) {}
  PointReads(const PointReads&) = delete;
  PointReads& operator=(const PointReads&) = delete;

  bool await_ready() {
    const Result<bool> has_all = read_.look(sort_keys_, at_most_, part_);
    status_ = has_all.status();
    return !has_all.ok() || *has_all;
  }
  void await_suspend(std::coroutine_handle<> coroutine) noexcept;
  Result<std::vector<std::optional<engine::FoundEntry>>> await_resume() {
    if (!status_.ok()) return status_;
    return read_.take();
  }

 private:
  struct Begin final : public engine::Step {
    explicit Begin(PointReads& of) noexcept : reads(of) {}
    void run() noexcept override { reads.read_.begin(reads.step_); }
    PointReads& reads;
  };

  engine::Executor& executor_;
  engine::AsyncRead read_;
  const std::span<const std::string_view> sort_keys_;
  const engine::CommitVersion at_most_;
  const engine::EntryPart part_;
  Status status_;
  Begin begin_{*this};
  ResumeStep step_;
};

/// Posts a step of a wait on the asynchronous thread when the wait's stop token is triggered.
class StopSignal final : public engine::Step {
 public:
  /// After a stop, `step` runs on the executor's thread. It runs again if end() returned false.
  StopSignal(engine::Executor& executor, engine::Step& step) noexcept : executor_(executor), step_(step) {}

  /// Begins to listen. Called on the executor's thread.
  void begin(const std::stop_token& stop);
  /// Ends listening. Returns false if a step or the callback of the stop may still run: the wait must go on until `step`
  /// runs again. Destroying the callback instead would block until the other thread has left it.
  bool end() noexcept;

  void run() noexcept override;

 private:
  /// The callback of the stop token. It runs on any thread.
  struct Post {
    StopSignal& signal;
    void operator()() const noexcept;
  };

  engine::Executor& executor_;
  engine::Step& step_;
  std::optional<std::stop_callback<Post>> callback_;
  std::atomic<bool> is_stopping_{false};  // Post is running
  std::atomic<bool> was_stopped_{false};  // Post has begun
  bool has_run_ = false;                  // the step that Post posts has run
};

/// Waits in the queues of partition locks, on the asynchronous thread. Use it like LockRequest: if advance() returns
/// false, `co_await turn()` and call advance() again.
class LockWait {
 public:
  LockWait(AsyncCall& call, std::optional<std::chrono::milliseconds> wait_max) noexcept;
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  Status ask(std::span<const std::uint64_t> hashes, std::optional<std::uint64_t> row) {
    return request_.ask(hashes, row);
  }
  Result<bool> advance() noexcept { return request_.advance(); }
  engine::PartitionGuard take() noexcept { return request_.take(); }

  /// Ends when the request has its turn (Ok). Errors, after which no lock is held: kBusy, kCancelled, kOutOfMemory.
  class Turn {
   public:
    explicit Turn(LockWait& wait) noexcept : wait_(wait) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine) noexcept { return wait_.begin(coroutine); }
    Status await_resume() const noexcept { return wait_.outcome_; }

   private:
    LockWait& wait_;
  };
  Turn turn() noexcept { return Turn(*this); }

 private:
  enum class Why : std::uint8_t { kTurn, kTime, kStop };
  template <Why why>
  class Told final : public engine::Step {
   public:
    explicit Told(LockWait& wait) noexcept : wait_(wait) {}
    void run() noexcept override { wait_.tell(why); }

   private:
    LockWait& wait_;
  };

  bool begin(std::coroutine_handle<> coroutine) noexcept;
  void tell(Why why) noexcept;
  void end(Status outcome) noexcept;
  void resume() noexcept;

  engine::Executor& executor_;
  io::Clock& clock_;
  const std::stop_token stop_;
  const std::optional<std::chrono::milliseconds> wait_max_;
  std::chrono::nanoseconds deadline_{0};

  Told<Why::kTurn> on_turn_{*this};
  Told<Why::kTime> on_time_{*this};
  Told<Why::kStop> on_stop_{*this};
  engine::Executor::Timer timer_{on_time_};
  StopSignal stop_signal_;
  bool has_ended_ = false;
  Status outcome_;
  std::coroutine_handle<> coroutine_;
  engine::LockRequest request_;
};

/// `co_await Commit(...)` commits like engine::Engine::commit. But if the write buffer has no room, it does not wait:
/// it returns the missing room. It ends on the home thread if there is one, or else on the asynchronous thread.
class Commit {
 public:
  struct End {
    Result<engine::CommitVersion> version;
    /// The room that the refused commit lacked. Zero if the commit lacked no room.
    engine::RoomNeed room_need{};
  };

  Commit(AsyncCall& call, engine::CommitRequest request) noexcept
      : home_(call.home()), commit_(call.async().commit(std::move(request), step_, taker(call))) {}
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> coroutine);
  End await_resume() {
    if (!refused_.ok()) return {refused_};
    Result<engine::CommitVersion> version = commit_.end();
    return {std::move(version), commit_.room_need()};
  }

 private:
  /// Takes the one step of this object.
  class Home final : public engine::StepTaker {
   public:
    explicit Home(HomeThread* thread) noexcept : thread_(thread) {}
    void post(engine::Step& step) noexcept override { thread_->post(static_cast<ResumeStep&>(step).coroutine()); }

   private:
    HomeThread* const thread_;
  };
  engine::StepTaker& taker(AsyncCall& call) noexcept {
    if (call.home() == nullptr) return call.async().executor();
    return home_;
  }

  ResumeStep step_;
  Status refused_;
  Home home_;
  engine::AsyncCommit commit_;
};

}  // namespace varve
