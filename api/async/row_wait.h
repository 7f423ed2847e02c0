// Owns: the wait of a coroutine for a commit, in a row that threads wait in too.
// Must never: occupy a thread, or resume its coroutine while a step or a callback of the wait may still run.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "api/async/async_call.h"
#include "api/commit/waiting_row.h"
#include "engine/async/executor.h"
#include "engine/base/step.h"
#include "varve/result.h"

namespace varve {

/// Used on the asynchronous thread, except for notify(), the callback of the stop token, and a look for a wake-up.
class RowWait final : private WaitingRow::Place {
 public:
  /// Joins the row. The row and the call outlive it.
  RowWait(AsyncCall& call, WaitingRow& row, std::stop_token stop);
  ~RowWait() override { leave(); }

  using WaitingRow::Place::begin_look;

  /// A look for a wake-up, on a worker thread, before the wait ends. It spares the coroutine the way there and back.
  class Look : public engine::Step {
   public:
    /// Calls begin_look(), looks, and then calls end_wake_up(), after which the wait may be gone.
    void run() noexcept override = 0;
  };
  /// Ends the wait of the wake-up for which a look ran.
  void end_wake_up() noexcept { executor_.post(on_wake_up_); }

  /// `co_await wait.change(...)` waits for a wake-up since begin_look(), for a stop, or for the deadline. If this place is
  /// the first, it waits `look_in` at most. Returns true if another look may find something, and false after a stop and
  /// after the deadline. `look`, which may be null, runs for a wake-up, unless that came before the wait.
  /// Errors: kOutOfMemory.
  class Change {
   public:
    Change(RowWait& wait, std::chrono::nanoseconds deadline, std::optional<std::chrono::nanoseconds> look_in,
           Look* look) noexcept
        : wait_(wait), deadline_(deadline), look_in_(look_in), look_(look) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine) noexcept {
      return wait_.begin(coroutine, deadline_, look_in_, look_);
    }
    Result<bool> await_resume() const noexcept { return wait_.outcome_; }

   private:
    RowWait& wait_;
    const std::chrono::nanoseconds deadline_;
    const std::optional<std::chrono::nanoseconds> look_in_;
    Look* const look_;
  };
  Change change(std::chrono::nanoseconds deadline, std::optional<std::chrono::nanoseconds> look_in,
                Look* look = nullptr) noexcept {
    return {*this, deadline, look_in, look};
  }

 private:
  enum class Why : std::uint8_t { kWakeUp, kTime, kStop };
  template <Why why>
  class Told final : public engine::Step {
   public:
    explicit Told(RowWait& wait) noexcept : wait_(wait) {}
    void run() noexcept override { wait_.end_for(why); }

   private:
    RowWait& wait_;
  };

  void notify() noexcept override;
  bool begin(std::coroutine_handle<> coroutine, std::chrono::nanoseconds deadline,
             std::optional<std::chrono::nanoseconds> look_in, Look* look) noexcept;
  void end_for(Why why) noexcept;
  void resume() noexcept;

  engine::Executor& executor_;
  engine::Workers& workers_;
  io::Clock& clock_;
  const std::stop_token stop_;
  Told<Why::kWakeUp> on_wake_up_{*this};
  Told<Why::kTime> on_time_{*this};
  Told<Why::kStop> on_stop_{*this};
  engine::Executor::Timer timer_{on_time_};
  StopSignal stop_signal_;
  Look* look_ = nullptr;      // set before the place is armed
  bool looks_early_ = false;  // the timer is set to the time of the next look
  bool has_ended_ = false;
  Result<bool> outcome_ = false;
  std::coroutine_handle<> coroutine_;
};

}  // namespace varve
