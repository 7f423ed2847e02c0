#include "tests/lab/memory/memory.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "tests/support/allocation_counter.h"

namespace varve::lab {
namespace {

constexpr std::uint64_t kRunsMax = 26;  // runs in one round

/// Counts the calling thread's allocations inside calls of the store, and refuses the n-th of them.
class CallingThread {
 public:
  CallingThread(Stage& stage, std::uint64_t nth) : stage_(stage), nth_(nth) {
    stage_.set_call_hook([this](bool enters) { enters ? enter() : leave(); });
  }
  ~CallingThread() { stage_.set_call_hook({}); }
  CallingThread(const CallingThread&) = delete;
  CallingThread& operator=(const CallingThread&) = delete;

  std::uint64_t counted() const noexcept { return counted_; }

 private:
  void enter() {
    begun_ = test::allocation_count();
    if (nth_ > counted_) failure_.emplace(nth_ - counted_);
  }
  void leave() {
    failure_.reset();
    counted_ += test::allocation_count() - begun_;
  }

  Stage& stage_;
  const std::uint64_t nth_;  // zero: none
  std::uint64_t counted_ = 0;
  std::uint64_t begun_ = 0;
  std::optional<test::AllocationFailure> failure_;
};

struct Refusal {
  std::uint64_t nth = 0;  // zero: none is refused, allocations are only counted
  bool of_others = false;
  bool from_then_on = false;

  std::string words() const {
    return "allocation " + std::to_string(nth) + (of_others ? " of the store's threads" : "") +
           (from_then_on ? " and all later ones" : "");
  }
};

/// Runs the scenario. Returns the number of allocations that the calling thread made in it.
std::uint64_t run_once(const Scenario& scenario, const Prepared& prepared, std::uint64_t seed, const Refusal& refusal,
                       Report& report) {
  Ledger ledger = prepared.ledger;
  test::Machine machine(seed + 1, prepared.remains.disk);
  Stage stage(machine, scenario.tuning, ledger);
  if (scenario.ending == Ending::kPowerCut) stage.expect_power_cut();
  if (!scenario.opens) (void)stage.open();
  std::uint64_t counted = 0;
  bool happened = false;
  {
    std::optional<test::OtherThreadsAllocationFailure> others;
    if (refusal.of_others) others.emplace(refusal.nth, refusal.from_then_on);
    const CallingThread caller(stage, refusal.of_others ? 0 : refusal.nth);
    scenario.run(stage);
    counted = caller.counted();
    happened = refusal.of_others ? others->happened() : counted >= refusal.nth;
  }
  report.count("runs");
  if (happened && refusal.nth != 0) report.count("allocations refused");
  if (stage.error_count() > 0) report.count("runs that reported an error");
  const std::string broken =
      stage.problems().empty() ? check_aftermath(stage, scenario.tuning, seed + 2) : stage.problems().front();
  if (!broken.empty()) {
    std::string told;
    for (const Status& error : stage.errors()) told += "told: " + error.to_string() + "\n";
    report.find(
        {seed, std::string(scenario.name), std::string(scenario.name) + ": " + broken, refusal.words() + "\n" + told});
  }
  return counted;
}

void refuse_each(const Scenario& scenario, std::uint64_t seed, Report& report) {
  const Prepared prepared = prepare(scenario, seed);
  if (!prepared.problem.empty()) {
    report.find({seed, std::string(scenario.name), "in the preparation: " + prepared.problem});
    return;
  }
  report.count("scenarios");
  io::SeededRandom random(seed);
  const std::uint64_t all = run_once(scenario, prepared, seed, {}, report);
  const std::uint64_t stride = std::max<std::uint64_t>(1, all * 3 / (kRunsMax * 2));
  for (std::uint64_t nth = 1 + seed % stride; nth <= all && report.findings.size() < 5; nth += stride) {
    run_once(scenario, prepared, seed, {nth, false, false}, report);
    if (!io::one_in(random, 2)) continue;
    run_once(scenario, prepared, seed, {1 + io::random_below(random, 400), true, io::one_in(random, 3)}, report);
  }
}

}  // namespace

Report allocation_points(const Share& share) {
  test::exempt_allocations(is_not_the_stores_memory);
  Report all = for_each_round(share, [](const Scenario& scenario, std::uint64_t seed, Report& report) {
    if (!scenario.has_faults && !scenario.has_threads) refuse_each(scenario, seed, report);
  });
  test::exempt_allocations(nullptr);
  return all;
}

}  // namespace varve::lab
