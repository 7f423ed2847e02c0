// Owns: objects that a forked child inherited and cannot destroy.
// Must never: touch such an object.
//
// A child has its parent's memory and none of its threads. A destructor that joins a thread, waits for one, or locks a
// mutex that one held, would wait for ever; one that was interrupted halfway could crash. So the child leaves such an
// object as it is. The system takes its memory back when the child ends.
#pragma once

#include <memory>

namespace varve::io {

/// Keeps an object reachable, so that a leak checker does not report it. Any thread.
void keep_parents_object(void* object) noexcept;

/// Leaves the object to the parent: `object` is empty then, and its destructor does not run in this process.
template <typename T>
void leave_to_parent(std::unique_ptr<T>& object) noexcept {
  if (object != nullptr) keep_parents_object(object.release());
}

}  // namespace varve::io
