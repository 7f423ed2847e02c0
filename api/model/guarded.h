// Owns: the wrapper of every public call. It turns a lack of memory into an error value.
// Must never: hide any other exception. The code below throws none.
#pragma once

#include <new>
#include <utility>

#include "varve/status.h"

namespace varve {

/// Calls `body`, which returns a Status or a Result. If memory runs out, destructors release everything that `body`
/// held, and the call returns kOutOfMemory.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(std::forward<Body>(body)()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

/// Makes the result of a verb after its commit. If memory runs out, the call returns kUnknown: it must not look as if
/// nothing had changed.
template <typename Make>
auto after_commit(Make&& make) noexcept -> decltype(std::forward<Make>(make)()) {
  try {
    return std::forward<Make>(make)();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);
  }
}

}  // namespace varve
