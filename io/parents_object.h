// Owns: objects that a forked child inherited and cannot destroy.
// Must never: touch such an object.
//
// A child has its parent's memory and none of its threads. If the child ran a destructor that joins or waits for a
// thread, or that locks a mutex held by a thread, the child would wait for ever. A half-finished operation could crash
// it. So the child leaves such an object unchanged. The system frees its memory when the child ends.
#pragma once

#include <memory>

namespace varve::io {

/// Keeps an object reachable, so that a leak checker does not report it. Any thread may call it.
void keep_parents_object(void* object) noexcept;

/// Leaves the object to the parent: `object` becomes empty, and the destructor does not run in this process.
template <typename T>
void leave_to_parent(std::unique_ptr<T>& object) noexcept {
  if (object != nullptr) keep_parents_object(object.release());
}

}  // namespace varve::io
