// Owns: a separate machine for each test of a disk.
// Must never: share anything with another machine.
#pragma once

#include <cstdint>
#include <utility>

#include "io/env.h"
#include "io/scheduler.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "varve/options.h"

namespace varve::test {

struct DiskMachine {
  explicit DiskMachine(io::MemoryDisk disk, std::uint64_t seed = 7) : files(std::move(disk)), random(seed) {}
  /// Returns options that open the store on this machine. They do not create it.
  StoreOptions options(bool for_writing) const {
    StoreOptions chosen;
    chosen.read_only = !for_writing;
    chosen.env = &env;
    return chosen;
  }

  io::MemoryFileSystem files;
  io::ManualClock clock;
  io::SeededRandom random;
  io::Scheduler scheduler;
  io::Env env{files, clock, random, scheduler};
};

}  // namespace varve::test
