// Owns: one io_uring of the kernel: that it is made as this kernel can, and goes when nobody needs it.
// Must never: keep a descriptor below 3, or leave a decision to be made about what is in flight when it goes.
//
// Flags: completions are handed over when the owner enters the kernel anyway (COOP_TASKRUN), without interrupting it,
// and a flag in shared memory says that there are some (TASKRUN_FLAG). Measured with direct reads of 4 KiB, 8 to 128 in
// flight, this is as fast as SINGLE_ISSUER with DEFER_TASKRUN, and unlike that lets a ring pass from thread to thread
// and be emptied when the kernel begins to refuse its calls. The lock's descriptor is not registered: only reads go
// through a ring, and what is left of those when a process dies changes nothing.
// Source: io_uring_setup(2), io_uring_enter(2).
#pragma once

#include <cstddef>
#include <memory>

#include <liburing.h>

#include "varve/result.h"

namespace varve::io {

/// As thread-safe as what it is used for.
class Ring {
 public:
  /// A ring that takes `entries` submissions at once, and completions of as many. Errors: what the system says where it
  /// refuses (a container's filter, an old kernel, locked memory, descriptors).
  static Result<std::unique_ptr<Ring>> make(std::size_t entries);

  /// For make() alone: a ring that is not open.
  Ring() noexcept = default;
  /// Nothing is in flight.
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  io_uring* get() noexcept { return &ring_; }

 private:
  io_uring ring_{};
  bool is_open_ = false;
};

/// Whether this process may use io_uring now: makes a ring, and has it do nothing and then read a file. Errors: what
/// was refused.
Status probe_io_uring();

}  // namespace varve::io
