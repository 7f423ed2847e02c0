// Owns: the interface between a connection and the handler of its request: memory for an answer, and whether the client
// still waits for it.
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
  /// Returns false if the client has closed the connection. A long task that has no effect yet should end then.
  virtual bool is_awaited() noexcept { return true; }
};

}  // namespace varve::serve
