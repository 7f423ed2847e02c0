// Owns: the state of a queue in memory: the messages that gets are taking, and the gets that wait.
// Must never: be the only place of something that must survive.
//
// L1  A sequence is claimed by one get at a time. The claim ends after the get's commit is published, or refused.
// L2  A commit that makes messages visible wakes as many waiters as it has messages, after its publication. Those who
//     wait longest are woken first. A waiter that leaves wakes the next one, so that no wake-up is lost.
// L3  The first waiter also waits for the time at which the next hidden message is visible. The others need not.
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

/// The state of one id. Any thread.
class LiveQueue {
 public:
  LiveQueue(const io::Env& env, format::TableId queue, std::uint32_t message_limit, MessageIdentity names)
      : id(queue), message_bytes_max(message_limit), identity(names), env_(env), mutex_(env.scheduler) {}

  const format::TableId id;
  const std::uint32_t message_bytes_max;
  const MessageIdentity identity;

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

  /// The place of a get in the row of those who wait.
  class Waiter {
   public:
    /// Joins the row at its end. `queue` and the token's source outlive it.
    Waiter(LiveQueue& queue, std::stop_token stop);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    /// Must be called before the look for messages that precedes wait().
    void begin_look() noexcept;
    /// Waits for a wake-up since begin_look(), for a stop, or for the end of `time_max`. If this waiter is the first, it
    /// waits `until_visible` at most. Returns false after a stop, and after `time_max`.
    bool wait(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> until_visible);

   private:
    friend class LiveQueue;
    bool wait_for_change(std::chrono::nanoseconds time_max, std::optional<std::chrono::nanoseconds> until_visible);

    LiveQueue& queue_;
    std::stop_token stop_;
    io::Condition changed_;
    bool is_woken_ = false;  // under the queue's mutex
  };

  /// Wakes as many waiters. Called after a commit is published.
  void wake(std::size_t messages) noexcept;
  void wake_all() noexcept { wake(SIZE_MAX); }

 private:
  void wake_locked(std::size_t waiters) noexcept VARVE_REQUIRES(mutex_);

  const io::Env& env_;
  std::atomic<std::uint32_t> next_stripe_{0};
  io::Mutex mutex_;  // a leaf
  std::unordered_set<Sequence> claimed_ VARVE_GUARDED_BY(mutex_);
  std::deque<Waiter*> waiters_ VARVE_GUARDED_BY(mutex_);
};

/// The queues of a store that are in use. Any thread.
class QueueBoard {
 public:
  /// `env` outlives it.
  explicit QueueBoard(const io::Env& env) : env_(env), mutex_(env.scheduler) {}

  /// Returns the state of the id, or null if it is not in use.
  std::shared_ptr<LiveQueue> find(format::TableId id) const;
  /// Returns the state of the id, made anew if it is not in use.
  std::shared_ptr<LiveQueue> add(format::TableId id, std::uint32_t message_bytes_max, std::uint64_t secret);
  /// Wakes those who wait at the id, or at all ids of the account, because the queue has another id or is gone.
  void wake_all_at(format::TableId id) const noexcept;
  void wake_all_of(std::uint32_t account) const noexcept;

 private:
  static constexpr std::size_t kUnusedMax = 4096;

  void let_some_go() VARVE_REQUIRES(mutex_);

  const io::Env& env_;
  mutable io::Mutex mutex_;  // a leaf
  std::map<format::TableId, std::shared_ptr<LiveQueue>> queues_ VARVE_GUARDED_BY(mutex_);
  std::size_t sweep_at_ VARVE_GUARDED_BY(mutex_) = kUnusedMax;
};

}  // namespace varve
