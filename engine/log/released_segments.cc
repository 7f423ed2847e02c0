// Owns: the choice of the segments that are kept (released_segments.h).
// Must never: keep a file that has few written bytes. Only written space is faster than new space.
#include "engine/log/released_segments.h"

#include <algorithm>
#include <new>

namespace varve::engine {

void ReleasedSegments::begin(std::uint64_t number, std::uint64_t allocated_bytes) noexcept {
  if (!in_use_.empty() && in_use_.back().number == number) return;
  try {
    in_use_.push_back({number, allocated_bytes, 0});
  } catch (const std::bad_alloc&) {
    return;
  }
}

void ReleasedSegments::close(std::uint64_t number, std::uint64_t size_bytes) noexcept {
  for (Segment& segment : in_use_) {
    if (segment.number == number) segment.closed_bytes = size_bytes;
  }
}

std::uint64_t ReleasedSegments::release(std::uint64_t number) noexcept {
  const auto found = std::find_if(in_use_.begin(), in_use_.end(),
                                  [number](const Segment& segment) { return segment.number == number; });
  if (found == in_use_.end()) return number;
  const Segment segment = *found;
  in_use_.erase(in_use_.begin(), found + 1);  // The earlier ones stayed in the store as value files.
  if (segment.allocated_bytes < kRecycledBytesMin || segment.closed_bytes < segment.allocated_bytes / 2) return number;
  const auto is_smaller = [](const Segment& left, const Segment& right) {
    return left.allocated_bytes < right.allocated_bytes;
  };
  try {
    waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), segment, is_smaller), segment);
  } catch (const std::bad_alloc&) {
    return number;
  }
  if (waiting_.size() <= kReleasedSegmentsMax) return 0;
  const std::uint64_t smallest = waiting_.front().number;
  waiting_.erase(waiting_.begin());
  return smallest;
}

std::optional<ReleasedSegments::Segment> ReleasedSegments::take(std::uint64_t bytes_min) noexcept {
  if (waiting_.empty() || waiting_.back().allocated_bytes < bytes_min) return std::nullopt;
  const Segment taken = waiting_.back();
  waiting_.pop_back();
  return taken;
}

}  // namespace varve::engine
