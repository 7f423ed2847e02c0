#include "tests/lab/lies/lies.h"

#include <array>
#include <optional>

#include "tests/lab/scenario/judgement.h"

namespace varve::lab {
namespace {

constexpr std::uint64_t kRuns = 24;  // runs in one round

bool is_write(const io::Operation& operation) {
  return operation.kind == io::OperationKind::kAppend || operation.kind == io::OperationKind::kLogWrite;
}
bool is_sync(const io::Operation& operation) {
  return operation.kind == io::OperationKind::kSync || operation.kind == io::OperationKind::kDirectorySync;
}
bool is_read(const io::Operation& operation) {
  return operation.kind == io::OperationKind::kRead;
}

struct Lie {
  std::string_view words;
  io::FaultEffect effect;
  bool (*concerns)(const io::Operation&);
};

constexpr std::array kLies{
    Lie{"a lost write", io::FaultEffect::kLostWrite, is_write},
    Lie{"a misdirected write", io::FaultEffect::kMisdirectedWrite, is_write},
    Lie{"a sync that did nothing", io::FaultEffect::kSyncErrorConsumed, is_sync},
    Lie{"a sync whose error comes later", io::FaultEffect::kSyncErrorLate, is_sync},
    Lie{"a flipped bit, once", io::FaultEffect::kFlipBitOnce, is_read},
    Lie{"a flipped bit, for good", io::FaultEffect::kFlipBitPersistently, is_read},
    Lie{"a stale read", io::FaultEffect::kStaleRead, is_read},
};

/// The result of reading a disk.
enum class Outcome : std::uint8_t { kDetected, kRight, kShorter, kWrong };

bool is_typed(Code code) {
  switch (code) {
    case Code::kCorruption:
    case Code::kUnsupported:
    case Code::kIoError:
    case Code::kPoisoned:
    case Code::kUnknown: return true;
    default: return false;
  }
}

Outcome outcome_of(const Status& status, std::string& why) {
  if (is_typed(status.code())) return Outcome::kDetected;
  why = status.to_string();
  return Outcome::kWrong;
}

/// Opens and reads a disk. A prefix is correct. A prefix that lacks promised commits is shorter.
Outcome look(const io::MemoryDisk& disk, const Ledger& ledger, const Tuning& tuning, std::uint64_t seed,
             std::string& why) {
  const Opened opened = open_copy(disk, seed, tuning);
  if (!opened.store) return outcome_of(opened.status, why);
  const Result<Statistics> statistics = opened.store->statistics();
  if (!statistics.ok()) return outcome_of(statistics.status(), why);
  const Result<Content> content = read_content(*opened.store);
  if (!content.ok()) return outcome_of(content.status(), why);
  const Judgement judged =
      judge_opened(ledger, ledger.mark().without_promises(), false, disk, statistics->visible_version.ticks, *content);
  why = judged.broken;
  if (!why.empty()) return Outcome::kWrong;
  return judged.version < ledger.mark().durable_version ? Outcome::kShorter : Outcome::kRight;
}

void count(Outcome outcome, Report& report) {
  switch (outcome) {
    case Outcome::kDetected: report.count("disks, damage detected"); break;
    case Outcome::kRight: report.count("disks, all there"); break;
    case Outcome::kShorter: report.count("disks, an earlier state"); break;
    case Outcome::kWrong: report.count("disks, wrong"); break;
  }
}

void lie_once(const Scenario& scenario, const Prepared& prepared, std::uint64_t round_seed, std::uint64_t run,
              Report& report) {
  const std::uint64_t seed = round_seed + (run << 32);
  io::SeededRandom random(seed);
  const Lie& lie = kLies[io::random_below(random, kLies.size())];
  io::FaultRule rule;
  rule.effect = lie.effect;
  rule.predicate = lie.concerns;
  rule.skip_count = io::random_below(random, 12);
  Ledger ledger = prepared.ledger;
  test::Machine machine(seed + 1, test::OneThreadAtATime{}, prepared.remains.disk);
  Stage stage(machine, scenario.tuning, ledger);
  stage.promise_nothing();
  if (scenario.ending == Ending::kPowerCut) stage.expect_power_cut();
  if (!scenario.opens) (void)stage.open();
  machine.files->faults().add(rule);
  scenario.run(stage);
  report.count("runs");
  report.count("lies", machine.files->faults().hit_count());
  machine.files->faults().clear();
  stage.read_all();
  const std::string words = std::string(lie.words) + " at operation " + std::to_string(rule.skip_count);
  const auto find = [&](const std::string& what) {
    report.find({round_seed, std::string(scenario.name), std::string(scenario.name) + ": " + what, words});
  };
  for (const std::string& problem : stage.problems()) find(problem);
  const auto look_at = [&](const io::MemoryDisk& disk, const std::string& where) {
    std::string why;
    const Outcome outcome = look(disk, ledger, scenario.tuning, seed + 2, why);
    count(outcome, report);
    if (outcome == Outcome::kWrong) find(where + ": " + why);
  };
  look_at(machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, random), "after a power cut");
  (void)stage.close();
  look_at(machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, random), "after a close");
}

}  // namespace

Report lies(const Share& share) {
  return for_each_round(share, [](const Scenario& scenario, std::uint64_t seed, Report& report) {
    if (scenario.has_faults) return;
    const Prepared prepared = prepare(scenario, seed);
    report.count("scenarios");
    for (std::uint64_t run = 0; run < kRuns && report.findings.size() < 5; ++run) {
      lie_once(scenario, prepared, seed, run, report);
    }
  });
}

}  // namespace varve::lab
