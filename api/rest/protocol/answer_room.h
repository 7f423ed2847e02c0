// Owns: the question whether there is room for an answer while it is made.
// Must never: wait: who finds no room gives up what it has made.
#pragma once

#include <cstdint>

namespace varve::serve {

/// What a connection has room for in any case.
inline constexpr std::uint64_t kSmallAnswerBytes = std::uint64_t{16} << 10;

/// Of one request. Asked by one thread at a time, until its answer is handed over.
class AnswerRoom {
 public:
  virtual ~AnswerRoom() = default;
  /// Whether the answer may take so many bytes of memory in all. What was granted stays until the answer was sent.
  virtual bool grow_to(std::uint64_t bytes) = 0;
};

}  // namespace varve::serve
