// Owns: the interfaces of bodies that do not lie in memory: a request's, which is read piece by piece, and an answer's,
// which is made while it is sent.
// Must never: know a connection, or what a body means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/task.h"

namespace varve::serve {

/// The usual bytes of a piece of a body. A piece of a request may have half of it more.
inline constexpr std::size_t kBodyPieceBytes = std::size_t{128} << 10;

/// The most bytes of a piece of an answer.
inline constexpr std::size_t kAnswerPieceBytes = 2 * kBodyPieceBytes;

/// The most bytes of earlier pieces that a handler keeps without a word. A BlobWriter writes and drops them each time
/// when so many have come together. No piece has bytes from both sides of such a border.
inline constexpr std::uint64_t kBodyKeptBytes = std::uint64_t{1} << 20;

/// The body of a request. The connection implements it. A handler that does not read a body to its end leaves the rest
/// unread: the connection then ends after the answer.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// Returns the next piece, which is empty at the end of the body. The piece is valid until the next call. The caller
  /// runs on its home thread, and the task ends there. Before the first piece, the connection asks a waiting client for
  /// the body. Waits as long as there is no memory for the body: the client's bytes wait in the socket (BX-03). Errors:
  /// kIoError (RequestTimedOut: the client is gone or too slow), kBusy (the server ends), kInvalidArgument (the body is
  /// not framed as HTTP requires). After an error the body cannot be read.
  virtual Task<Result<std::string_view>> next() = 0;
  /// Says that the handler keeps the whole body, which has at most `bytes_max` bytes, and needs `times` its memory for
  /// what it makes of it. Called before the first next(), which waits for all of that memory.
  virtual void keeps_all(std::uint64_t bytes_max, std::uint64_t times) = 0;
  /// Returns the bytes of all pieces so far.
  virtual std::uint64_t bytes() const noexcept = 0;
};

/// The end of an answer's body. A handler implements it. The connection destroys it after the last piece, or when the
/// connection ends.
class AnswerSource {
 public:
  virtual ~AnswerSource() = default;
  /// Returns the next piece of the body, which has at least one byte and at most kAnswerPieceBytes. Between two calls the
  /// source keeps nothing of the content: the connection has room for one piece (BX-03). The task ends on the home thread.
  /// After an error the connection is cut, because the status of the answer was sent already.
  virtual Task<Result<std::string>> next() = 0;
};

}  // namespace varve::serve
