// Owns: the count of the stretches' memory, and the search for one to forget (stretch_map.h).
// Must never: visit all stretches in one search.
#include "engine/memory/stretch_map.h"

#include <cassert>
#include <cstddef>
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

/// Earlier ends that a stretch keeps. Their distances grow by half from one to the next, so that they reach back over
/// thousands of commits.
constexpr std::size_t kEarlierEndsMax = 16;

/// Removes the earlier end without which the others are most evenly spread, by the age at `now`. The oldest one stays.
void thin_out(std::vector<StretchMap::End>& ends, format::CommitVersion now) {
  std::size_t chosen = 1;
  double least = 0;
  for (std::size_t i = 1; i + 1 < ends.size(); ++i) {
    const auto gap = static_cast<double>(ends[i + 1].since.version - ends[i - 1].since.version);
    const auto age = static_cast<double>(now - ends[i + 1].since.version);
    const double relative = gap / (age + 1);
    if (i != 1 && relative >= least) continue;
    chosen = i;
    least = relative;
  }
  ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(chosen));
}

}  // namespace

std::uint64_t StretchMap::bytes_of(const std::string& from, const Stretch& stretch) noexcept {
  std::uint64_t bytes =
      kNodeBytes + sizeof(Stretches::value_type) + from.capacity() + stretch.to.capacity() + 3 * kAllocatorBytes;
  if (stretch.earlier.capacity() == 0) return bytes;
  bytes += stretch.earlier.capacity() * sizeof(End) + kAllocatorBytes;
  for (const End& end : stretch.earlier) bytes += end.to.capacity() + kAllocatorBytes;
  return bytes;
}

void StretchMap::lengthen(iterator at, std::string_view to, const Moment& since) {
  Stretch& stretch = at->second;
  assert(to > stretch.to && to.size() <= stretch.to.capacity());
  if (stretch.is_asked_late) keep_end(at);
  stretch.to.assign(to);
  stretch.since = since;
}

void StretchMap::keep_end(iterator at) {
  Stretch& stretch = at->second;
  const std::uint64_t before = bytes_of(at->first, stretch);
  End end{stretch.to, stretch.since};
  if (stretch.earlier.capacity() == 0) stretch.earlier.reserve(kEarlierEndsMax);
  if (stretch.earlier.size() == kEarlierEndsMax) thin_out(stretch.earlier, stretch.since.version);
  stretch.earlier.push_back(std::move(end));
  std::uint64_t now = bytes_of(at->first, stretch);
  if (now > before && !room_.take(now - before, bytes_)) {
    std::vector<End>().swap(stretch.earlier);
    now = bytes_of(at->first, stretch);
  } else if (now > before) {
    bytes_ += now - before;
  }
  if (now >= before) return;
  room_.give_back(before - now);
  bytes_ -= before - now;
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
