// Owns: the memory budget that the requests and answers of all connections share, and the memory of each connection.
// Must never: wait, or cut off a connection that is being served while stalled connections could release memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "api/rest/protocol/answer_room.h"

namespace varve::serve {

/// The memory of all connections from one client address.
struct AddressUse {
  std::uint64_t shares = 0;
  std::atomic<std::uint64_t> bytes{0};
  std::uint64_t of_headers = 0;
  std::uint64_t of_streams = 0;
  std::uint64_t active_streams = 0;
  std::uint64_t walk = 0;  // the last walk along the line that passed over this address
};

/// Can be used by any thread. Small requests and answers (up to kFreeBytes) are not counted: the limit of connections
/// reserves room for them.
class ByteBudget {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint64_t kFreeBytes = kSmallAnswerBytes;
  /// A connection that moves fewer bytes than kFreeBytes in this time is stalled.
  static constexpr std::chrono::milliseconds kStallTime{1000};

  enum class Use : std::uint8_t {
    /// Headers of a client that is not authenticated yet. All such clients together may use an eighth of the budget.
    kHeaders,
    kBody,
    kAnswer,
    /// A body that is read in pieces. All of them together, and those of one address, leave a quarter to the other uses.
    kStream,
  };

  /// The owner of a share, which can be asked to release all of its memory.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Releases the share's memory soon, on the owner's own thread. Called under the budget's lock. Returns false, and
    /// does nothing, if memory ran out.
    virtual bool cut_off() noexcept = 0;
    /// Says that take_turn() may succeed now. Called under the budget's lock, on any thread. May be lost if memory runs
    /// out, so a waiting owner also looks from time to time.
    virtual void look_again() noexcept {}
  };

  /// The memory of one connection. One thread calls its functions.
  class Share {
   public:
    /// Budget and owner must outlive it. `address` is the client's address. One address may use at most half of the
    /// budget.
    Share(ByteBudget& budget, const std::string& address, Owner& owner);
    /// Calls give_back().
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Sets the memory of this share to `bytes` in total. Returns false if there is no room. In that case stalled
    /// connections were cut off to make room, so a retry after a moment may succeed. If no other memory is in use, an
    /// answer always has room.
    bool take(Use use, std::uint64_t bytes, Clock::time_point now);
    /// Does the same as take(), but exceeds the budget if necessary. Used for memory that is allocated already.
    void take_anyway(Use use, std::uint64_t bytes, Clock::time_point now);
    /// Sets the memory of this stream to `bytes` in total, or queues it. Returns false if the stream is queued: then it
    /// holds `held` bytes, and the owner calls this function again. Streams of one address are served in the order in
    /// which they came. No connection is cut off for them. If all streams wait, or all of an address for its room, one is
    /// served beyond the limit. Otherwise streams that hold a little would wait for each other.
    bool take_turn(std::uint64_t held, std::uint64_t bytes, Clock::time_point now);
    /// Records that `bytes` more were received or sent.
    void moved(std::uint64_t bytes, Clock::time_point now) noexcept;
    /// Marks the memory as in use by the server: the connection does not wait for its client, and is not cut off.
    void is_served() noexcept;
    void give_back() noexcept;
    bool holds() const noexcept { return bytes_ > 0; }
    /// Returns whether the budget, or the address's half of it, is used up. The caller should then begin no request.
    bool is_used_up() const noexcept;
    /// If the budget is used up, cuts off stalled connections.
    void make_room(Clock::time_point now);

   private:
    friend class ByteBudget;
    ByteBudget& budget_;
    Owner& owner_;
    std::map<std::string, AddressUse>::iterator address_;
    // The fields below are written under the budget's lock, where other threads read them.
    std::uint64_t bytes_ = 0;
    Use use_ = Use::kHeaders;
    bool is_moving_ = false;
    bool is_cut_ = false;
    Clock::time_point mark_{};
    std::uint64_t moved_ = 0;
    std::uint64_t ticket_ = 0;  // its place in line, if it waits
    std::uint64_t wanted_ = 0;
    bool is_woken_ = false;
  };

  explicit ByteBudget(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  std::uint64_t bytes() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  using Addresses = std::map<std::string, AddressUse>;
  bool has_room(const Share& share, Use use, std::uint64_t bytes) const noexcept;
  void set(Share& share, Use use, std::uint64_t bytes, Clock::time_point now);
  void count(Share& share, Use use, std::uint64_t bytes) noexcept;
  bool fits_ever(std::uint64_t bytes) const noexcept;
  bool is_over_address(const Share& share, Use use, std::uint64_t more) const noexcept;
  static bool is_active(const Share& share) noexcept {
    return share.use_ == Use::kStream && share.bytes_ > 0 && share.ticket_ == 0;
  }
  void count_active(const Share& share, std::uint64_t change) noexcept;
  void join_line(Share& share);
  void leave_line(Share& share) noexcept;
  /// Returns the stream in line that may take its memory now, or nullptr.
  Share* next_in_line() noexcept;
  Share* first_with_room() noexcept;
  /// Returns the first in line, of this address if one is given, that holds memory. If none does, returns the first.
  Share* first_holder(const AddressUse* address) const noexcept;
  void wake_next() noexcept;
  /// Cuts off stalled connections until there will be room for `bytes` of this share.
  void cut_off_for(const Share& share, Use use, std::uint64_t bytes, Clock::time_point now) noexcept;

  const std::uint64_t bytes_max_;
  std::mutex mutex_;
  Addresses addresses_;
  std::set<Share*> holders_;
  std::atomic<std::uint64_t> used_{0};
  std::uint64_t of_headers_ = 0;
  std::uint64_t of_streams_ = 0;
  std::uint64_t active_streams_ = 0;
  std::map<std::uint64_t, Share*> line_;  // by ticket
  std::uint64_t last_ticket_ = 0;
  std::uint64_t walk_ = 0;
};

}  // namespace varve::serve
