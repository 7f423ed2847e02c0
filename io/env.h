// Owns: the set of interfaces to the outside world that a store is given.
// Must never: get virtual functions or state of its own. It is a bundle of references.
#pragma once

#include "io/clock.h"
#include "io/file_system.h"
#include "io/scheduler.h"

namespace varve::io {

/// The referenced objects must outlive every store that is opened with them.
struct Env {
  FileSystem& files;
  Clock& clock;
  RandomSource& random;
  Scheduler& scheduler;
};

/// Returns this machine's file system, clocks, entropy and threads. The file system uses io_uring if the first call
/// found that it works, and plain system calls otherwise. The objects live as long as the process.
const Env& system_env() noexcept;

}  // namespace varve::io
