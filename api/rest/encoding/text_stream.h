// Owns: a stream that either produces its whole text or throws.
// Must never: let a text end early. An ordinary stream records a lack of memory only in its state, and callers that
// read the text overlook that state.
#pragma once

#include <ios>
#include <sstream>

namespace varve::serve {

/// Throws std::bad_alloc if there is no memory for more text.
class TextStream final : public std::ostringstream {
 public:
  TextStream() { exceptions(std::ios::badbit); }
};

}  // namespace varve::serve
