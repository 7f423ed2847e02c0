#include "tools/serve/transport/byte_budget.h"

#include <algorithm>
#include <new>

namespace varve::serve {
namespace {

/// The share of clients that are not authenticated yet: one eighth of the budget.
constexpr std::uint64_t kHeadersShare = 8;
/// The share of one address: half of the budget, and half of the headers' share.
constexpr std::uint64_t kAddressShare = 2;

/// The most that streams may use of a limit.
constexpr std::uint64_t streams_part(std::uint64_t bytes) noexcept {
  return bytes - bytes / 4;
}

}  // namespace

ByteBudget::Share::Share(ByteBudget& budget, const std::string& address, Owner& owner)
    : budget_(budget), owner_(owner) {
  const std::lock_guard lock(budget_.mutex_);
  address_ = budget_.addresses_.try_emplace(address).first;
  ++address_->second.shares;
}

ByteBudget::Share::~Share() {
  const std::lock_guard lock(budget_.mutex_);
  budget_.leave_line(*this);
  budget_.count(*this, use_, 0);
  budget_.holders_.erase(this);
  if (--address_->second.shares == 0) budget_.addresses_.erase(address_);
  budget_.wake_next();
}

/// Returns whether `more` bytes exceed the part of the share's address.
bool ByteBudget::is_over_address(const Share& share, Use use, std::uint64_t more) const noexcept {
  const AddressUse& address = share.address_->second;
  const std::uint64_t address_max = bytes_max_ / kAddressShare;
  if (address.bytes.load(std::memory_order_relaxed) + more > address_max) return true;
  return use == Use::kStream && address.of_streams + more > streams_part(address_max);
}

/// Returns whether a stream of this memory fits beside others of its address.
bool ByteBudget::fits_ever(std::uint64_t bytes) const noexcept {
  return bytes <= streams_part(bytes_max_ / kAddressShare);
}

bool ByteBudget::has_room(const Share& share, Use use, std::uint64_t bytes) const noexcept {
  // If no other memory is in use, an answer or a stream of any size has room. Otherwise a large one
  // would never have room.
  const bool grows_alone = use == Use::kAnswer || use == Use::kStream;
  if (grows_alone && used_.load(std::memory_order_relaxed) == share.bytes_) return true;
  const std::uint64_t more = bytes - std::min(bytes, share.bytes_);
  if (used_.load(std::memory_order_relaxed) + more > bytes_max_) return false;
  if (use == Use::kStream && !fits_ever(bytes) && of_streams_ == share.bytes_) return true;
  if (is_over_address(share, use, more)) return false;
  if (use == Use::kStream) return of_streams_ + more <= streams_part(bytes_max_);
  if (use != Use::kHeaders) return true;
  const std::uint64_t headers_max = bytes_max_ / kHeadersShare;
  return of_headers_ + more <= headers_max && share.address_->second.of_headers + more <= headers_max / kAddressShare;
}

/// Updates all sums as if the share used `bytes`.
void ByteBudget::count(Share& share, Use use, std::uint64_t bytes) noexcept {
  AddressUse& address = share.address_->second;
  count_active(share, std::uint64_t{0} - 1);
  if (share.use_ == Use::kHeaders) {
    of_headers_ -= share.bytes_;
    address.of_headers -= share.bytes_;
  } else if (share.use_ == Use::kStream) {
    of_streams_ -= share.bytes_;
    address.of_streams -= share.bytes_;
  }
  const std::uint64_t difference = bytes - share.bytes_;  // modulo 2^64, as are the sums
  used_.fetch_add(difference, std::memory_order_relaxed);
  address.bytes.fetch_add(difference, std::memory_order_relaxed);
  share.bytes_ = bytes;
  share.use_ = use;
  if (use == Use::kHeaders) {
    of_headers_ += bytes;
    address.of_headers += bytes;
  } else if (use == Use::kStream) {
    of_streams_ += bytes;
    address.of_streams += bytes;
  }
  count_active(share, 1);
}

void ByteBudget::count_active(const Share& share, std::uint64_t change) noexcept {
  if (!is_active(share)) return;
  active_streams_ += change;  // modulo 2^64
  share.address_->second.active_streams += change;
}

void ByteBudget::join_line(Share& share) {
  if (share.ticket_ != 0) return;
  line_.emplace(last_ticket_ + 1, &share);
  count_active(share, std::uint64_t{0} - 1);
  share.ticket_ = ++last_ticket_;
  share.is_woken_ = false;
}

void ByteBudget::leave_line(Share& share) noexcept {
  if (share.ticket_ == 0) return;
  line_.erase(share.ticket_);
  share.ticket_ = 0;
  count_active(share, 1);
}

ByteBudget::Share* ByteBudget::first_holder(const AddressUse* address) const noexcept {
  Share* first = nullptr;
  for (const auto& [ticket, waiting] : line_) {
    if (address != nullptr && &waiting->address_->second != address) continue;
    if (waiting->bytes_ > 0) return waiting;  // its progress releases memory
    if (first == nullptr) first = waiting;
  }
  return first;
}

ByteBudget::Share* ByteBudget::next_in_line() noexcept {
  Share* const next = first_with_room();
  return next == nullptr && active_streams_ == 0 && of_streams_ > 0 ? first_holder(nullptr) : next;
}

ByteBudget::Share* ByteBudget::first_with_room() noexcept {
  ++walk_;
  for (const auto& [ticket, waiting] : line_) {
    AddressUse& address = waiting->address_->second;
    if (address.walk == walk_) continue;  // after another one of its address
    if (has_room(*waiting, Use::kStream, waiting->wanted_)) return waiting;
    const std::uint64_t more = waiting->wanted_ - std::min(waiting->wanted_, waiting->bytes_);
    if (!fits_ever(waiting->wanted_) || !is_over_address(*waiting, Use::kStream, more)) return nullptr;
    if (address.active_streams == 0 && address.of_streams > 0) return first_holder(&address);
    address.walk = walk_;
  }
  return nullptr;
}

void ByteBudget::wake_next() noexcept {
  Share* const next = next_in_line();
  if (next == nullptr || next->is_woken_) return;
  next->is_woken_ = true;
  next->owner_.look_again();
}

void ByteBudget::set(Share& share, Use use, std::uint64_t bytes, Clock::time_point now) {
  holders_.insert(&share);
  count(share, use, bytes);
  share.is_moving_ = true;
  share.mark_ = now;
  share.moved_ = 0;
}

void ByteBudget::cut_off_for(const Share& share, Use use, std::uint64_t bytes, Clock::time_point now) noexcept {
  const std::uint64_t more = bytes - std::min(bytes, share.bytes_);
  const bool is_for_address =
      share.address_->second.bytes.load(std::memory_order_relaxed) + more > bytes_max_ / kAddressShare;
  const bool is_for_headers = use == Use::kHeaders;
  const auto counts = [&](const Share& other) {
    return (!is_for_address || other.address_ == share.address_) && (!is_for_headers || other.use_ == Use::kHeaders);
  };
  std::uint64_t leaving = 0;
  for (const Share* const other : holders_) {
    if (other->is_cut_ && counts(*other)) leaving += other->bytes_;
  }
  while (leaving < more) {
    Share* slowest = nullptr;
    for (Share* const other : holders_) {
      const bool stands = other != &share && other->is_moving_ && !other->is_cut_ && now - other->mark_ >= kStallTime;
      if (stands && counts(*other) && (slowest == nullptr || other->mark_ < slowest->mark_)) slowest = other;
    }
    if (slowest == nullptr) return;
    if (!slowest->owner_.cut_off()) return;
    slowest->is_cut_ = true;
    leaving += slowest->bytes_;
  }
}

bool ByteBudget::Share::take(Use use, std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(budget_.mutex_);
  if (!budget_.has_room(*this, use, bytes)) {
    budget_.cut_off_for(*this, use, bytes, now);
    return false;
  }
  const bool is_less = bytes < bytes_ || use_ == Use::kStream;
  budget_.set(*this, use, bytes, now);
  if (is_less) budget_.wake_next();
  return true;
}

void ByteBudget::Share::take_anyway(Use use, std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(budget_.mutex_);
  const bool is_less = bytes < bytes_ || use_ == Use::kStream;
  budget_.set(*this, use, bytes, now);
  if (is_less) budget_.wake_next();
}

bool ByteBudget::Share::take_turn(std::uint64_t held, std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(budget_.mutex_);
  if (ticket_ == 0 && budget_.line_.empty() && budget_.has_room(*this, Use::kStream, bytes)) {
    budget_.set(*this, Use::kStream, bytes, now);
    return true;
  }
  if (ticket_ == 0) {
    budget_.holders_.insert(this);
    budget_.join_line(*this);
    budget_.count(*this, Use::kStream, held);
    is_moving_ = false;
  }
  wanted_ = bytes;
  is_woken_ = false;
  const bool is_next = budget_.next_in_line() == this;
  if (is_next) {
    budget_.leave_line(*this);
    budget_.set(*this, Use::kStream, bytes, now);
  }
  budget_.wake_next();
  return is_next;
}

void ByteBudget::Share::moved(std::uint64_t bytes, Clock::time_point now) noexcept {
  const std::lock_guard lock(budget_.mutex_);
  moved_ += bytes;
  if (moved_ < kFreeBytes) return;
  moved_ = 0;
  mark_ = now;
}

void ByteBudget::Share::is_served() noexcept {
  const std::lock_guard lock(budget_.mutex_);
  is_moving_ = false;
}

void ByteBudget::Share::give_back() noexcept {
  const std::lock_guard lock(budget_.mutex_);
  budget_.leave_line(*this);
  budget_.count(*this, use_, 0);
  budget_.holders_.erase(this);
  budget_.wake_next();
}

bool ByteBudget::Share::is_used_up() const noexcept {
  const std::uint64_t used = budget_.used_.load(std::memory_order_relaxed);
  if (used == 0) return false;
  return used >= budget_.bytes_max_ ||
         address_->second.bytes.load(std::memory_order_relaxed) >= budget_.bytes_max_ / kAddressShare;
}

void ByteBudget::Share::make_room(Clock::time_point now) {
  const std::lock_guard lock(budget_.mutex_);
  budget_.cut_off_for(*this, Use::kAnswer, bytes_ + 1, now);
}

}  // namespace varve::serve
