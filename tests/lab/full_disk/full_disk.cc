#include "tests/lab/full_disk/full_disk.h"

#include "io/scheduler.h"
#include "tests/lab/machine/machine_files.h"

namespace varve::lab {

namespace {

constexpr std::uint64_t kCycles = 250;
/// So small that the log is freed soon, and tables are written while there is no room.
constexpr std::uint64_t kWriteBufferBytes = 1 << 20;
constexpr std::uint64_t kDecisionsMax = std::uint64_t{1} << 32;

/// Waits on the clock of the simulation, even if no other event happens in it.
class Pause {
 public:
  explicit Pause(io::Scheduler& scheduler) : mutex_(scheduler), condition_(scheduler) {}
  void wait(std::chrono::milliseconds time) {
    const io::MutexGuard guard(mutex_);
    static_cast<void>(condition_.wait_for(mutex_, time));
  }

 private:
  io::Mutex mutex_;
  io::Condition condition_;
};

void run_round(std::uint64_t seed, bool on_rados, std::uint64_t cycles, Report& report) {
  ScheduledMachine machine(empty_machine(on_rados, seed), seed);
  machine.simulation.set_decisions_max(kDecisionsMax);
  const std::string path = machine.files->path("store");
  Pause pause(machine.scheduler());
  FullDiskWorld world;
  world.path = path;
  world.env = [&]() -> const io::Env& { return machine.env(); };
  world.leave_room = [&](std::uint64_t bytes) { machine.files->fill(bytes); };
  world.give_room = [&] { machine.files->free_space(); };
  world.pass_time = [&] { pause.wait(std::chrono::milliseconds(50)); };
  world.open = [&]() -> Result<std::unique_ptr<Store>> {
    ResourceOptions scarce;
    scarce.write_buffer_bytes = kWriteBufferBytes;
    scarce.block_cache_bytes = kWriteBufferBytes;
    Result<std::shared_ptr<Resources>> resources = Resources::create(scarce);
    if (!resources.ok()) return resources.status();
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &machine.env();
    options.resources = *std::move(resources);
    return open_as_standby(path, options);
  };
  if (on_rados) {
    world.take_over = [&, open = world.open](std::unique_ptr<Store> former) {
      (void)machine.files->freeze();
      Result<std::unique_ptr<Store>> taken = open();
      machine.files->thaw();
      (void)former->close();
      former.reset();
      machine.files->end_thawed();
      return taken;
    };
  }
  FullDiskRun run(seed, std::move(world));
  std::string broken = run.run(cycles);
  if (const std::string stray = machine.files->stray(path); broken.empty() && !stray.empty()) {
    broken = "an object that no entry names: " + stray;
  }
  report.add(run.report());
  if (on_rados) report.count("rounds on RADOS");
  if (!broken.empty()) report.find({seed, {}, broken, {}});
}

}  // namespace

Report run_full_disk(const Share& share, std::uint64_t cycles) {
  Report report;
  for (std::uint64_t seed = share.seed; seed < share.seed + share.rounds; ++seed) {
    run_round(seed, is_on_rados(share, seed), cycles, report);
  }
  return report;
}

Report run_full_disk(const Share& share) {
  return run_full_disk(share, kCycles);
}

}  // namespace varve::lab
