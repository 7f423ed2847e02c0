#include "tools/serve/transport/byte_budget.h"

#include <algorithm>
#include <new>

namespace varve::serve {
namespace {

/// The share of clients that are not authenticated yet: one eighth of the budget.
constexpr std::uint64_t kHeadersShare = 8;
/// The share of one address: half of the budget, and half of the headers' share.
constexpr std::uint64_t kAddressShare = 2;

}  // namespace

ByteBudget::Share::Share(ByteBudget& budget, const std::string& address, Owner& owner)
    : budget_(budget), owner_(owner) {
  const std::lock_guard lock(budget_.mutex_);
  address_ = budget_.addresses_.try_emplace(address).first;
  ++address_->second.shares;
}

ByteBudget::Share::~Share() {
  const std::lock_guard lock(budget_.mutex_);
  budget_.count(*this, use_, 0);
  budget_.holders_.erase(this);
  if (--address_->second.shares == 0) budget_.addresses_.erase(address_);
}

bool ByteBudget::has_room(const Share& share, Use use, std::uint64_t bytes) const noexcept {
  // If no other memory is in use, an answer of any size has room. Otherwise a large answer would never have room.
  if (use == Use::kAnswer && used_.load(std::memory_order_relaxed) == share.bytes_) return true;
  const AddressUse& address = share.address_->second;
  const std::uint64_t more = bytes - std::min(bytes, share.bytes_);
  const std::uint64_t of_address = address.bytes.load(std::memory_order_relaxed);
  if (used_.load(std::memory_order_relaxed) + more > bytes_max_) return false;
  if (of_address + more > bytes_max_ / kAddressShare) return false;
  if (use != Use::kHeaders) return true;
  const std::uint64_t headers_max = bytes_max_ / kHeadersShare;
  return of_headers_ + more <= headers_max && address.of_headers + more <= headers_max / kAddressShare;
}

/// Updates all sums as if the share used `bytes`.
void ByteBudget::count(Share& share, Use use, std::uint64_t bytes) noexcept {
  AddressUse& address = share.address_->second;
  if (share.use_ == Use::kHeaders) {
    of_headers_ -= share.bytes_;
    address.of_headers -= share.bytes_;
  }
  const std::uint64_t difference = bytes - share.bytes_;  // modulo 2^64, as are the sums
  used_.fetch_add(difference, std::memory_order_relaxed);
  address.bytes.fetch_add(difference, std::memory_order_relaxed);
  share.bytes_ = bytes;
  share.use_ = use;
  if (use != Use::kHeaders) return;
  of_headers_ += bytes;
  address.of_headers += bytes;
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
    slowest->is_cut_ = true;
    leaving += slowest->bytes_;
    slowest->owner_.cut_off();
  }
}

bool ByteBudget::Share::take(Use use, std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(budget_.mutex_);
  if (!budget_.has_room(*this, use, bytes)) {
    budget_.cut_off_for(*this, use, bytes, now);
    return false;
  }
  budget_.set(*this, use, bytes, now);
  return true;
}

void ByteBudget::Share::take_anyway(Use use, std::uint64_t bytes, Clock::time_point now) {
  const std::lock_guard lock(budget_.mutex_);
  budget_.set(*this, use, bytes, now);
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
  budget_.count(*this, use_, 0);
  budget_.holders_.erase(this);
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
