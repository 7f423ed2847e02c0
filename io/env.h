// Owns: the set of doors to the outside world that a store is given.
// Must never: grow virtual functions or state of its own; it is a bundle of references.
#pragma once

#include "io/clock.h"
#include "io/file_system.h"
#include "io/scheduler.h"

namespace varve::io {

/// What is referred to outlives every store opened with it.
struct Env {
  FileSystem& files;
  Clock& clock;
  RandomSource& random;
  Scheduler& scheduler;
};

/// This machine's file system (with io_uring where the first call of this finds that it works, else by plain system
/// calls alone), its clocks, its entropy and its threads. The objects behind it live as long as the process.
const Env& system_env() noexcept;

}  // namespace varve::io
