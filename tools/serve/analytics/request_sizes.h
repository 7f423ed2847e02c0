// Owns: the sizes of requests and answers on the wire.
// Must never: build the bytes to measure them.
#pragma once

#include <cstdint>

#include "api/rest/protocol/message.h"

namespace varve::serve {

/// Returns the bytes of the request line and the headers, with all line ends.
std::uint64_t header_bytes(const HttpRequest& request) noexcept;
/// Returns the bytes of the status line and the headers, with all line ends. Headers that the connection adds, such as
/// Content-Length, do not count.
std::uint64_t header_bytes(const HttpResponse& response) noexcept;

}  // namespace varve::serve
