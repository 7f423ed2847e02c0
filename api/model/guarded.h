// Owns: the door every public call passes: a lack of memory inside becomes an answer.
// Must never: hide another exception: there is none.
#pragma once

#include <new>
#include <utility>

#include "varve/status.h"

namespace varve {

/// Calls `body`, which returns a Status or a Result; what it held is released by destructors, and a lack of memory is
/// told as kOutOfMemory.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(std::forward<Body>(body)()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace varve
