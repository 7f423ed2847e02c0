#include <string>
#include <utility>

#include "tests/lab/errors/errors.h"

namespace varve::lab {
namespace {

constexpr std::uint64_t kDistance = 12;  // from one failing operation to the next; the seed says where they begin

struct PlannedFailure {
  io::FaultRule rule;
  std::string words;
};

PlannedFailure plan_failure(std::uint64_t nth, io::RandomSource& random) {
  PlannedFailure planned;
  planned.rule.skip_count = nth;
  const bool lasts = io::one_in(random, 3);
  if (lasts) planned.rule.fail_count = io::FaultRule::kFromThenOn;
  planned.words = "operation " + std::to_string(nth) + (lasts ? " and all later ones: " : ": ");
  if (io::one_in(random, 2)) {
    planned.rule.effect = io::FaultEffect::kErrorAfterwards;
    planned.words += "a change is made, but not answered";
  } else if (io::one_in(random, 3)) {
    planned.rule.code = Code::kNoSpace;
    planned.words += "the pool is full";
  } else {
    planned.words += "not done";
  }
  return planned;
}

std::string check_aftermath_on_rados(Stage& stage, MachineFiles& files, const Tuning& tuning, std::uint64_t seed) {
  io::SeededRandom picks(seed);
  stage.read_all();
  if (!stage.problems().empty()) return stage.problems().front();
  const auto check = [&](const char* when) {
    const Image image{files.process_death(picks), false, stage.ledger().mark(), stage.checkpoints(), when};
    const std::string broken = check_image(image, stage.ledger(), tuning, seed);
    return broken.empty() ? "" : image.where + ": " + broken;
  };
  if (std::string broken = check("a death afterwards"); !broken.empty()) return broken;
  (void)stage.close();  // refused if the store's log failed; recovery follows in that case
  return check("closed afterwards");
}

/// Returns false if the run had no n-th operation.
bool fail_one_on_rados(const Scenario& scenario, const Prepared& prepared, std::uint64_t seed, std::uint64_t nth,
                       Report& report) {
  io::SeededRandom random(seed * 1'000'003 + nth);
  const PlannedFailure planned = plan_failure(nth, random);
  Ledger ledger = prepared.ledger;
  test::Machine machine(seed + 1, test::OneThreadAtATime{});
  const auto files = make_files(prepared.remains, machine.scheduler(), machine.clock, seed + 1, true);
  Stage stage(machine, scenario.tuning, ledger, files.get());
  if (!scenario.opens) (void)stage.open();
  files->fail(planned.rule);
  scenario.run(stage);
  const std::uint64_t hits = files->fault_count();
  files->end_faults();
  report.count("runs on RADOS");
  report.count("operations on RADOS failed", hits);
  std::string broken = stage.problems().empty() ? "" : stage.problems().front();
  if (broken.empty()) broken = check_aftermath_on_rados(stage, *files, scenario.tuning, seed + 2);
  if (!broken.empty()) {
    std::string told;
    for (const Status& error : stage.errors()) told += "told: " + error.to_string() + "\n";
    report.find(
        {seed, std::string(scenario.name), std::string(scenario.name) + ": " + broken, planned.words + "\n" + told});
  }
  return hits > 0;
}

}  // namespace

void fail_each_on_rados(const Scenario& scenario, std::uint64_t seed, Report& report) {
  const Prepared prepared = prepare(scenario, seed, true);
  if (!prepared.problem.empty()) {
    report.find({seed, std::string(scenario.name), "in the preparation: " + prepared.problem});
    return;
  }
  report.count("scenarios on RADOS");
  int missed = 0;  // A full pool refuses few changes.
  for (std::uint64_t nth = seed % kDistance; missed < 3 && report.findings.size() < 5; nth += kDistance) {
    missed = fail_one_on_rados(scenario, prepared, seed, nth, report) ? 0 : missed + 1;
  }
}

}  // namespace varve::lab
