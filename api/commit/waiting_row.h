// Owns: a row of those who wait for a commit: threads and coroutines, in the order in which they came.
// Must never: lose a wake-up.
//
// W1  Who waits joins the row, and then looks for what it wants. The commit is published first, and then wakes. So what
//     the look does not see wakes the wait that follows.
// W2  In a row whose wake-ups are for one waiter each, a waiter that leaves wakes the next one: it may have used a wake-up
//     that was not for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>

#include "io/scheduler.h"

namespace varve {

/// Any thread.
class WaitingRow {
 public:
  /// Whether one wake-up is for one waiter, as that of a message, or for all.
  enum class Wakes : std::uint8_t { kOne, kAll };
  /// The scheduler outlives it.
  WaitingRow(io::Scheduler& scheduler, Wakes wakes) : scheduler_(scheduler), wakes_(wakes), mutex_(scheduler) {}
  WaitingRow(const WaitingRow&) = delete;
  WaitingRow& operator=(const WaitingRow&) = delete;

  /// A place in the row. What waits at it, a thread or a coroutine, derives from it.
  class Place {
   public:
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    virtual ~Place() = default;

    /// Must be called before the look that precedes a wait.
    void begin_look() noexcept;

   protected:
    /// `row` outlives it.
    explicit Place(WaitingRow& row) noexcept : row_(row) {}
    /// Joins the row at its end. From then on, until leave(), notify() may be called.
    void join();
    void leave() noexcept;
    /// How a wait begins.
    enum class Arming : std::uint8_t {
      kWoken,  // a wake-up came since begin_look(), or all waits have ended: there is nothing to wait for
      kFirst,  // it is the first in the row
      kLater,
    };
    /// Begins a wait. The next wake-up calls notify(), once, unless disarm() comes first.
    Arming arm() noexcept;
    Arming arm_locked() noexcept VARVE_REQUIRES(row_.mutex_);
    /// Ends a wait. Returns false if notify() was called.
    bool disarm() noexcept;

    /// Called under the row's mutex for a wake-up.
    virtual void notify() noexcept = 0;

    WaitingRow& row_;

   private:
    friend class WaitingRow;
    // Under the row's mutex:
    bool is_woken_ = false;
    bool is_armed_ = false;
  };

  /// The place of a thread.
  class Waiter final : public Place {
   public:
    /// Joins the row. `row` and the token's source outlive it.
    Waiter(WaitingRow& row, std::stop_token stop);
    ~Waiter() override { leave(); }

    /// Waits for a wake-up since begin_look(), for a stop, or for the end of `time_max`. If this waiter is the first, it
    /// waits `look_in` at most. Returns false after a stop, and after `time_max`.
    bool wait(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> look_in = std::nullopt);

   private:
    bool wait_for_change(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> look_in);
    void notify() noexcept override { changed_.notify_one(); }

    std::stop_token stop_;
    io::Condition changed_;
  };

  /// Wakes as many waiters, those who wait longest first. Called after a commit is published.
  void wake(std::size_t waiters) noexcept;
  void wake_all() noexcept { wake(SIZE_MAX); }
  /// Ends all waits, and prevents new ones.
  void end_waits() noexcept;
  bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

 private:
  void wake_locked(std::size_t waiters) noexcept VARVE_REQUIRES(mutex_);

  io::Scheduler& scheduler_;
  const Wakes wakes_;
  std::atomic<bool> has_ended_{false};
  io::Mutex mutex_;  // a wake-up is posted under it
  std::deque<Place*> places_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
