// Owns: the account of bytes that large operations of one connection have on their way to the cluster or from it.
// Must never: let a write of the log wait, or count an operation that has an answer while another one waits.
#pragma once

#include <chrono>
#include <cstdint>

#include "io/clock.h"
#include "io/rados/object_door.h"
#include "io/scheduler.h"

namespace varve::io {

/// Operations take their bytes before they are sent. If there is no room, they wait in the order in which they came. Any
/// thread may use it. Neither it nor a share allocates.
class BytesInFlight {
 public:
  /// The bytes of one operation, given back at the end of its life. One thread at a time may use it.
  class Share {
   public:
    Share() noexcept = default;
    ~Share() { give_back(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Names the change that was sent with these bytes, which must stay until unwatch() or give_back(). When it has its
    /// answer and another operation waits, the account takes the bytes back by itself: its maker may have other things to do.
    void watch(SentChange& sent) noexcept;
    /// Must be called before another call of the change.
    void unwatch() noexcept;
    /// Also if nothing was taken.
    void give_back() noexcept;
    /// For a fork: the bytes stay with the parent.
    void leave_to_parent() noexcept { account_ = nullptr; }

   private:
    friend class BytesInFlight;
    BytesInFlight* account_ = nullptr;  // while the maker has not given it back
    // Guarded by the mutex of the account.
    std::uint64_t bytes_ = 0;  // zero if the account took them back
    SentChange* sent_ = nullptr;
    Share* before_ = nullptr;
    Share* after_ = nullptr;
  };

  /// The referenced objects must outlive this one, and this one all shares.
  BytesInFlight(Scheduler& scheduler, Clock& clock, std::uint64_t bytes_max) noexcept;

  /// Takes the bytes if there is room and no other operation waits. More bytes than the limit count as that many.
  bool try_take(Share& share, std::uint64_t bytes) noexcept;
  /// Waits for room, for `patience` at most, or without end if it is zero. Returns false after that. A caller that has a
  /// change on its way whose share is not watched must not wait.
  bool take(Share& share, std::uint64_t bytes, std::chrono::milliseconds patience) noexcept;
  std::uint64_t bytes() noexcept;

 private:
  /// How often the first one that waits looks for changes that were answered.
  static constexpr std::chrono::milliseconds kLookEvery{10};
  struct Waiter {
    Waiter* after = nullptr;
  };

  bool has_room(std::uint64_t bytes) const noexcept VARVE_REQUIRES(mutex_);
  /// Takes bytes of answered changes back until there is room. Returns whether there is.
  bool make_room(std::uint64_t bytes) noexcept VARVE_REQUIRES(mutex_);
  void enter(Share& share, std::uint64_t bytes) noexcept VARVE_REQUIRES(mutex_);
  void leave(Share& share) noexcept VARVE_REQUIRES(mutex_);
  void join(Waiter& waiter) noexcept VARVE_REQUIRES(mutex_);
  void part(Waiter& waiter) noexcept VARVE_REQUIRES(mutex_);

  Clock& clock_;
  const std::uint64_t bytes_max_;
  Mutex mutex_;
  Condition changed_;
  std::uint64_t bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  Share* oldest_ VARVE_GUARDED_BY(mutex_) = nullptr;
  Share* newest_ VARVE_GUARDED_BY(mutex_) = nullptr;
  Waiter* first_ VARVE_GUARDED_BY(mutex_) = nullptr;
  Waiter* last_ VARVE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace varve::io
