// Owns: a stream whose text is whole or is not had.
// Must never: let a text end early: a stream notes a want of memory in its state, where who asks for the text overlooks
// it.
#pragma once

#include <ios>
#include <sstream>

namespace varve::serve {

/// Throws std::bad_alloc where there is no memory for more.
class TextStream final : public std::ostringstream {
 public:
  TextStream() { exceptions(std::ios::badbit); }
};

}  // namespace varve::serve
