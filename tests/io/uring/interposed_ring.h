// Owns: the calls of liburing that io makes, which stand before those of the library and can be told to misbehave.
// Must never: be active while a thread that knows nothing of it uses a ring.
#pragma once

#include <functional>

namespace varve::io {

/// While it lives, stands in for the kernel where it is told to. One at a time. An empty function changes nothing.
struct RingMisfortune {
  /// Asked before a ring is made, with its flags: an errno, or zero to let it be made.
  std::function<int(unsigned flags)> on_make;
  /// Asked before submissions are handed over: an errno, or zero.
  std::function<int(unsigned wait_count)> on_enter;
  /// Takes the result of each completion and returns the one to be told: bytes, or an errno, negative.
  std::function<int(int result)> on_completion;

  RingMisfortune();
  ~RingMisfortune();
  RingMisfortune(const RingMisfortune&) = delete;
  RingMisfortune& operator=(const RingMisfortune&) = delete;
};

}  // namespace varve::io
