// Owns: the scenarios of the lab: short scripts that take a store through every feature that writes, and the way one is
// set up and run.
// Must never: judge; crash points, error points and allocations do, each by its own law.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/lab/scenario/stage.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// How the part of a scenario ends that comes before anything is looked at.
enum class Ending : std::uint8_t { kClosed, kKilled, kPowerCut };

struct Scenario {
  std::string_view name;
  Tuning tuning{};
  /// Makes what the scenario finds; may be null. Nothing fails in it.
  void (*prepare)(Stage& stage) = nullptr;
  Ending ending = Ending::kClosed;
  /// What is looked at. Begins with the store open, or opens it itself: see `opens`.
  void (*run)(Stage& stage) = nullptr;
  /// The opening of the store is part of what is looked at.
  bool opens = false;
  /// Plans faults of its own, so that errors are expected.
  bool has_faults = false;
  /// Has threads of its own.
  bool has_threads = false;
  /// Small enough that its recoveries are crashed as well, at every step.
  bool two_levels = false;
};

const std::vector<Scenario>& scenarios();
/// Null where there is none of the name.
const Scenario* find_scenario(std::string_view name);

/// Calls `look` for each round of the share, with the scenario that it names, or else the seed in turn, and the round's
/// seed. A name that no scenario has is a finding.
Report for_each_round(const Share& share,
                      const std::function<void(const Scenario& scenario, std::uint64_t seed, Report& report)>& look);

/// A scenario about to be looked at: a disk as its preparation left it, and the ledger of what is on it.
struct Prepared {
  io::MemoryDisk disk;
  Ledger ledger;
  std::string problem;  // what went wrong in the preparation; empty if nothing
};
Prepared prepare(const Scenario& scenario, std::uint64_t seed);

/// Reads the store on `disk`, on a machine of its own, after whatever recovery it needs.
struct Opened {
  std::unique_ptr<test::Machine> machine;
  std::unique_ptr<io::Env> env;
  std::unique_ptr<Store> store;
  Status status;
};
Opened open_copy(io::MemoryDisk disk, std::uint64_t seed, const Tuning& tuning);

}  // namespace varve::lab
