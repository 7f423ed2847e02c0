// Owns: the places at which an asynchronous verb waits, as awaitables: its beginning, a change of thread, keys, locks,
// a commit.
// Must never: wait on a thread, or leave the one that began the verb where there is nothing to wait for: to change
// threads twice takes longer than most verbs.
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

/// Goes on with whoever takes the step.
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

/// Goes on behind what else is ready at home, where it is.
class TurnAtHome {
 public:
  explicit TurnAtHome(HomeThread* home) noexcept : home_(home) {}
  bool await_ready() const noexcept { return home_ == nullptr || !home_->is_here(); }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { home_->post(coroutine); }
  void await_resume() const noexcept {}

 private:
  HomeThread* home_;
};

/// One verb on its way. In the verb's own frame.
class AsyncCall {
 public:
  AsyncCall(std::shared_ptr<StoreCore> core, std::stop_token stop, HomeThread* home = nullptr) noexcept
      : core_(std::move(core)), stop_(std::move(stop)), home_(home) {}
  ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  /// `co_await call.begin()`, once and first: Ok, or why the verb cannot begin, and nothing happened. It goes on where
  /// it is; but what is begun on the asynchronous thread takes its turn there, so that who loops over verbs that end at
  /// once does not keep it from all others. Errors: kCancelled, those of StoreCore::async().
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

  /// To a thread that may wait, and to the asynchronous one.
  Hop to_worker() noexcept { return Hop(async_->workers()); }
  Hop back() noexcept { return Hop(async_->executor()); }

  /// Errors: kCancelled.
  Status check_stop() const noexcept;

  StoreCore& core() noexcept { return *core_; }
  engine::AsyncEngine& async() noexcept { return *async_; }
  const std::stop_token& stop() const noexcept { return stop_; }
  /// Where it is best to go on; may be null.
  HomeThread* home() const noexcept { return home_; }

 private:
  const std::shared_ptr<StoreCore> core_;
  const std::stop_token stop_;
  HomeThread* const home_;
  engine::AsyncEngine* async_ = nullptr;  // once begun
};

/// `co_await PointReads(...)`: the newest entry of each key not above a version, in the order of the keys. What the
/// disk has to be asked for is waited for on the asynchronous thread. Errors: as engine::ReadView::get_many.
class PointReads {
 public:
  /// All outlive it, the keys' bytes too.
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

/// The wait in the lines of partitions, on the asynchronous thread. As LockRequest; `co_await turn()` after advance()
/// said false.
class LockWait {
 public:
  LockWait(AsyncCall& call, std::optional<std::chrono::milliseconds> wait_max) noexcept;
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  Status ask(std::span<const std::uint64_t> hashes) { return request_.ask(hashes); }
  Result<bool> advance() noexcept { return request_.advance(); }
  engine::PartitionGuard take() noexcept { return request_.take(); }

  /// Ok: it is this one's turn. Errors, after which no lock is held: kBusy, kCancelled, kOutOfMemory.
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
  /// The token's, on any thread.
  struct PostStop {
    LockWait& wait;
    void operator()() const noexcept;
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
  std::optional<std::stop_callback<PostStop>> stop_callback_;
  std::atomic<bool> is_stopping_{false};  // PostStop is under way
  std::atomic<bool> was_stopped_{false};  // it has begun
  bool has_stop_run_ = false;             // what it posts
  bool has_ended_ = false;
  Status outcome_;
  std::coroutine_handle<> coroutine_;
  engine::LockRequest request_;
};

/// `co_await Commit(...)`: as engine::Engine::commit, but that who is refused for a full write buffer is told. It ends
/// at home, where there is one, else on the asynchronous thread.
class Commit {
 public:
  struct End {
    Result<engine::CommitVersion> version;
    /// Refused for want of this; else of nothing.
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
  /// Takes the one step that this has.
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
