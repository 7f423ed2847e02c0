// Owns: processes that share a model of RADOS, with threads that follow a seed.
// Must never: be destroyed before the handles and engines of its processes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "io/env.h"
#include "io/rados/rados_file_system.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/object_cluster.h"
#include "io/simulated/seeded_scheduler.h"

namespace varve::test {

inline constexpr const char* kRadosPath = "rados:pool/store";

/// A process with its own connection.
struct RadosProgram {
  std::unique_ptr<io::ObjectDoor> door;
  std::unique_ptr<io::RadosFileSystem> files;
};

class RadosMachine {
 public:
  explicit RadosMachine(std::uint64_t seed) : random(seed), simulation(seed, clock), cluster(scheduler(), seed) {}

  io::Scheduler& scheduler() { return simulation.scheduler(); }
  io::Env env_of(RadosProgram& program) { return io::Env{*program.files, clock, random, scheduler()}; }
  /// Starts a process with a door to the model, or with the given one.
  RadosProgram& start(io::RadosOptions options = {}, std::unique_ptr<io::ObjectDoor> door = nullptr) {
    auto program = std::make_unique<RadosProgram>();
    program->door = door != nullptr ? std::move(door) : cluster.make_door();
    program->files = std::make_unique<io::RadosFileSystem>("pool", *program->door, clock, random, scheduler(), options);
    programs_.push_back(std::move(program));
    return *programs_.back();
  }

  /// Ends a process, whose handles are gone.
  void stop(RadosProgram& program) {
    std::erase_if(programs_, [&](const std::unique_ptr<RadosProgram>& other) { return other.get() == &program; });
  }

  io::ManualClock clock;
  io::SeededRandom random;
  io::SeededScheduler simulation;
  io::ObjectCluster cluster;

 private:
  std::vector<std::unique_ptr<RadosProgram>> programs_;
};

}  // namespace varve::test
