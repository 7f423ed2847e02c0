// Owns: who holds the room in a write budget, who waits for it, and who is asked to give it back.
// Must never: wait for one store under a lock of another one. A store that is asked is told so by a flag, and its own
// background threads seal and flush its memtable.
//
// W1  a commit that fits an empty budget waits until it has its room. It is refused only if the room that it lacks is
//     held by stores that cannot write it to tables, or by readers and closing stores for longer than kQuietMax.
// W2  waiting commits get room in their order. The first one keeps what it has gathered, so that no stream of small
//     commits holds up a large one. No other one keeps anything, so that no two of them wait for each other.
// W3  a lone store that finds room is asked nothing, and takes no lock here except when a memtable is sealed or
// flushed.
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

/// A store that can give room back. Called under the room's mutex: sets a flag, wakes a thread, and returns.
class RoomGiver {
 public:
  virtual ~RoomGiver() = default;
  /// The store's background threads seal the active memtable if it holds anything, and flush what is sealed. A flush
  /// that rests after a failure is tried again at once.
  virtual void make_room() noexcept = 0;
  /// There is room again, after a commit of this store was refused for want of it.
  virtual void room_came() noexcept = 0;
};

/// Room that was gathered for one commit, counted as used. What the commit does not use goes back at the end.
class RoomGrant {
 public:
  RoomGrant() noexcept = default;
  RoomGrant(const RoomGrant&) = delete;
  RoomGrant& operator=(const RoomGrant&) = delete;
  ~RoomGrant() { let_go(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// The memtable of the commit counts them from now on.
  void hand_over() noexcept { bytes_ = 0; }
  /// Before a wait for what another commit may have that waits for room.
  void let_go() noexcept {
    if (bytes_ > 0) budget_->give_back(std::exchange(bytes_, 0));
  }

 private:
  friend class WriteRoom;
  WriteBudget* budget_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// What a commit needs that found no room, in bytes.
struct RoomNeed {
  std::uint64_t in_active = 0;  // of the memtable that was active then; zero: it lacks nothing
  std::uint64_t in_fresh = 0;   // of an empty one
  BudgetPart part = BudgetPart::kCommon;
};

/// How a wait for room ended.
struct RoomAnswer {
  /// Whose cause it is, where it is one that ends by itself.
  enum class Pause : std::uint8_t { kNone, kOwn, kOthers };
  Status status;
  Pause pause = Pause::kNone;
};

class WriteRoom {
 public:
  /// A commit that nothing comes to is refused after this.
  static constexpr std::chrono::milliseconds kQuietMax{1000};
  /// For so long the failure of a flush is the answer to all who ask. Later a further attempt is made for them.
  static constexpr std::chrono::milliseconds kFailureIsFresh{100};

  /// What the room knows of one store, under its mutex.
  struct Holder {
    std::string name;  // for people
    RoomGiver* giver = nullptr;
    const Memtable* active = nullptr;
    std::uint64_t sealed_bytes = 0;
    Status failure;                         // of the last attempt to flush; Ok after a success
    std::uint64_t failure_number = 0;       // of this failure, in the room's row of all
    std::chrono::nanoseconds failed_at{0};  // by its own clock
    io::Clock* clock = nullptr;
    bool has_joined = false;
    bool was_asked = false;
    bool has_ended = false;  // it never flushes again
    bool is_closing = false;
    bool awaits_room = false;
    RoomNeed awaited;                           // of the commit that was refused last, while the store awaits room
    std::atomic<std::uint64_t> stuck_bytes{0};  // its part of WriteBudget::stuck_bytes()
  };

  /// For WriteBudget alone.
  WriteRoom(WriteBudget& budget, io::Scheduler& scheduler) noexcept;
  bool is_on(const io::Scheduler& scheduler) const noexcept { return scheduler.simulation() == simulation_; }
  void tell_of_room() noexcept;

  // For WriteShare alone, which has the words.
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
  /// The moment of a question: failures that are not older are its answer.
  struct Moment {
    std::chrono::nanoseconds now{0};
    std::uint64_t failures_before = 0;
  };
  struct Waiter {
    Waiter* next = nullptr;
    std::uint64_t failures_before = 0;
  };
  /// Why a commit gets no room.
  struct Refusal {
    enum class Why : std::uint8_t { kNone, kTooLarge, kOwnFailure, kNeighbour, kClosing, kClosingNeighbour, kReaders };
    Why why = Why::kNone;
    Status cause;  // that of a neighbour begins with its name
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
  void tell_if_room_is_there(Holder& holder) noexcept VARVE_REQUIRES(mutex_);
  void count_stuck(Holder& holder) noexcept VARVE_REQUIRES(mutex_);
  void enter(Waiter& me, bool is_first) noexcept VARVE_REQUIRES(mutex_);
  void exit(const Waiter& me) noexcept VARVE_REQUIRES(mutex_);
  void put_back(RoomGrant& grant) noexcept VARVE_REQUIRES(mutex_);
  RoomAnswer told(const Refusal& refusal, const RoomNeed& need) const noexcept;

  WriteBudget& budget_;
  io::Simulation* const simulation_;
  std::atomic<std::size_t> holder_count_{0};

  io::Mutex mutex_;  // before the mutexes of stores that are called under it
  io::Condition changed_;
  std::vector<Holder*> holders_ VARVE_GUARDED_BY(mutex_);
  Waiter* first_ VARVE_GUARDED_BY(mutex_) = nullptr;
  std::uint64_t failures_ VARVE_GUARDED_BY(mutex_) = 0;
};

/// One store's part in a write budget. Any thread; join() and leave() by one.
class WriteShare {
 public:
  /// `name` is what others are told of it: the store's path. Throws std::bad_alloc.
  WriteShare(std::shared_ptr<WriteBudget> budget, const io::Env& env, std::string_view name);
  ~WriteShare() { leave(); }
  WriteShare(const WriteShare&) = delete;
  WriteShare& operator=(const WriteShare&) = delete;

  const std::shared_ptr<WriteBudget>& budget() const noexcept { return budget_; }

  // The budget as this store may hope for it: without what other stores hold and cannot give back.
  std::uint64_t used_bytes() const noexcept {
    const std::uint64_t used = budget_->used_bytes();
    return used - std::min(used, lost_bytes());
  }
  std::uint64_t bytes_max() const noexcept {
    const std::uint64_t bytes_max = budget_->bytes_max();
    return bytes_max - std::min(bytes_max, lost_bytes());
  }

  /// From now on the store is asked. Both outlive the time until leave(). Throws std::bad_alloc.
  void join(RoomGiver& giver, const Memtable& active);
  void leave() noexcept;
  /// `next` is the active memtable now; the one before it, of `bytes`, waits to be flushed.
  void note_sealed(const Memtable& next) noexcept {
    if (room_) room_->note_sealed(holder_, next);
  }
  void note_flushed(std::uint64_t bytes) noexcept {
    if (room_) room_->note_flushed(holder_, bytes);
  }
  /// An attempt to flush failed. With `for_good` there is no other one.
  void note_failed(const Status& failure, bool for_good) noexcept {
    if (room_) room_->note_failed(holder_, failure, for_good);
  }
  /// Whatever make_room() asked for has begun.
  void note_answered() noexcept {
    if (room_) room_->note_answered(holder_);
  }
  /// Nothing more is flushed, and what the store holds goes when it is closed.
  void note_closing() noexcept {
    if (room_) room_->note_closing(holder_);
  }

  /// Waits until `grant` has the room that a commit of this store lacked. Not by a holder of the lead.
  /// Errors: why there is none: kNoSpace (too large; held by others), kClosed, and how this store's own flush failed.
  RoomAnswer wait_for(const RoomNeed& need, RoomGrant& grant) noexcept;
  /// The giver is told once there is room for this again; at once if there is.
  void tell_when_room_comes(const RoomNeed& need) noexcept {
    if (room_) room_->tell_when_room_comes(holder_, need);
  }
  /// Asks other stores for room if they hold much, before a commit of this one is held back.
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
