// Owns: the count of the stretches' memory, and the search for one to forget (stretch_map.h).
// Must never: visit all stretches in one search.
#include "engine/memory/stretch_map.h"

#include <cassert>
#include <iterator>
#include <utility>

#include "io/probe.h"

namespace varve::engine {

namespace {

/// A node of the map beside its value: three links and a colour. Each allocation has a word of the allocator's own.
constexpr std::uint64_t kNodeBytes = 4 * sizeof(void*);
constexpr std::uint64_t kAllocatorBytes = sizeof(void*);

/// Stretches that one search visits at most. Then it forgets the next one, although that one was used.
constexpr int kVisitsMax = 16;

}  // namespace

std::uint64_t StretchMap::bytes_of(const std::string& from, const Stretch& stretch) noexcept {
  return kNodeBytes + sizeof(Stretches::value_type) + from.capacity() + stretch.to.capacity() + 3 * kAllocatorBytes;
}

StretchMap::iterator StretchMap::at_or_before(std::string_view key) {
  const auto behind = stretches_.upper_bound(key);
  return behind == stretches_.begin() ? stretches_.end() : std::prev(behind);
}

void StretchMap::enter(std::string from, Stretch stretch) {
  from.shrink_to_fit();
  stretch.to.shrink_to_fit();
  const std::uint64_t bytes = bytes_of(from, stretch);
  while (!room_.take(bytes, bytes_)) {
    if (stretches_.empty()) return;
    io::probe("a stretch of deletes was forgotten for another");
    forget_one();
  }
  try {
    const bool is_new = stretches_.emplace(std::move(from), std::move(stretch)).second;
    assert(is_new);
    static_cast<void>(is_new);
  } catch (...) {
    room_.give_back(bytes);
    throw;
  }
  bytes_ += bytes;
}

StretchMap::iterator StretchMap::erase(iterator at) noexcept {
  const std::uint64_t bytes = bytes_of(at->first, at->second);
  assert(bytes_ >= bytes);
  room_.give_back(bytes);
  bytes_ -= bytes;
  if (hand_ == at) ++hand_;
  return stretches_.erase(at);
}

void StretchMap::clear() noexcept {
  stretches_.clear();
  hand_ = stretches_.end();
  room_.give_back(std::exchange(bytes_, 0));
}

void StretchMap::forget_one() noexcept {
  for (int visits = 0;; ++visits) {
    if (hand_ == stretches_.end()) hand_ = stretches_.begin();
    if (!std::exchange(hand_->second.was_used, false) || visits == kVisitsMax) break;
    ++hand_;
  }
  erase(hand_);
}

}  // namespace varve::engine
