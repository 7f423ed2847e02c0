// Owns: the count of a server's connections.
// Must never: name one.
#pragma once

#include <cstdint>

namespace varve::serve {

struct ConnectionFigures {
  std::uint64_t open = 0;
  std::uint64_t accepted = 0;
  /// Closed at once, because there were too many.
  std::uint64_t refused = 0;
};

}  // namespace varve::serve
