// Owns: the in-memory implementation of file_system.h, which records the synced changes and simulates power cuts.
// Must never: make un-synced changes durable. If the interface promises nothing, it does the least.
//
// It is strict in these points, so that a store tested on it does not depend on one kernel's behaviour:
// - Syncing a file does not make its name durable, and replace() makes no name durable except its own.
// - A log write makes its own bytes and the segment's size durable, nothing else.
// - Shared memory survives the process. After a crash of the machine, any mixture of its pages from any moments
//   survives.
// - Every pending change may be lost, kept or torn, independently of the others (crash_image.h).
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

/// Returns true while this thread is inside a function of a MemoryFileSystem. Memory allocated there represents kernel
/// memory. A test that refuses allocations must let these pass, because a real file system would not fail there.
bool inside_memory_file_system() noexcept;

/// The moment within a step at which an observer is called.
enum class Moment : std::uint8_t {
  kBefore,  // nothing is done yet
  kDuring,  // it is in flight: it may be done, not done, or torn. Left out for steps that fail before they do anything
  kAfter,   // it is over, done or failed; the caller does not know it yet
};

/// Called in the thread that makes the step, without a lock held. If the store has several threads, calls may be
/// concurrent. An observer may take images, change faults and do anything else that a test does. It must not call the
/// functions of file_system.h.
using Observer = std::function<void(const Operation&, Moment)>;

/// Any thread may use it. Handles may outlive it; they then work on a machine that no test can inspect any more. "/"
/// and "." exist from the start. Every other directory is made by create_directory() or is on the disk.
class MemoryFileSystem final : public FileSystem {
 public:
  /// Makes an empty disk under the operating system's scheduler.
  MemoryFileSystem();
  /// Represents a machine that was just started with this disk.
  explicit MemoryFileSystem(MemoryDisk disk);
  /// At every step, `scheduler` may let another thread run.
  explicit MemoryFileSystem(Scheduler& scheduler, MemoryDisk disk = MemoryDisk());
  ~MemoryFileSystem() override;

  std::string_view name() const noexcept override { return "memory"; }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, SyncPoint point) override;
  /// The queue's reads are steps like any others. reap() or the queue's destructor makes them.
  Result<std::unique_ptr<ReadQueue>> make_read_queue(Scheduler& scheduler, std::size_t depth) override;

  // -- The disk ---------------------------------------------------------------------------------------------------

  /// Returns the disk at this moment, with its pending changes and those in flight. Cheap, because bytes are shared.
  MemoryDisk snapshot() const;
  /// Return crash_image(), crash_images() and process_death_image() of snapshot(). This file system continues
  /// unchanged.
  MemoryDisk power_cut(CrashPolicy policy, RandomSource& random) const;
  std::vector<MemoryDisk> power_cuts(RandomSource& random, std::size_t images_max) const;
  MemoryDisk process_death(RandomSource& random) const;
  /// Damages or repairs the disk under a running store. `change` is called under the file system's lock and must not
  /// call the file system. It does not affect mapped shared memory.
  void change_disk(const std::function<void(MemoryDisk&)>& change);
  /// Stops keeping earlier states of shared memory, which take most of the time of a small run. For tests that take no
  /// power cuts: those would find only its initial or its present content.
  void keep_no_samples() noexcept;

  // -- Watching ---------------------------------------------------------------------------------------------------

  /// Sets the observer that is called around every mutating step. There is one at a time; an empty one removes it. If
  /// threads run one at a time, a step in flight does not call a removed observer any more. If threads run
  /// concurrently, no step may be in flight.
  void set_observer(Observer observer);
  /// Returns the number of mutating steps that have begun so far.
  std::uint64_t operation_count() const noexcept;

  // -- Misfortune -------------------------------------------------------------------------------------------------

  FaultPlan& faults() noexcept;

  /// Waits, through the scheduler, until FaultEffect::kNever has stopped `count` steps. Their callers are inside the
  /// file system, and an image shows their writes as in flight.
  void await_stuck(std::size_t count);
  std::size_t stuck_count() const;
  /// Continues all stopped steps. Clear the rules first; otherwise, they stop later steps too.
  void let_go();

  static constexpr std::uint64_t kUnlimited = UINT64_MAX;
  /// Sets the space for all files together in bytes, counted in whole pages. A step that would exceed it returns
  /// kNoSpace. A removed file counts until its handles are closed.
  void set_capacity_bytes(std::uint64_t bytes);
  std::uint64_t used_bytes() const;

  /// Sets the seed of the order in which later queues finish their reads, and of how many they finish at a time.
  void set_read_order(std::uint64_t seed) noexcept;

  /// Keeps the rules of a store of objects from now on, which promises less than a local disk: there is no shared memory,
  /// no link and no second life of a segment. A reader sees only durable bytes. A removed file is gone at once,
  /// and its handles fail.
  void keep_object_rules() noexcept;

  /// Takes every exclusive lock from its owner, like a lock service that believes the owner dead. Others may lock now.
  /// Every writing call through the owner's Directory and the handles made with it returns kFenced.
  void revoke_locks();

 private:
  std::shared_ptr<MemoryState> state_;
  std::atomic<std::uint64_t> next_read_order_{1};
};

}  // namespace varve::io
