// Owns: the segments that this opening of the store made, and those of them that the log no longer needs and that wait
// for a second life.
// Must never: offer a file that another opening made. It may have a link that this one does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/log/log_files.h"

namespace varve::engine {

/// Smaller segments are not worth a second life. The log leaves them too often.
inline constexpr std::uint64_t kRecycledBytesMin = 2 * kSegmentBytesMin;
/// Limit of the files that wait. They hold disk space.
inline constexpr std::size_t kReleasedSegmentsMax = 4;

/// One thread at a time may use it.
class ReleasedSegments {
 public:
  struct Segment {
    std::uint64_t number = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t closed_bytes = 0;  // zero until it is closed
  };

  /// Takes the memory for the next begin(), which without it may find none and then never recycles its segment. May throw.
  void reserve_one() { in_use_.reserve(in_use_.size() + 1); }
  /// Notes a segment that the log begins to use, or that was noted last. Numbers rise.
  void begin(std::uint64_t number, std::uint64_t allocated_bytes) noexcept;
  /// Notes the size to which a segment was cut.
  void close(std::uint64_t number, std::uint64_t size_bytes) noexcept;

  /// Takes a segment that left the log. Numbers rise. Returns the number of the file that is not kept, which is this one
  /// or a smaller one, or zero.
  std::uint64_t release(std::uint64_t number) noexcept;
  /// Returns the largest waiting segment and forgets it, or returns nothing if none has `bytes_min`.
  std::optional<Segment> take(std::uint64_t bytes_min) noexcept;

  bool empty() const noexcept { return waiting_.empty(); }
  /// Returns the number of segments that the log has begun and not released, including the one in use.
  std::size_t in_use() const noexcept { return in_use_.size(); }

 private:
  std::vector<Segment> in_use_;   // by number
  std::vector<Segment> waiting_;  // the largest last
};

}  // namespace varve::engine
