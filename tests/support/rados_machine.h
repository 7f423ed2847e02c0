// Owns: processes that share a model of RADOS, with threads that follow a seed.
// Must never: be destroyed before the handles and engines of its processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/env.h"
#include "io/rados/rados_file_system.h"
#include "io/rados/rados_names.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/object_cluster.h"
#include "io/simulated/seeded_scheduler.h"

namespace varve::test {

inline constexpr const char* kRadosPath = "rados:pool/store";
inline constexpr const char* kStoreName = "store";

/// Returns the objects of the store that no entry of its root names.
inline std::vector<std::string> strays_in(io::ObjectCluster& cluster) {
  const std::unique_ptr<io::ObjectDoor> door = cluster.make_door();
  io::ObjectLook root;
  io::TextMap entries;
  if (door->look(io::root_object(kStoreName), root) != 0) return {"the root is gone"};
  if (door->entries(io::root_object(kStoreName), entries) != 0) return {"the root is gone"};
  const std::string store = root.attributes["id"];
  std::set<std::string> named;
  for (const auto& [key, text] : entries) {
    const bool is_file = key.starts_with(io::kFilePrefix);
    named.insert(is_file ? (*io::parse_entry(text)).id() : key.substr(io::kNamelessPrefix.size()));
  }
  std::vector<std::string> strays;
  for (const std::string& object : cluster.names()) {
    if (!object.starts_with(store + "/")) continue;
    const std::string id = object.substr(store.size() + 1, object.rfind('.') - store.size() - 1);
    if (!named.contains(id)) strays.push_back(object);
  }
  return strays;
}

/// A process's clock for leases, which can go at another rate than the others, or stop.
class LeaseClock final : public io::Clock {
 public:
  explicit LeaseClock(io::Clock& real) : real_(real), real_base_(real.since_boot()), base_(real_base_) {}
  io::Ticks wall() noexcept override { return real_.wall(); }
  std::chrono::nanoseconds monotonic() noexcept override { return real_.monotonic(); }
  std::chrono::nanoseconds since_boot() noexcept override {
    const std::lock_guard<std::mutex> guard(mutex_);
    return now();
  }
  /// From now on, so many seconds pass here while `real` pass elsewhere.
  void set_rate(std::int64_t own, std::int64_t real) noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    base_ = now();
    real_base_ = real_.since_boot();
    own_seconds_ = own;
    real_seconds_ = real;
  }

 private:
  std::chrono::nanoseconds now() const noexcept {
    return base_ + (real_.since_boot() - real_base_) * own_seconds_ / real_seconds_;
  }

  io::Clock& real_;
  std::mutex mutex_;
  std::chrono::nanoseconds real_base_;
  std::chrono::nanoseconds base_;
  std::int64_t own_seconds_ = 1;
  std::int64_t real_seconds_ = 1;
};

/// A process with its own connection.
struct RadosProgram {
  std::unique_ptr<LeaseClock> lease_clock;
  std::unique_ptr<io::ObjectDoor> door;
  std::unique_ptr<io::RadosFileSystem> files;
};

class RadosMachine {
 public:
  explicit RadosMachine(std::uint64_t seed) : random(seed), simulation(seed, clock), cluster(scheduler(), seed) {}

  io::Scheduler& scheduler() { return simulation.scheduler(); }
  io::Env env_of(RadosProgram& program) { return io::Env{*program.files, clock, random, scheduler()}; }
  /// For a process whose door leads to a real cluster: this machine's clock and threads.
  static io::Env real_env_of(RadosProgram& program) {
    const io::Env& system = io::system_env();
    return io::Env{*program.files, system.clock, system.random, system.scheduler};
  }
  /// Starts a process with a door to the model: a new one, or the given one.
  RadosProgram& start(io::RadosOptions options = {}, std::unique_ptr<io::ObjectDoor> door = nullptr) {
    if (door == nullptr) door = cluster.make_door();
    return start(options, std::move(door), clock, random, scheduler());
  }
  /// Starts a process with a door to a real cluster, and with this machine's clock and threads.
  RadosProgram& start_real(io::RadosOptions options, std::unique_ptr<io::ObjectDoor> door) {
    const io::Env& system = io::system_env();
    return start(options, std::move(door), system.clock, system.random, system.scheduler);
  }

  std::vector<std::string> strays() { return strays_in(cluster); }

  /// Ends a process, whose handles are gone.
  void stop(RadosProgram& program) {
    std::erase_if(programs_, [&](const std::unique_ptr<RadosProgram>& other) { return other.get() == &program; });
  }

  io::ManualClock clock;
  io::SeededRandom random;
  io::SeededScheduler simulation;
  io::ObjectCluster cluster;

 private:
  RadosProgram& start(const io::RadosOptions& options, std::unique_ptr<io::ObjectDoor> door, io::Clock& its_clock,
                      io::RandomSource& its_random, io::Scheduler& its_scheduler) {
    auto program = std::make_unique<RadosProgram>();
    program->lease_clock = std::make_unique<LeaseClock>(its_clock);
    program->door = std::move(door);
    program->files = std::make_unique<io::RadosFileSystem>("pool", *program->door, *program->lease_clock, its_random,
                                                           its_scheduler, options);
    programs_.push_back(std::move(program));
    return *programs_.back();
  }

  std::vector<std::unique_ptr<RadosProgram>> programs_;
};

}  // namespace varve::test
