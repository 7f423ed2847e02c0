// SPDX-License-Identifier: Apache-2.0
// Owns: a simulated machine for the tests of programs that embed a store: a disk in memory, power cuts, faults, a
// clock, and threads that follow a seed.
// Must never: touch a file, a clock or a random number of the real machine.
//
// It is the simulator that Varve's own tests use. Link varve::testing; it needs the static library.
//
//   varve::testing::Machine machine(seed);              // its threads run free
//   auto store = machine.open("shop", options);
//   ... the program writes, and remembers which writes were acknowledged ...
//   for (const varve::testing::Disk& disk : machine.power_cuts(20)) {
//     varve::testing::Machine after(seed, disk);        // the machine starts again on this disk
//     auto reopened = after.open("shop", options);
//     ... every acknowledged write is there ...
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "varve/options.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::testing {

/// The content of a simulated disk. A copy is cheap: copies share their bytes.
class Disk {
 public:
  /// An empty disk.
  Disk();
  /// Copies and moves the content. A disk that was moved from may only be destroyed or assigned to.
  /// @{
  Disk(const Disk&);
  Disk(Disk&&) noexcept;
  Disk& operator=(const Disk&);
  Disk& operator=(Disk&&) noexcept;
  /// @}
  ~Disk();

 private:
  friend class Machine;
  struct Content;
  explicit Disk(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

/// What a fault strikes.
enum class Step : std::uint8_t {
  /// Every step.
  kAny,
  /// Bytes that go to a file or to the log.
  kWrite,
  /// Making bytes or names durable.
  kSync,
  /// Bytes that come from a file.
  kRead,
  /// A new file or directory.
  kCreate,
  /// The removal of a file.
  kRemove,
  /// A file that takes the place of another.
  kRename,
};

/// How a step fails.
enum class Effect : std::uint8_t {
  /// The step does nothing and returns the error.
  kError,
  /// A part of the bytes is written, then the step returns the error.
  kPartialWrite,
  /// The step succeeds, but nothing becomes durable.
  kLostSync,
  /// The step succeeds, but the bytes never reach the disk.
  kLostWrite,
  /// The read succeeds, but one bit of its bytes is wrong.
  kFlippedBit,
  /// The step does not return until clear_faults().
  kStuck,
};

/// A rule by which steps of the file system fail.
struct Fault {
  /// The `count` of a rule by which every matching step after the first `skip` ones fails.
  static constexpr std::uint64_t kAlways = UINT64_MAX;

  /// The kind of step that fails.
  Step step = Step::kAny;
  /// The end of the file's name, for example ".wal" (log), ".sst" (table file) or "CURRENT". Empty: every file.
  std::string file_suffix;
  /// Number of matching steps that succeed before the first one fails.
  std::uint64_t skip = 0;
  /// Number of matching steps that fail.
  std::uint64_t count = 1;
  /// How the step fails.
  Effect effect = Effect::kError;
  /// The errno of the error. EIO is 5, ENOSPC is 28.
  int os_error = 5;
};

/// Whether threads run as the operating system schedules them, or one at a time in an order that the seed decides.
enum class Threads : std::uint8_t { kFree, kBySeed };

/// A machine with one disk. Any number of stores run on it. All of them are destroyed before the machine.
///
/// Thread safety: any thread, if threads run free. If threads run by the seed, only the thread that made the machine
/// and the threads of run() may call it and its stores, and a thread has one such machine at a time. The same seed and
/// the same program then give the same run.
class Machine {
 public:
  /// Starts on an empty disk. The seed decides random numbers, what a power cut loses and, with Threads::kBySeed, the
  /// order of the threads.
  explicit Machine(std::uint64_t seed, Threads threads = Threads::kFree);
  /// Starts on a disk that an earlier machine left, for example after a power cut.
  Machine(std::uint64_t seed, const Disk& disk, Threads threads = Threads::kFree);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Opens a store of this machine. `path` is relative to the root of its disk. Errors: as Store::open.
  Result<std::unique_ptr<Store>> open(std::string_view path, StoreOptions options = {});
  /// Reads a store that is not open, and reports all damage. Errors: as Store::verify.
  Result<VerifyReport> verify(std::string_view path);

  /// Moves the machine's clock forward. It moves by itself only if threads run by the seed.
  void advance_clock(std::chrono::nanoseconds time);

  /// Returns the disk as programs see it now.
  Disk disk() const;
  /// Returns at most `images_max` different disks that a power cut at this moment could leave. Bytes and names that
  /// were not synced are kept, lost or torn, each by itself. The machine runs on.
  std::vector<Disk> power_cuts(std::size_t images_max);
  /// Returns a disk that the death of the process, by kill -9 for example, could leave at this moment.
  Disk process_death();

  /// Calls `observer` after each step that changes the disk, in the thread that made the step. An empty function ends
  /// it. The observer may call disk(), power_cuts() and process_death(); it must not call a store.
  void observe_steps(std::function<void()> observer);
  /// Returns the number of steps so far that changed the disk.
  std::uint64_t step_count() const;

  /// Limits the room of all files together, in bytes. Further writes fail with ENOSPC.
  void set_capacity(std::uint64_t bytes);
  /// The first rule that matches a step decides.
  void add_fault(const Fault& fault);
  /// Removes all rules, and lets stuck steps go on.
  void clear_faults();
  /// Returns how many steps failed by a rule so far.
  std::uint64_t fault_count() const;

  /// Runs each function in a thread of its own, and returns when all have returned.
  /// Errors: kOutOfMemory, if a thread cannot start; the functions of the threads before it have run.
  Status run(const std::vector<std::function<void()>>& functions);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve::testing
