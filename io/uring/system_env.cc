// Owns: the interfaces to this machine: its clocks, its entropy, its threads, its file system.
// Must never: keep state between calls, or be destroyed while a store may use it.
#include <cstdlib>

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>

#include "io/env.h"
#include "io/posix/posix_file_system.h"
#include "io/uring/ring.h"
#include "io/uring/uring_file_system.h"

namespace varve::io {
namespace {

constexpr std::int64_t kNanosecondsPerTick = 100;

timespec read_clock(clockid_t clock) noexcept {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) std::abort();  // Fails only for unknown clocks; these three exist.
  return now;
}

class SystemClock final : public Clock {
 public:
  Ticks wall() noexcept override {
    const timespec now = read_clock(CLOCK_REALTIME);
    // Before 1970 the seconds are negative. The sum is positive, because no machine's clock can be set as early as year
    // one.
    const std::int64_t since_epoch =
        now.tv_sec * static_cast<std::int64_t>(kTicksPerSecond) + now.tv_nsec / kNanosecondsPerTick;
    return kUnixEpochTicks + static_cast<Ticks>(since_epoch);
  }
  std::chrono::nanoseconds monotonic() noexcept override { return passed_of(CLOCK_MONOTONIC); }
  std::chrono::nanoseconds since_boot() noexcept override { return passed_of(CLOCK_BOOTTIME); }

 private:
  static std::chrono::nanoseconds passed_of(clockid_t clock) noexcept {
    const timespec now = read_clock(clock);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }
};

class SystemRandom final : public RandomSource {
 public:
  std::uint64_t next() noexcept override {
    std::uint64_t value = 0;
    for (;;) {
      // getrandom returns up to 256 bytes completely or not at all.
      const ssize_t got = ::getrandom(&value, sizeof value, 0);
      if (got == static_cast<ssize_t>(sizeof value)) return value;
      // Guessable seeds are worse than no seeds, and no caller can work without randomness.
      if (got >= 0 || errno != EINTR) std::abort();
    }
  }
};

/// The test runs once a process: if a container refuses a ring, it always does.
FileSystem& choose_file_system(PosixFileSystem& calls, UringFileSystem& rings) {
  if (probe_io_uring().ok()) return rings;
  return calls;
}

struct System {
  PosixFileSystem calls;
  UringFileSystem rings;
  FileSystem& files = choose_file_system(calls, rings);
  SystemClock clock;
  SystemRandom random;
  Scheduler scheduler;
  Env env{files, clock, random, scheduler};
};

}  // namespace

const Env& system_env() noexcept {
  // Never destroyed: a store in a static object of the embedder may close after this library's statics are destroyed.
  static System& system = *new System;
  return system.env;
}

}  // namespace varve::io
