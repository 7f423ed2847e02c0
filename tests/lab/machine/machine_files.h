// Owns: the files of a machine of the lab: those of a disk in memory, or of a store in a model of a RADOS pool.
// Must never: know a suite, or a law.
//
// On RADOS a crash is the death of the process that owns the store. Changes on their way arrive before its
// successor opens, beside that, or never. By the seed, blocklists take effect at once, never, or are on their way without
// an end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/env.h"
#include "io/simulated/fault_plan.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/object_cluster.h"
#include "io/simulated/seeded_scheduler.h"
#include "varve/store.h"

namespace varve::lab {

/// A pool after the death of every process that used it.
struct PoolRemains {
  io::ObjectCluster::Image image{};
  std::vector<std::string> senders{};  // the clients whose changes may be late
  std::uint64_t world = 0;             // a seed for what is the same in all crashes of a run
};

/// The files of a machine after a crash.
struct Remains {
  Remains(io::MemoryDisk of_disk = {}) : disk(std::move(of_disk)) {}  // NOLINT(google-explicit-constructor)
  explicit Remains(PoolRemains of_pool) : pool(std::move(of_pool)) {}

  io::MemoryDisk disk;
  std::optional<PoolRemains> pool;  // of a machine on RADOS, which has no disk
};

/// Returns those of a new machine: one on RADOS, or one with a disk.
Remains empty_machine(bool on_rados, std::uint64_t seed);

class MachineFiles {
 public:
  virtual ~MachineFiles() = default;
  /// Returns the file system of the present process.
  virtual io::FileSystem& system() = 0;
  /// Returns the path of a store.
  virtual std::string path(std::string_view name) const = 0;
  /// Returns whether data that was not synced outlives its process.
  virtual bool outlives_process() const = 0;

  /// Calls `look` during each step that changes something.
  virtual void observe(std::function<void()> look) = 0;
  /// Returns the files of this moment.
  virtual Remains snapshot() const = 0;
  /// Return what a crash at this moment would leave.
  virtual Remains process_death(io::RandomSource& random) const = 0;
  virtual Remains power_cut(io::CrashPolicy policy, io::RandomSource& random) const = 0;
  /// Returns the number of steps that wrote into files.
  virtual std::uint64_t write_count() const = 0;
  /// Returns what belongs to no file of the store at this path, after an open. Empty: nothing.
  virtual std::string stray(std::string_view path) const = 0;

  /// On RADOS, a rule for log writes or for reads of files meets these. One for another kind meets nothing, and names are not
  /// heeded. FaultEffect::kNever stops all operations on the object, of one object at a time.
  virtual void fail(io::FaultRule rule) = 0;
  virtual void end_faults() = 0;
  virtual std::uint64_t fault_count() const = 0;
  /// Returns whether FaultEffect::kNever has stopped a step.
  virtual bool is_stuck() const = 0;
  /// Lets stopped steps go on. End the faults first; otherwise, they stop later steps too.
  virtual void let_go() = 0;
  /// Fills the disk up to so many bytes. A pool is full at once.
  virtual void fill(std::uint64_t bytes_left) = 0;
  virtual void free_space() = 0;

  /// Freezes the process: nothing that it sends is answered. system() is then that of another one. Returns false if the
  /// machine's files have one process.
  virtual bool freeze() = 0;
  /// Lets the frozen process go on, which is no owner any more.
  virtual void thaw() = 0;
  /// Ends the thawed process, whose handles are gone.
  virtual void end_thawed() = 0;
};

/// The references must outlive the result. `waits`: a new owner waits for the end of the former one's lease, which takes
/// two seconds of the scheduler's time.
std::unique_ptr<MachineFiles> make_files(Remains remains, io::Scheduler& scheduler, io::Clock& clock,
                                         std::uint64_t seed, bool waits);

/// Opens a store as a standby does. On RADOS, a change of a dead owner that arrives late may make an open Locked.
Result<std::unique_ptr<Store>> open_as_standby(std::string_view path, const StoreOptions& options);

/// A machine whose threads run one at a time, so that a seed always runs in the same way.
struct ScheduledMachine {
  ScheduledMachine(Remains remains, std::uint64_t seed)
      : random(seed),
        simulation(seed, clock),
        files(make_files(std::move(remains), simulation.scheduler(), clock, ~seed, true)) {}
  io::Scheduler& scheduler() { return simulation.scheduler(); }
  /// Returns that of the present process. It lives as long as the machine.
  const io::Env& env() {
    if (envs.empty() || &envs.back().files != &files->system()) {
      envs.push_back({files->system(), clock, random, simulation.scheduler()});
    }
    return envs.back();
  }

  io::ManualClock clock;
  io::SeededRandom random;
  io::SeededScheduler simulation;
  std::unique_ptr<MachineFiles> files;
  std::deque<io::Env> envs;  // of the processes so far
};

/// A machine on which the remains of another one are looked at, with real threads.
struct CopyMachine {
  CopyMachine(Remains remains, std::uint64_t seed)
      : random(seed), files(make_files(std::move(remains), scheduler, clock, ~seed, false)) {}

  io::ManualClock clock;
  io::SeededRandom random;
  io::Scheduler scheduler;
  std::unique_ptr<MachineFiles> files;
  io::Env env{files->system(), clock, random, scheduler};
};

}  // namespace varve::lab
