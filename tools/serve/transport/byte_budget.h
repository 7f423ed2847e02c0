// Owns: the memory that requests and answers of all connections hold together, and who has how much of it.
// Must never: wait, or take from who is being served what others could give: those that stand still are cut first.
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

/// What the connections of one client's address hold.
struct AddressUse {
  std::uint64_t shares = 0;
  std::atomic<std::uint64_t> bytes{0};
  std::uint64_t of_headers = 0;
};

/// Any thread. Small requests and answers (kFreeBytes) are not counted: connections are, which have room for them.
class ByteBudget {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint64_t kFreeBytes = kSmallAnswerBytes;
  /// Who moves fewer bytes than kFreeBytes in this time stands still.
  static constexpr std::chrono::milliseconds kStallTime{1000};

  enum class Use : std::uint8_t {
    /// Of a client that nobody knows yet: all of them have an eighth of the budget together.
    kHeaders,
    kBody,
    kAnswer,
  };

  /// Who can be asked to give everything back.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Soon, on a thread of its own. Called under the budget's lock.
    virtual void cut_off() = 0;
  };

  /// What one connection holds. Its verbs are called on one thread.
  class Share {
   public:
    /// Budget and owner outlive it. `address` is that of the client: one has half of the budget at most.
    Share(ByteBudget& budget, const std::string& address, Owner& owner);
    /// give_back().
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Holds `bytes` in all from now on. False: there is no room; who stands still was cut off to make some, so that
    /// another try a little later may do. An answer that is alone always has room.
    bool take(Use use, std::uint64_t bytes, Clock::time_point now);
    /// As take(), beyond the budget if need be: for what is there already.
    void take_anyway(Use use, std::uint64_t bytes, Clock::time_point now);
    /// So many bytes more came in or went out.
    void moved(std::uint64_t bytes, Clock::time_point now) noexcept;
    /// What it holds is used, and not waited for: it is not cut off.
    void is_served() noexcept;
    void give_back() noexcept;
    bool holds() const noexcept { return bytes_ > 0; }
    /// Whether the budget or the address's half of it is used up: no request should begin then.
    bool is_used_up() const noexcept;
    /// Cuts off who stands still, if the budget is used up.
    void make_room(Clock::time_point now);

   private:
    friend class ByteBudget;
    ByteBudget& budget_;
    Owner& owner_;
    std::map<std::string, AddressUse>::iterator address_;
    // The rest is changed under the budget's lock, and read there by others.
    std::uint64_t bytes_ = 0;
    Use use_ = Use::kHeaders;
    bool is_moving_ = false;
    bool is_cut_ = false;
    Clock::time_point mark_{};
    std::uint64_t moved_ = 0;
  };

  explicit ByteBudget(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  std::uint64_t bytes() const noexcept { return used_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_max() const noexcept { return bytes_max_; }
  /// Connections that were cut off to make room.
  std::uint64_t cut_off() const noexcept { return cut_off_.load(std::memory_order_relaxed); }

 private:
  using Addresses = std::map<std::string, AddressUse>;
  bool has_room(const Share& share, Use use, std::uint64_t bytes) const noexcept;
  void set(Share& share, Use use, std::uint64_t bytes, Clock::time_point now);
  void count(Share& share, Use use, std::uint64_t bytes) noexcept;
  /// Cuts off until `bytes` more will have room for this one.
  void cut_off_for(const Share& share, Use use, std::uint64_t bytes, Clock::time_point now) noexcept;

  const std::uint64_t bytes_max_;
  std::mutex mutex_;
  Addresses addresses_;
  std::set<Share*> holders_;
  std::atomic<std::uint64_t> used_{0};
  std::uint64_t of_headers_ = 0;
  std::atomic<std::uint64_t> cut_off_{0};
};

}  // namespace varve::serve
