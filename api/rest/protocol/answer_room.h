// Owns: the interface that grants memory for an answer while a handler builds it.
// Must never: wait. A handler that is refused memory discards its answer.
#pragma once

#include <cstdint>

namespace varve::serve {

/// The answer size in bytes for which every connection has room.
inline constexpr std::uint64_t kSmallAnswerBytes = std::uint64_t{16} << 10;

/// The memory of one request's answer. One thread at a time calls it, until the answer is handed over.
class AnswerRoom {
 public:
  virtual ~AnswerRoom() = default;
  /// Returns whether the answer may use `bytes` of memory in total. The granted memory is kept until the answer was
  /// sent.
  virtual bool grow_to(std::uint64_t bytes) = 0;
};

}  // namespace varve::serve
