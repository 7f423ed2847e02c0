// Owns: the state of a queue in memory: the messages that gets are taking, and the gets that wait.
// Must never: be the only place of something that must survive.
//
// L1  A sequence is claimed by one get at a time. The claim ends after the get's commit is published, or refused.
// L2  A commit that makes messages visible wakes as many waiters as it has messages, after its publication. Those who
//     wait longest are woken first (waiting_row.h).
// L3  The first waiter also waits for the time at which the next hidden message is visible. The others need not. A get that
//     meets the claim of another does not see until when that one hides the message. So the end of the claim wakes the first
//     waiter.
// L4  A message was held when the store was opened if its row is not younger than the open, and it was delivered before.
//     Such rows become fewer only, since every change makes a row younger. So the mark below which there is none never
//     goes down (QX-10).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "api/commit/waiting_row.h"
#include "api/queue/message_identity.h"
#include "api/queue/message_rows.h"
#include "api/queue/places_ahead.h"
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
        may_have_released_(traits.release_on_open && opened.version != 0),
        mutex_(env.scheduler),
        released_from_{opened.time + 1, 0},
        row_(env.scheduler, WaitingRow::Wakes::kOne) {}

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
    /// Claims the first message that a walk saw ahead, and that no get has. Returns its place, or nothing if a reader at
    /// this version and time knows none.
    std::optional<TimedPlace> claim_ahead(engine::CommitVersion version, Ticks now);
    /// Ends the newest claim: the message is no longer in that place.
    void let_go_of_newest() noexcept;
    /// The places ahead have left one after another, so the rest is forgotten.
    void forget_ahead() noexcept;
    /// All claimed messages have left their places. Without this call, the end of the claims ends the list of places ahead.
    void settle() noexcept { are_settled_ = true; }

   private:
    bool end() noexcept;

    LiveQueue& queue_;
    std::vector<Sequence> own_;
    bool has_let_go_ = false;
    bool are_settled_ = false;
  };

  /// The list of places ahead that a walk may make. It is constructed before the view of the walk.
  class Making {
   public:
    explicit Making(LiveQueue& queue) noexcept;
    ~Making();
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

    /// Returns how many places to see. Zero: no list is made.
    std::size_t places_wanted() const noexcept { return making_.wanted; }
    /// Called once, if a list is made.
    void end(std::vector<TimedPlace> places, engine::CommitVersion version) noexcept;

   private:
    LiveQueue& queue_;
    PlacesAhead::Making making_;
  };

  /// Reports that a published commit lets a message wait, visible from this time on (H2 of places_ahead.h).
  void note_waiting(Ticks visible) noexcept;

  /// Returns whether a get is taking messages.
  bool has_claims() const noexcept;

  /// The gets that wait for a message.
  WaitingRow& row() noexcept { return row_; }
  /// Wakes as many waiters. Called after a commit is published.
  void wake(std::size_t messages) noexcept { row_.wake(messages); }
  void wake_all() noexcept { row_.wake_all(); }
  /// Ends all waits, and prevents new ones: the store is closed.
  void end_waits() noexcept { row_.end_waits(); }
  bool has_ended() const noexcept { return row_.has_ended(); }

 private:
  std::atomic<std::uint32_t> next_stripe_{0};
  std::atomic<bool> may_have_released_;
  mutable io::Mutex mutex_;
  TimedPlace released_from_ VARVE_GUARDED_BY(mutex_);
  std::unordered_set<Sequence> claimed_ VARVE_GUARDED_BY(mutex_);
  bool was_claim_met_ VARVE_GUARDED_BY(mutex_) = false;  // by another get, since the last end of a claim
  WaitingRow row_;
  PlacesAhead ahead_ VARVE_GUARDED_BY(mutex_);
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
