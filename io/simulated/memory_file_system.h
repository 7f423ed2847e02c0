// Owns: the file system in memory behind the door of file_system.h, which remembers what was synced and cuts the power.
// Must never: make durable what was not synced. Where the door promises nothing, it keeps the less.
//
// What it is strict about, so that a store tested on it owes nothing to one kernel's kindness:
// - syncing a file does not make its name durable, and replace() makes durable no other name than its own;
// - a log write makes its own bytes and the segment's size durable, nothing else;
// - shared memory outlives the process, and of the machine's death any mixture of its pages, of any age;
// - all that is pending may be lost, kept or torn, each part by itself (crash_image.h).
//
// A test runs a store on it and takes images of its disk, from an observer at every step or afterwards:
//
//   MemoryFileSystem files;
//   files.set_observer([&](const Operation& operation, Moment moment) {
//     for (MemoryDisk& image : files.power_cuts(random, 20)) images.push_back(std::move(image));
//   });
//   ... run a store on `files` ...
//   MemoryFileSystem after(images[7]);   // a machine just started: no locks, no handles
//   ... open the store on `after`, check it ...
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "io/scheduler.h"
#include "io/simulated/crash_image.h"
#include "io/simulated/fault_plan.h"
#include "io/simulated/memory_disk.h"

namespace varve::io {

class MemoryState;

/// True while this thread is inside a door of a MemoryFileSystem. What is allocated there stands for memory of the
/// kernel: a test that refuses allocations to see what its program does must let these pass, for a real file system
/// would not fail there.
bool inside_memory_file_system() noexcept;

/// Where in a step an observer is called.
enum class Moment : std::uint8_t {
  kBefore,  // nothing of it was done
  kDuring,  // it is in flight: it may be done, not done, or torn. Left out for steps that fail before they do anything
  kAfter,   // it is over, done or failed; the caller does not know it yet
};

/// Called in the thread that makes the step, under no lock, by several threads at once where a store has several. It
/// may take images, change faults and do all that a test does; it must not call the file system through the doors of
/// file_system.h.
using Observer = std::function<void(const Operation&, Moment)>;

/// Any thread. Handles may outlive it; they go on in a machine that nobody can look at any more.
/// "/" and "." are there from the start; every other directory is made by create_directory() or is on the disk.
class MemoryFileSystem final : public FileSystem {
 public:
  /// An empty disk under the operating system's scheduler.
  MemoryFileSystem();
  /// A machine just started on this disk.
  explicit MemoryFileSystem(MemoryDisk disk);
  /// Every step is then a place where `scheduler` may let another thread run.
  explicit MemoryFileSystem(Scheduler& scheduler, MemoryDisk disk = MemoryDisk());
  ~MemoryFileSystem() override;

  std::string_view name() const noexcept override { return "memory"; }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  /// Its reads are steps like any others, made by reap() or by the end of the queue.
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;

  // -- The disk ---------------------------------------------------------------------------------------------------

  /// The disk as it is at this moment, with what is pending and in flight. Cheap: bytes are shared.
  MemoryDisk snapshot() const;
  /// crash_image(), crash_images() and process_death_image() of snapshot(). This file system runs on, unharmed.
  MemoryDisk power_cut(CrashPolicy policy, RandomSource& random) const;
  std::vector<MemoryDisk> power_cuts(RandomSource& random, std::size_t images_max) const;
  MemoryDisk process_death(RandomSource& random) const;
  /// Damages or repairs the disk under a running store. `change` is called under the file system's lock and must not
  /// call it. Shared memory that is mapped is not changed by it.
  void change_disk(const std::function<void(MemoryDisk&)>& change);
  /// Keeps no earlier states of shared memory, which take most of the time of a small run: for who asks for no power
  /// cuts. Those find what it held when it was made, or now.
  void keep_no_samples() noexcept;

  // -- Watching ---------------------------------------------------------------------------------------------------

  /// Called around every mutating step. One at a time; an empty one ends it, and where threads run one at a time a step
  /// in flight does not call it any more; where they do not, there is no such step.
  void set_observer(Observer observer);
  /// Mutating steps begun so far.
  std::uint64_t operation_count() const noexcept;

  // -- Misfortune -------------------------------------------------------------------------------------------------

  FaultPlan& faults() noexcept;

  /// Waits, through the scheduler, until `count` steps are stuck by FaultEffect::kNever: their callers are inside, and
  /// an image shows what they write as in flight.
  void await_stuck(std::size_t count);
  std::size_t stuck_count() const;
  /// Lets all of them go on. Rules in force go on, too: clear them before, or the next ones are stuck.
  void let_go();

  static constexpr std::uint64_t kUnlimited = UINT64_MAX;
  /// Room for all files together, counted in whole pages; what would pass it is answered kNoSpace. A removed file
  /// counts until its handles are gone.
  void set_capacity_bytes(std::uint64_t bytes);
  std::uint64_t used_bytes() const;

  /// Decides in which order the queues of reads made from now on finish them, and how many at a time.
  void set_read_order(std::uint64_t seed) noexcept;

  /// Takes every exclusive lock from its owner, as a lock service does that believes it dead: others may lock now, and
  /// every writing call by the owner's Directory and the handles made with it answers kFenced.
  void revoke_locks();

 private:
  std::shared_ptr<MemoryState> state_;
  std::atomic<std::uint64_t> next_read_order_{1};
};

}  // namespace varve::io
