// Owns: the scenarios of the lab: short scripts that use every feature of a store that writes, and the preparation and
// running of a script.
// Must never: check a result. Crash points, error points and allocation points check it, each by its own law.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/lab/scenario/stage.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// The end of a scenario's preparation, before the tested part.
enum class Ending : std::uint8_t { kClosed, kKilled, kPowerCut };

struct Scenario {
  std::string_view name;
  Tuning tuning{};
  /// Prepares the store for the scenario. May be null. Nothing fails in it.
  void (*prepare)(Stage& stage) = nullptr;
  Ending ending = Ending::kClosed;
  /// The tested part. It begins with an open store, or opens it itself: see `opens`.
  void (*run)(Stage& stage) = nullptr;
  /// Whether the tested part includes the opening of the store.
  bool opens = false;
  /// Whether the scenario plans faults of its own, so that errors are expected.
  bool has_faults = false;
  /// Whether the scenario has threads of its own.
  bool has_threads = false;
  /// Whether the scenario is small enough to crash its recoveries at every step as well.
  bool two_levels = false;
};

const std::vector<Scenario>& scenarios();
/// Returns null if there is no scenario of this name.
const Scenario* find_scenario(std::string_view name);

/// Returns whether the stores of a round of scenarios are on the model of RADOS.
bool is_scenario_on_rados(const Share& share, std::uint64_t seed);

/// Calls `look` for each round of the share with a scenario and the round's seed. The scenario is the one that the
/// share names, or the next by seed. An unknown name is a finding.
Report for_each_round(const Share& share,
                      const std::function<void(const Scenario& scenario, std::uint64_t seed, Report& report)>& look);

/// A prepared scenario: the files after its preparation, and the ledger of their content.
struct Prepared {
  Remains remains;
  Ledger ledger;
  std::string problem;  // the failure of the preparation; empty: none
};
Prepared prepare(const Scenario& scenario, std::uint64_t seed, bool on_rados = false);

/// Opens the store of a crashed machine on a machine of its own, which recovers it.
struct Opened {
  std::unique_ptr<CopyMachine> machine;
  std::unique_ptr<Store> store;
  Status status;
};
Opened open_copy(Remains remains, std::uint64_t seed, const Tuning& tuning);

}  // namespace varve::lab
