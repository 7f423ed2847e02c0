#include "tests/lab/scenario/scenario.h"

#include <utility>

#include "tests/lab/scenario/scripts.h"

namespace varve::lab {

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> made;
    for (const auto& group : {commit_scripts(), table_scripts(), index_scripts(), tree_scripts(), whole_store_scripts(),
                              object_scripts()}) {
      made.insert(made.end(), group.begin(), group.end());
    }
    return made;
  }();
  return all;
}

const Scenario* find_scenario(std::string_view name) {
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

Report for_each_round(const Share& share, const std::function<void(const Scenario&, std::uint64_t, Report&)>& look) {
  Report report;
  for (std::uint64_t round = 0; round < share.rounds; ++round) {
    const std::uint64_t seed = share.seed + round;
    const Scenario* const chosen =
        share.only.empty() ? &scenarios()[seed % scenarios().size()] : find_scenario(share.only);
    if (chosen == nullptr) {
      report.find({seed, share.only, "no scenario of this name"});
      return report;
    }
    look(*chosen, seed, report);
  }
  return report;
}

bool is_scenario_on_rados(const Share& share, std::uint64_t seed) {
  return is_on_rados(share, seed / scenarios().size());
}

Opened open_copy(Remains remains, std::uint64_t seed, const Tuning& tuning) {
  Opened opened;
  opened.machine = std::make_unique<CopyMachine>(std::move(remains), seed);
  Result<StoreOptions> options = make_options(tuning, opened.machine->env);
  if (!options.ok()) {
    opened.status = options.status();
    return opened;
  }
  Result<std::unique_ptr<Store>> store = Store::open(opened.machine->files->path("store"), *options);
  opened.status = store.status();
  if (store.ok()) opened.store = *std::move(store);
  return opened;
}

Prepared prepare(const Scenario& scenario, std::uint64_t seed, bool on_rados) {
  Prepared prepared;
  prepared.remains = empty_machine(on_rados, seed);
  if (scenario.prepare == nullptr) return prepared;
  test::Machine machine(seed, test::OneThreadAtATime{});
  std::unique_ptr<MachineFiles> pool;
  if (on_rados) pool = make_files(prepared.remains, machine.scheduler(), machine.clock, seed, true);
  Stage stage(machine, scenario.tuning, prepared.ledger, pool.get());
  (void)stage.open();
  scenario.prepare(stage);
  switch (scenario.ending) {
    case Ending::kClosed:
      (void)stage.close();
      prepared.remains = machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random);
      break;
    case Ending::kKilled: prepared.remains = machine.files->process_death(machine.random); break;
    case Ending::kPowerCut:
      prepared.remains = machine.files->power_cut(io::CrashPolicy::kTornSectors, machine.random);
      prepared.ledger.power_failed();
      break;
  }
  if (on_rados) {
    prepared.remains = pool->process_death(machine.random);
    if (scenario.ending == Ending::kKilled) prepared.ledger.power_failed();
  }
  for (const Status& error : stage.errors()) prepared.problem += error.to_string() + "; ";
  for (const std::string& problem : stage.problems()) prepared.problem += problem + "; ";
  const Ledger::Mark mark = prepared.ledger.mark();
  (void)stage.close();  // the process is dead in the crash image; in this run it must end properly
  prepared.ledger.rewind(mark);
  return prepared;
}

}  // namespace varve::lab
