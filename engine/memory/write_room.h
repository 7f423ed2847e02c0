// Owns: the account of a write budget: which stores hold room, which commits wait for room, and which stores are asked
// to give room back.
// Must never: wait for one store under a lock of another store. A flag asks a store, and the store's own background
// threads seal and flush its memtable.
//
// W1  A commit that fits an empty budget waits until it has its room. It is refused only if other holders keep the room
//     that it lacks. Those are stores that cannot flush, or, for longer than kQuietMax, readers and closing stores.
// W2  Waiting commits get room in their order. The first waiter keeps the room that it has gathered, so that no stream
//     of small commits holds up a large one. The other waiters keep nothing, so no two of them wait for each other.
// W3  A lone store that finds room is never asked. It takes a lock here only when a memtable is sealed or flushed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/memory/write_budget.h"
#include "io/env.h"
#include "io/scheduler.h"
#include "varve/status.h"

namespace varve::engine {

class Memtable;

/// A store that can give room back. Its functions are called under the room's mutex. Each sets a flag, wakes a thread,
/// and returns.
class RoomGiver {
 public:
  virtual ~RoomGiver() = default;
  /// Asks for room. The store's background threads seal the active memtable if it has entries, and flush the sealed
  /// memtables. A flush that pauses after a failure is retried at once.
  virtual void make_room() noexcept = 0;
  /// Reports that there is room again, or that stores would give it, after a commit of this store was refused for lack of
  /// room.
  virtual void room_came() noexcept = 0;
};

/// Room gathered for one commit, counted as used. The destructor gives back the bytes that the commit did not use.
class RoomGrant {
 public:
  RoomGrant() noexcept = default;
  RoomGrant(const RoomGrant&) = delete;
  RoomGrant& operator=(const RoomGrant&) = delete;
  ~RoomGrant() { let_go(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Ends the grant: from now on the commit's memtable counts the bytes.
  void hand_over() noexcept { bytes_ = 0; }
  /// Gives the bytes back. A commit calls it before it waits for anything that another waiting commit may hold.
  void let_go() noexcept {
    if (bytes_ > 0) budget_->give_back(std::exchange(bytes_, 0));
  }

 private:
  friend class WriteRoom;
  WriteBudget* budget_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// The bytes that a commit lacked when it found no room.
struct RoomNeed {
  std::uint64_t in_active = 0;  // needed in the memtable that was active then; zero: lacks nothing
  std::uint64_t in_fresh = 0;   // needed in an empty memtable
  BudgetPart part = BudgetPart::kCommon;
};

/// The result of a wait for room.
struct RoomAnswer {
  /// If the cause ends by itself: whether it is this store's own or that of other stores.
  enum class Pause : std::uint8_t { kNone, kOwn, kOthers };
  Status status;
  Pause pause = Pause::kNone;
};

class WriteRoom {
 public:
  /// Time after which a waiting commit is refused if no room has come.
  static constexpr std::chrono::milliseconds kQuietMax{1000};
  /// Time for which a failed flush is the answer to every waiting commit. Later, a commit causes another attempt.
  static constexpr std::chrono::milliseconds kFailureIsFresh{100};

  /// The room's data about one store, guarded by the room's mutex.
  struct Holder {
    std::string name;  // for messages
    RoomGiver* giver = nullptr;
    const Memtable* active = nullptr;
    std::uint64_t sealed_bytes = 0;
    Status failure;                         // of the last attempt to flush; Ok after a success
    std::uint64_t failure_number = 0;       // its number among the failures of all stores
    std::chrono::nanoseconds failed_at{0};  // by the store's own clock
    io::Clock* clock = nullptr;
    bool has_joined = false;
    bool was_asked = false;
    bool has_ended = false;  // it never flushes again
    bool is_closing = false;
    bool awaits_room = false;
    RoomNeed awaited;                           // of the last refused commit, while the store awaits room
    std::atomic<std::uint64_t> stuck_bytes{0};  // its part of WriteBudget::stuck_bytes()
  };

  /// Called only by WriteBudget.
  WriteRoom(WriteBudget& budget, io::Scheduler& scheduler) noexcept;
  bool is_on(const io::Scheduler& scheduler) const noexcept { return scheduler.simulation() == simulation_; }
  void tell_of_room() noexcept;

  // Called only by WriteShare, which documents them.
  void join(Holder& holder);
  void leave(Holder& holder) noexcept;
  void note_sealed(Holder& holder, const Memtable& next) noexcept;
  void note_flushed(Holder& holder, std::uint64_t bytes) noexcept;
  void note_failed(Holder& holder, const Status& failure, bool for_good) noexcept;
  void note_answered(Holder& holder) noexcept;
  void note_closing(Holder& holder) noexcept;
  RoomAnswer wait_for(Holder& own, const RoomNeed& need, RoomGrant& grant) noexcept;
  void tell_when_room_comes(Holder& own, const RoomNeed& need) noexcept;
  void relieve(const Holder& own) noexcept;

 private:
  /// The moment of a commit's question. Failures after that moment are its answer.
  struct Moment {
    std::chrono::nanoseconds now{0};
    std::uint64_t failures_before = 0;
  };
  struct Waiter {
    Waiter* next = nullptr;
    std::uint64_t failures_before = 0;
  };
  /// The reason why a commit gets no room.
  struct Refusal {
    enum class Why : std::uint8_t { kNone, kTooLarge, kOwnFailure, kNeighbour, kClosing, kClosingNeighbour, kReaders };
    Why why = Why::kNone;
    Status cause;  // begins with the neighbour's name if it is a neighbour's
  };

  static std::uint64_t held_bytes(const Holder& holder) noexcept;
  static bool is_stuck(const Holder& holder, const Moment& at) noexcept;
  static std::uint64_t bytes_to_give(const Holder& holder) noexcept;
  static bool can_be_asked(const Holder& holder, const Moment& at) noexcept;
  static std::uint64_t bytes_to_come(const Holder& holder, const Moment& at) noexcept;

  Refusal gather(Holder& own, const RoomNeed& need, RoomGrant& grant, Waiter& me) noexcept VARVE_REQUIRES(mutex_);
  bool take_for(const RoomNeed& need, const Moment& at, RoomGrant& grant) noexcept VARVE_REQUIRES(mutex_);
  std::uint64_t wanted_bytes(const RoomNeed& need, const Moment& at) const noexcept VARVE_REQUIRES(mutex_);
  Refusal refusal_by_stuck(const Holder& own, const RoomNeed& need, const Moment& at) const noexcept
      VARVE_REQUIRES(mutex_);
  Refusal refusal_by_quiet(const Holder& own) const noexcept VARVE_REQUIRES(mutex_);
  void ask_for(std::uint64_t bytes, const Moment& at, const Holder* except) noexcept VARVE_REQUIRES(mutex_);
  std::uint64_t stuck_bytes(const Moment& at) const noexcept VARVE_REQUIRES(mutex_);
  std::uint64_t coming_bytes(const Moment& at) const noexcept VARVE_REQUIRES(mutex_);
  bool is_any_coming(const Moment& at) const noexcept VARVE_REQUIRES(mutex_);
  void relieve_locked(const Holder& own) noexcept VARVE_REQUIRES(mutex_);
  std::uint64_t flushable_bytes() const noexcept VARVE_REQUIRES(mutex_);
  void tell_if_room_is_there(Holder& holder) noexcept VARVE_REQUIRES(mutex_);
  void count_stuck(Holder& holder) noexcept VARVE_REQUIRES(mutex_);
  void enter(Waiter& me, bool is_first) noexcept VARVE_REQUIRES(mutex_);
  void exit(const Waiter& me) noexcept VARVE_REQUIRES(mutex_);
  void put_back(RoomGrant& grant) noexcept VARVE_REQUIRES(mutex_);
  RoomAnswer told(const Refusal& refusal, const RoomNeed& need) const noexcept;

  WriteBudget& budget_;
  io::Simulation* const simulation_;
  std::atomic<std::size_t> holder_count_{0};

  io::Mutex mutex_;  // locked before the mutexes of stores that are called under it
  io::Condition changed_;
  std::vector<Holder*> holders_ VARVE_GUARDED_BY(mutex_);
  Waiter* first_ VARVE_GUARDED_BY(mutex_) = nullptr;
  std::uint64_t failures_ VARVE_GUARDED_BY(mutex_) = 0;
};

/// One store's part in a write budget. Thread-safe; only one thread calls join() and leave().
class WriteShare {
 public:
  /// `name` is the store's path, for messages to other stores. Throws std::bad_alloc.
  WriteShare(std::shared_ptr<WriteBudget> budget, const io::Env& env, std::string_view name);
  ~WriteShare() { leave(); }
  WriteShare(const WriteShare&) = delete;
  WriteShare& operator=(const WriteShare&) = delete;

  const std::shared_ptr<WriteBudget>& budget() const noexcept { return budget_; }

  // The budget that this store can hope for: without the bytes that other stores hold and cannot give back.
  std::uint64_t used_bytes() const noexcept {
    const std::uint64_t used = budget_->used_bytes();
    return used - std::min(used, lost_bytes());
  }
  std::uint64_t bytes_max() const noexcept {
    const std::uint64_t bytes_max = budget_->bytes_max();
    return bytes_max - std::min(bytes_max, lost_bytes());
  }

  /// Lets other stores ask this store for room. Both arguments stay valid until leave(). Throws std::bad_alloc.
  void join(RoomGiver& giver, const Memtable& active);
  void leave() noexcept;
  /// Reports that `next` is the active memtable now, and that the one before it waits for a flush.
  void note_sealed(const Memtable& next) noexcept {
    if (room_) room_->note_sealed(holder_, next);
  }
  void note_flushed(std::uint64_t bytes) noexcept {
    if (room_) room_->note_flushed(holder_, bytes);
  }
  /// Reports a failed flush. With `for_good`, no attempt follows.
  void note_failed(const Status& failure, bool for_good) noexcept {
    if (room_) room_->note_failed(holder_, failure, for_good);
  }
  /// Reports that the work that make_room() asked for has begun.
  void note_answered() noexcept {
    if (room_) room_->note_answered(holder_);
  }
  /// Reports that the store closes: it flushes nothing more, and frees its memory at the end of the close.
  void note_closing() noexcept {
    if (room_) room_->note_closing(holder_);
  }

  /// Waits until `grant` has the room that a commit of this store lacked. The holder of the lead must not call it.
  /// Errors: the reason why there is none: kNoSpace (too large; held by others), kClosed, or the error of this store's
  /// own flush.
  RoomAnswer wait_for(const RoomNeed& need, RoomGrant& grant) noexcept;
  /// Notifies the giver once a commit with this `need` would get its room again; at once if it would now.
  void tell_when_room_comes(const RoomNeed& need) noexcept {
    if (room_) room_->tell_when_room_comes(holder_, need);
  }
  /// Asks other stores for room if they hold much, before a commit of this store has to wait.
  void relieve() noexcept {
    if (room_) room_->relieve(holder_);
  }

 private:
  std::uint64_t lost_bytes() const noexcept {
    const std::uint64_t stuck = budget_->stuck_bytes();
    return stuck == 0 ? 0 : stuck - std::min(stuck, holder_.stuck_bytes.load(std::memory_order_relaxed));
  }

  const std::shared_ptr<WriteBudget> budget_;
  const std::shared_ptr<WriteRoom> room_;
  WriteRoom::Holder holder_;
};

}  // namespace varve::engine
