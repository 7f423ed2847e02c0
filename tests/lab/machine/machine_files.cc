#include "tests/lab/machine/machine_files.h"

#include <chrono>
#include <utility>

#include "io/rados/rados_file_system.h"
#include "tests/lab/machine/disk_files.h"
#include "tests/lab/machine/trying_door.h"
#include "tests/support/rados_machine.h"

namespace varve::lab {
namespace {

constexpr std::string_view kPool = "pool";
constexpr unsigned kPercentSentAgain = 5;
constexpr std::size_t kLateMax = 4;

/// What happens to blocklists.
enum class Blocklists : std::uint8_t { kTakeEffect, kHaveNone, kAreOnTheirWay };

Blocklists blocklists_of(std::uint64_t world) {
  return static_cast<Blocklists>(world % 3);
}

class PoolFiles final : public MachineFiles {
 public:
  PoolFiles(PoolRemains remains, io::Scheduler& scheduler, io::Clock& clock, std::uint64_t seed, bool waits)
      : scheduler_(scheduler),
        clock_(clock),
        random_(seed),
        world_(remains.world),
        waits_(waits),
        cluster_(scheduler, random_.next(), remains.image),
        traffic_(cluster_, random_.next(), std::move(remains.senders)) {
    cluster_.repeat(kPercentSentAgain);
    if (blocklists_of(world_) == Blocklists::kHaveNone) cluster_.hold_blocklists();
    if (blocklists_of(world_) == Blocklists::kAreOnTheirWay) cluster_.delay_blocklists();
    for (const std::string& sender : traffic_.senders()) (void)cluster_.deliver(sender, draw(kLateMax));
    start();
  }

  io::FileSystem& system() override { return *processes_.back().files; }
  std::string path(std::string_view name) const override {
    return "rados:" + std::string(kPool) + "/" + std::string(name);
  }
  bool outlives_process() const override { return false; }

  void observe(std::function<void()> look) override { traffic_.observe(std::move(look)); }
  Remains snapshot() const override { return Remains(remains()); }
  Remains process_death(io::RandomSource& random) const override {
    PoolRemains pool = remains();
    if (!io::one_in(random, 3)) traffic_.add_late_to(pool.image);  // Otherwise it never arrives.
    return Remains(std::move(pool));
  }
  Remains power_cut(io::CrashPolicy /*policy*/, io::RandomSource& random) const override {
    return process_death(random);
  }
  std::uint64_t write_count() const override { return traffic_.write_count(); }
  std::string stray(std::string_view path) const override {
    // The fence alone lets a removed object be made anew.
    if (blocklists_of(world_) == Blocklists::kHaveNone || path != test::kRadosPath) return "";
    const std::vector<std::string> strays = test::strays_in(cluster_);
    return strays.empty() ? "" : strays.front();
  }

  void fail(io::FaultRule rule) override { traffic_.fail(std::move(rule)); }
  void end_faults() override { traffic_.end_faults(); }
  std::uint64_t fault_count() const override { return traffic_.fault_count(); }
  bool is_stuck() const override { return traffic_.is_stuck(); }
  void let_go() override { traffic_.let_go(); }
  void fill(std::uint64_t /*bytes_left*/) override { cluster_.set_full(true); }
  void free_space() override { cluster_.set_full(false); }

  bool freeze() override {
    const std::string client = processes_.back().door->client();
    cluster_.cut_off(client, 0, kLateMax);
    traffic_.add_sender(client);
    start();
    return true;
  }
  void thaw() override { cluster_.reconnect(processes_[processes_.size() - 2].door->client()); }
  void end_thawed() override {
    processes_[processes_.size() - 2].files.reset();  // before its door
    processes_.erase(processes_.end() - 2);
  }

 private:
  struct Process {
    std::unique_ptr<TryingDoor> door;
    std::unique_ptr<io::RadosFileSystem> files;
  };

  PoolRemains remains() const {
    PoolRemains pool{cluster_.image(), traffic_.senders(), world_};
    pool.senders.push_back(processes_.back().door->client());
    return pool;
  }

  std::uint64_t draw(std::uint64_t bound) { return io::random_below(random_, bound); }

  void start() {
    io::RadosOptions options;
    options.takeover_wait = waits_;
    if (!waits_) options.renewal_time = std::chrono::hours(1);
    Process process;
    process.door = std::make_unique<TryingDoor>(traffic_, cluster_.make_door());
    process.files = std::make_unique<io::RadosFileSystem>(kPool, *process.door, clock_, random_, scheduler_, options);
    processes_.push_back(std::move(process));
  }

  io::Scheduler& scheduler_;
  io::Clock& clock_;
  io::SeededRandom random_;
  const std::uint64_t world_;
  const bool waits_;
  mutable io::ObjectCluster cluster_;
  DoorTraffic traffic_;
  std::vector<Process> processes_;
};

}  // namespace

Remains empty_machine(bool on_rados, std::uint64_t seed) {
  return on_rados ? Remains(PoolRemains{{}, {}, seed}) : Remains();
}

Result<std::unique_ptr<Store>> open_as_standby(std::string_view path, const StoreOptions& options) {
  constexpr int kAttempts = 8;
  for (int attempt = 1;; ++attempt) {
    Result<std::unique_ptr<Store>> opened = Store::open(path, options);
    const bool is_on_rados = path.starts_with("rados:");
    if (opened.code() != Code::kLocked || !is_on_rados || attempt == kAttempts) return opened;
  }
}

std::unique_ptr<MachineFiles> make_files(Remains remains, io::Scheduler& scheduler, io::Clock& clock,
                                         std::uint64_t seed, bool waits) {
  if (!remains.pool) return make_disk_files(std::move(remains.disk), scheduler);
  return std::make_unique<PoolFiles>(*std::move(remains.pool), scheduler, clock, seed, waits);
}

}  // namespace varve::lab
