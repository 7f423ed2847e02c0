// Owns: the places of visible messages that a walk saw beyond what its get took, for the gets that come next.
// Must never: let a get pass a message that comes before the one it takes, or be believed: a place is a hint.
//
// H1  The list has each message that is before its last place, was visible at the time of the walk, and was not taken
//     since. What becomes visible with time comes after the last place.
// H2  A commit that lets a message wait reports the time of visibility after its publication, before its caller learns of it.
//     A time at or before the last place ends the list. While a walk makes a list, the least reported time bounds it. The view
//     of that walk was made after begin().
// H3  A get that claimed a message, and leaves it in its place, ends the list: a walk had left the message to that get.
// H4  The get looks for the message in its own view, which is not older than that of the walk. The commit judges it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "api/queue/message_rows.h"
#include "engine/engine.h"

namespace varve {

/// One thread at a time may use it.
class PlacesAhead {
 public:
  /// Places of a list. The first one that finds enough is longer than those before, up to this.
  static constexpr std::size_t kFew = 8;
  static constexpr std::size_t kMany = 64;

  /// Walks that begin beside one that makes a list. The next one makes the list instead: the thread of the first may rest.
  static constexpr std::size_t kBesideMax = 16;

  /// The making of a list.
  struct Making {
    std::uint64_t number = 0;
    /// How many places to see ahead. Zero: no list is made, and neither end() nor give_up() follows.
    std::size_t wanted = 0;
  };
  /// A get begins a walk. The first walk makes no list, and neither do most walks of a queue that has no messages to spare.
  Making begin() noexcept;
  /// The walk saw these places, in the order of delivery, in a view of this version. They are ignored if another walk makes
  /// the list now.
  void end(const Making& making, std::vector<TimedPlace> places, engine::CommitVersion version) noexcept;
  void give_up(const Making& making) noexcept;

  /// A message waits since this time (H2).
  void note(Ticks visible) noexcept;
  /// Ends the list, and that which is being made.
  void forget() noexcept { note(0); }

  /// Returns the first place, or null if there is none that a reader at this version and time may use.
  const TimedPlace* first(engine::CommitVersion version, Ticks now) const noexcept;
  /// Removes the first place, which exists.
  void pop() noexcept;
  /// A get claims this message. So it need not be found here.
  void pass(Sequence sequence) noexcept;

 private:
  static constexpr std::size_t kRestMax = 63;

  bool is_empty() const noexcept { return next_ == places_.size(); }
  void clear() noexcept;

  std::vector<TimedPlace> places_;
  std::size_t next_ = 0;
  engine::CommitVersion version_ = 0;
  std::uint64_t making_ = 0;  // the number of the making; zero: no list is being made
  std::uint64_t makings_ = 0;
  std::size_t beside_ = 0;                                 // walks that began since
  Ticks least_noted_ = std::numeric_limits<Ticks>::max();  // since begin()
  std::size_t size_ = 0;                                   // of the next list
  std::size_t rest_ = 0;                                   // walks without a list, after one that saw nothing ahead
  std::size_t rest_left_ = 0;
};

}  // namespace varve
