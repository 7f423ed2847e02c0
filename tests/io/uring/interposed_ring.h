// Owns: the liburing calls that io makes. They replace those of the library and can fail on request.
// Must never: be active while an unrelated thread uses a ring.
#pragma once

#include <functional>

namespace varve::io {

/// While it lives, it replaces the kernel's answers where its functions are set. At most one exists. An empty function
/// changes nothing.
struct RingMisfortune {
  /// Called with the flags before a ring is created. Returns an errno, or zero to let it be created.
  std::function<int(unsigned flags)> on_make;
  /// Called before submissions are passed to the kernel. Returns an errno, or zero.
  std::function<int(unsigned wait_count)> on_enter;
  /// Receives the result of each completion and returns its replacement: bytes, or a negative errno.
  std::function<int(int result)> on_completion;

  RingMisfortune();
  ~RingMisfortune();
  RingMisfortune(const RingMisfortune&) = delete;
  RingMisfortune& operator=(const RingMisfortune&) = delete;
};

}  // namespace varve::io
