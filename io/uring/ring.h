// Owns: one io_uring of the kernel: its creation with the best flags that this kernel supports, and its end.
// Must never: keep a descriptor below 3, or be destroyed with reads in flight.
//
// Flags: the kernel delivers completions when the owner enters it anyway, without an interrupt (COOP_TASKRUN), and a
// flag in shared memory announces them (TASKRUN_FLAG). Measured with direct reads of 4 KiB and 8 to 128 in flight, this
// is as fast as SINGLE_ISSUER with DEFER_TASKRUN. Unlike those flags, it lets a ring pass from thread to thread, and be
// emptied when the kernel begins to refuse its calls. The lock's descriptor is not registered: a ring performs only
// reads, and the reads of a dead process change nothing.
// Source: io_uring_setup(2), io_uring_enter(2).
#pragma once

#include <cstddef>
#include <memory>

#include <liburing.h>

#include "varve/result.h"

namespace varve::io {

/// It is as thread-safe as the liburing calls made with it.
class Ring {
 public:
  /// Makes a ring for `entries` submissions and as many completions at once. Errors: the system's error if it refuses
  /// (a container's filter, an old kernel, locked memory, descriptors).
  static Result<std::unique_ptr<Ring>> make(std::size_t entries);

  /// Only make() calls it: makes a ring that is not open.
  Ring() noexcept = default;
  /// No read may be in flight.
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  io_uring* get() noexcept { return &ring_; }

 private:
  io_uring ring_{};
  bool is_open_ = false;
};

/// Checks whether this process may use io_uring now: makes a ring, performs a no-op and then a read of a file. Errors:
/// the error of the refused step.
Status probe_io_uring();

}  // namespace varve::io
