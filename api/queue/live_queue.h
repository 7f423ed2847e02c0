// Owns: the state of a queue in memory: the messages that gets are taking, and the gets that wait.
// Must never: be the only place of something that must survive.
//
// L1  A sequence is claimed by one get at a time. The claim ends after the get's commit is published, or refused.
// L2  A commit that makes messages visible wakes as many waiters as it has messages, after its publication. Those who
//     wait longest are woken first. A waiter that leaves wakes the next one, so that no wake-up is lost.
// L3  The first waiter also waits for the time at which the next hidden message is visible. The others need not.
// L4  A message was held when the store was opened if its row is not younger than the open, and it was delivered before.
//     Such rows become fewer only, since every change makes a row younger. So the mark below which there is none never
//     goes down (QX-10).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <unordered_set>
#include <vector>

#include "api/queue/message_identity.h"
#include "api/queue/message_rows.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "io/scheduler.h"

namespace varve {

/// What a queue's row says about its messages.
struct QueueTraits {
  std::uint32_t message_bytes_max = 0;
  bool release_on_open = false;
};

/// The moment at which the store was opened for writing.
struct OpenMoment {
  /// All commits of earlier opens have this version at most, and all of this open have a greater one.
  format::CommitVersion version = 0;
  /// All ticks that this open draws are above.
  Ticks time = 0;
};

/// The state of one id. Any thread.
class LiveQueue {
 public:
  LiveQueue(const io::Env& env, format::TableId queue, const QueueTraits& traits, MessageIdentity names,
            const OpenMoment& opened)
      : id(queue),
        message_bytes_max(traits.message_bytes_max),
        identity(names),
        opened_at(opened),
        env_(env),
        may_have_released_(traits.release_on_open && opened.version != 0),
        mutex_(env.scheduler),
        released_from_{opened.time + 1, 0} {}

  const format::TableId id;
  const std::uint32_t message_bytes_max;
  const MessageIdentity identity;
  const OpenMoment opened_at;

  /// Returns the place from which on there may be messages that the open released, or nothing if there is none.
  std::optional<TimedPlace> released_from() const noexcept;
  /// Raises the place. Nothing: there is no such message any more.
  void raise_released(const std::optional<TimedPlace>& place) noexcept;

  /// Returns the stripe of the counters that the next commit takes. Commits side by side take different ones.
  std::uint32_t next_stripe() noexcept {
    return next_stripe_.fetch_add(1, std::memory_order_relaxed) % kCounterStripes;
  }

  /// Messages that one get is taking.
  class Claims {
   public:
    explicit Claims(LiveQueue& queue) noexcept : queue_(queue) {}
    ~Claims();
    Claims(const Claims&) = delete;
    Claims& operator=(const Claims&) = delete;

    /// Returns false if another get has the message.
    bool try_claim(Sequence sequence);

   private:
    LiveQueue& queue_;
    std::vector<Sequence> own_;
  };

  /// The place of a get in the row of those who wait. What waits at it, a thread or a coroutine, derives from it.
  class Place {
   public:
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    virtual ~Place() = default;

    /// Must be called before the look for messages that precedes a wait.
    void begin_look() noexcept;

   protected:
    /// `queue` outlives it.
    explicit Place(LiveQueue& queue) noexcept : queue_(queue) {}
    /// Joins the row at its end. From then on, until leave(), notify() may be called.
    void join();
    void leave() noexcept;
    /// How a wait begins.
    enum class Arming : std::uint8_t {
      kWoken,  // a wake-up came since begin_look(), or the store is closed: there is nothing to wait for
      kFirst,  // it is the first in the row (L3)
      kLater,
    };
    /// Begins a wait. The next wake-up calls notify(), once, unless disarm() comes first.
    Arming arm() noexcept;
    Arming arm_locked() noexcept VARVE_REQUIRES(queue_.mutex_);
    /// Ends a wait. Returns false if notify() was called.
    bool disarm() noexcept;

    /// Called under the queue's mutex for a wake-up.
    virtual void notify() noexcept = 0;

    LiveQueue& queue_;

   private:
    friend class LiveQueue;
    // Under the queue's mutex:
    bool is_woken_ = false;
    bool is_armed_ = false;
  };

  /// The place of a thread.
  class Waiter final : public Place {
   public:
    /// Joins the row. `queue` and the token's source outlive it.
    Waiter(LiveQueue& queue, std::stop_token stop);
    ~Waiter() override { leave(); }

    /// Waits for a wake-up since begin_look(), for a stop, or for the end of `time_max`. If this waiter is the first, it
    /// waits `until_visible` at most. Returns false after a stop, and after `time_max`.
    bool wait(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> until_visible);

   private:
    bool wait_for_change(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> until_visible);
    void notify() noexcept override { changed_.notify_one(); }

    std::stop_token stop_;
    io::Condition changed_;
  };

  /// Wakes as many waiters. Called after a commit is published.
  void wake(std::size_t messages) noexcept;
  void wake_all() noexcept { wake(SIZE_MAX); }
  /// Ends all waits, and prevents new ones: the store is closed.
  void end_waits() noexcept;
  bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

 private:
  void wake_locked(std::size_t waiters) noexcept VARVE_REQUIRES(mutex_);

  const io::Env& env_;
  std::atomic<std::uint32_t> next_stripe_{0};
  std::atomic<bool> may_have_released_;
  std::atomic<bool> has_ended_{false};
  mutable io::Mutex mutex_;  // a wake-up is posted under it
  TimedPlace released_from_ VARVE_GUARDED_BY(mutex_);
  std::unordered_set<Sequence> claimed_ VARVE_GUARDED_BY(mutex_);
  std::deque<Place*> places_ VARVE_GUARDED_BY(mutex_);
};

/// The queues of a store that are in use. Any thread.
class QueueBoard {
 public:
  /// `env` outlives it. `opened` is empty in a store opened for reading only, which releases nothing.
  QueueBoard(const io::Env& env, const OpenMoment& opened) : env_(env), opened_(opened), mutex_(env.scheduler) {}

  /// Returns the state of the id, or null if it is not in use.
  std::shared_ptr<LiveQueue> find(format::TableId id) const;
  /// Returns the state of the id, made anew if it is not in use.
  std::shared_ptr<LiveQueue> add(format::TableId id, const QueueTraits& traits, std::uint64_t secret);
  /// Wakes those who wait at the id, or at all ids of the account, because the queue has another id or is gone.
  void wake_all_at(format::TableId id) const noexcept;
  void wake_all_of(std::uint32_t account) const noexcept;
  /// Ends all waits, and prevents new ones: the store is closed.
  void end_waits() noexcept;

 private:
  static constexpr std::size_t kUnusedMax = 4096;

  void let_some_go() VARVE_REQUIRES(mutex_);

  const io::Env& env_;
  const OpenMoment opened_;
  mutable io::Mutex mutex_;  // before the mutex of a queue
  bool has_ended_ VARVE_GUARDED_BY(mutex_) = false;
  std::map<format::TableId, std::shared_ptr<LiveQueue>> queues_ VARVE_GUARDED_BY(mutex_);
  std::size_t sweep_at_ VARVE_GUARDED_BY(mutex_) = kUnusedMax;
};

}  // namespace varve
