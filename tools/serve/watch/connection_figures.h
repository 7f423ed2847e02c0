// Owns: the counters of a server's connections.
// Must never: identify a connection.
#pragma once

#include <cstdint>

namespace varve::serve {

struct ConnectionFigures {
  std::uint64_t open = 0;
  std::uint64_t accepted = 0;
  /// Connections that were closed at once, because there were too many.
  std::uint64_t refused = 0;
};

}  // namespace varve::serve
