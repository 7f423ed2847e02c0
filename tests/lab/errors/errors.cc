#include "tests/lab/errors/errors.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/os_error.h"

namespace varve::lab {
namespace {

constexpr std::uint64_t kStride = 8;  // from one failing operation to the next; the seed says where they begin

constexpr std::array kErrnos{EIO, ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOMEM, EROFS, EACCES};

/// The fault of the n-th operation of a run.
struct Planned {
  io::FaultRule rule;
  std::string words;
};

bool is_sync(const io::Operation& operation) {
  switch (operation.kind) {
    case io::OperationKind::kSync:
    case io::OperationKind::kDirectorySync:
    case io::OperationKind::kReplaceSync:
    case io::OperationKind::kReplaceDirectorySync:
    case io::OperationKind::kLogWrite:
    case io::OperationKind::kCut: return true;
    default: return false;
  }
}

std::string_view word_of(io::FaultEffect effect) {
  switch (effect) {
    case io::FaultEffect::kShortThenError: return "in part";
    case io::FaultEffect::kErrorAfterwards: return "done and yet an error";
    case io::FaultEffect::kSyncFailsCacheKept: return "sync, cache kept";
    case io::FaultEffect::kSyncFailsCacheReverted: return "sync, cache reverted";
    default: return "not done";
  }
}

Planned plan(std::uint64_t nth, io::RandomSource& random) {
  Planned planned;
  io::FaultRule& rule = planned.rule;
  rule.skip_count = nth;
  const bool sticky = io::one_in(random, 2);
  rule.fail_count = sticky ? io::FaultRule::kFromThenOn : 1;
  const int error = kErrnos[io::random_below(random, kErrnos.size())];
  rule.os_error = error;
  rule.code = io::os_error_code(error);
  rule.reason = std::strerror(error);  // NOLINT(concurrency-mt-unsafe): one thread plans
  if (io::one_in(random, 3)) {
    rule.predicate = is_sync;
    rule.skip_count = nth / 3;
    rule.effect =
        io::one_in(random, 2) ? io::FaultEffect::kSyncFailsCacheKept : io::FaultEffect::kSyncFailsCacheReverted;
  } else {
    constexpr std::array kEffects{io::FaultEffect::kError, io::FaultEffect::kError, io::FaultEffect::kShortThenError,
                                  io::FaultEffect::kErrorAfterwards};
    rule.effect = kEffects[io::random_below(random, kEffects.size())];
  }
  planned.words = "operation " + std::to_string(rule.skip_count) + (rule.predicate ? " of the syncs" : "") +
                  (sticky ? " and all later ones: " : ": ") + rule.reason + ", " + std::string(word_of(rule.effect));
  return planned;
}

std::string first_problem(const Stage& stage) {
  return stage.problems().empty() ? "" : stage.problems().front();
}

/// Returns false if the run had no n-th operation.
bool fail_one(const Scenario& scenario, const Prepared& prepared, std::uint64_t seed, std::uint64_t nth,
              Report& report) {
  io::SeededRandom random(seed * 1'000'003 + nth);
  const Planned planned = plan(nth, random);
  Ledger ledger = prepared.ledger;
  test::Machine machine(seed + 1, test::OneThreadAtATime{}, prepared.remains.disk);
  Stage stage(machine, scenario.tuning, ledger);
  if (scenario.ending == Ending::kPowerCut) stage.expect_power_cut();
  if (!scenario.opens) (void)stage.open();
  machine.files->faults().add(planned.rule);
  scenario.run(stage);
  const std::uint64_t hits = machine.files->faults().hit_count();
  machine.files->faults().clear();
  report.count("runs");
  report.count("operations failed", hits);
  if (stage.error_count() > 0) report.count("runs that reported an error");
  std::string broken = first_problem(stage);
  if (broken.empty()) broken = check_aftermath(stage, scenario.tuning, seed + 2);
  if (!broken.empty()) {
    std::string told;
    for (const Status& error : stage.errors()) told += "told: " + error.to_string() + "\n";
    report.find(
        {seed, std::string(scenario.name), std::string(scenario.name) + ": " + broken, planned.words + "\n" + told});
  }
  return hits > 0;
}

void fail_each(const Scenario& scenario, std::uint64_t seed, Report& report) {
  const Prepared prepared = prepare(scenario, seed);
  if (!prepared.problem.empty()) {
    report.find({seed, std::string(scenario.name), "in the preparation: " + prepared.problem});
    return;
  }
  report.count("scenarios");
  int missed = 0;  // the selected syncs determine which operations exist
  for (std::uint64_t nth = seed % kStride; missed < 3 && report.findings.size() < 5; nth += kStride) {
    missed = fail_one(scenario, prepared, seed, nth, report) ? 0 : missed + 1;
  }
}

Image image_of(io::MemoryDisk disk, bool killed, const Stage& stage, const Ledger& ledger, std::string where) {
  return {std::move(disk), killed, ledger.mark(), const_cast<Stage&>(stage).checkpoints(), std::move(where)};
}

}  // namespace

std::string check_aftermath(Stage& stage, const Tuning& tuning, std::uint64_t seed) {
  io::MemoryFileSystem& files = *stage.machine().files;
  io::SeededRandom picks(seed);
  stage.read_all();
  if (std::string problem = first_problem(stage); !problem.empty()) return problem;
  const Ledger& ledger = stage.ledger();
  const Image images[] = {
      image_of(files.process_death(picks), true, stage, ledger, "a kill afterwards"),
      image_of(files.power_cut(io::CrashPolicy::kNothingUnsynced, picks), false, stage, ledger,
               "a power cut afterwards"),
      image_of(files.power_cut(io::CrashPolicy::kRandomSectors, picks), false, stage, ledger, "a power cut afterwards"),
  };
  for (const Image& image : images) {
    if (std::string broken = check_image(image, ledger, tuning, seed); !broken.empty())
      return image.where + ": " + broken;
  }
  (void)stage.close();  // refused if the store's log failed; recovery follows in that case
  const Image closed =
      image_of(files.power_cut(io::CrashPolicy::kNothingUnsynced, picks), false, stage, ledger, "closed");
  const std::string broken = check_image(closed, ledger, tuning, seed);
  return broken.empty() ? "" : "closed afterwards: " + broken;
}

Report error_points(const Share& share) {
  return for_each_round(share, [&share](const Scenario& scenario, std::uint64_t seed, Report& report) {
    if (scenario.has_faults) return;
    is_scenario_on_rados(share, seed) ? fail_each_on_rados(scenario, seed, report) : fail_each(scenario, seed, report);
  });
}

}  // namespace varve::lab
