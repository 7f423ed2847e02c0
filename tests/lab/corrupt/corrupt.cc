#include "tests/lab/corrupt/corrupt.h"

#include <string>
#include <vector>

#include "tests/lab/corrupt/damage.h"
#include "tests/lab/corrupt/judge.h"
#include "tests/lab/corrupt/sample.h"
#include "tests/lab/isolated/isolated.h"

namespace varve::lab {

namespace {

constexpr unsigned kSecondsMax = 60;
/// Every flip or cut with a number divisible by this is opened for writing as well. All other kinds of damage always
/// are.
constexpr std::size_t kThoroughEvery = 32;

struct Part {
  std::string_view name;
  Sample (*make)(std::uint64_t seed);
};

constexpr Part kParts[] = {{"clean", make_clean_sample},
                           {"checkpoint", make_checkpoint_sample},
                           {"dictionary", make_dictionary_sample},
                           {"killed", make_killed_sample},
                           {"power-cut", make_power_cut_sample}};

bool is_of_single_byte(const Damage& damage) {
  return damage.kind == DamageKind::kFlip || damage.kind == DamageKind::kCut;
}

void tally(const std::vector<Damage>& damages, const IsolatedRun& run, Report& report) {
  for (std::size_t i = 0; i < damages.size(); ++i) {
    const bool has_outcome = run.codes[i] < kOutcomes;
    const Outcome outcome = has_outcome ? static_cast<Outcome>(run.codes[i]) : Outcome::kBroken;
    if (outcome == Outcome::kUnchanged) continue;
    report.count("cases");
    report.count("outcome " + std::string(outcome_name(outcome)));
    report.count("damage " + std::string(damages[i].name()));
  }
}

void run_part(const Part& part, std::uint64_t seed, const std::string& only_case, const CorruptEffort& effort,
              Report& report) {
  const Sample sample = part.make(seed);
  const Victim victim(sample);
  const Judge judge(victim);
  const bool is_large = part.name == "dictionary";
  std::vector<Damage> damages = damages_of(victim, seed, is_large ? effort.dictionary_flips_max : effort.flips_max,
                                           is_large ? effort.dictionary_flips_max : effort.cuts_max, is_large);
  if (!only_case.empty()) std::erase_if(damages, [&](const Damage& damage) { return damage.text() != only_case; });
  for (const std::string& name : victim.names()) {
    for (const Region& region : victim.regions(name)) report.count("region " + region.kind);
  }
  const IsolatedRun run = run_isolated(damages.size(), kSecondsMax, [&](std::size_t index) {
    const Damage& damage = damages[index];
    const std::optional<io::MemoryDisk> disk = victim.apply(damage);
    if (!disk) return CaseResult{static_cast<std::uint8_t>(Outcome::kUnchanged)};
    const bool thorough = !is_of_single_byte(damage) ? !is_large : index % kThoroughEvery == 0;
    Verdict verdict = judge.judge(damage, *disk, thorough);
    return CaseResult{static_cast<std::uint8_t>(verdict.outcome), std::move(verdict.what), std::move(verdict.detail)};
  });
  tally(damages, run, report);
  report.count("stores");
  for (const FailedCase& failed : run.failures) {
    const std::string text = damages[failed.index].text();
    report.find({seed, "'" + std::string(part.name) + "/" + text + "'", failed.what, failed.detail});
  }
  if (run.failure_count > run.failures.size()) {
    report.find({seed, std::string(part.name), "more findings than are kept", std::to_string(run.failure_count)});
  }
}

}  // namespace

Report run_corrupt(const Share& share, const CorruptEffort& effort) {
  Report report;
  const std::size_t slash = share.only.find('/');
  const std::string only_part = share.only.substr(0, slash);
  const std::string only_case = slash == std::string::npos ? std::string() : share.only.substr(slash + 1);
  for (std::uint64_t round = 0; round < share.rounds; ++round) {
    for (const Part& part : kParts) {
      if (!only_part.empty() && only_part != part.name) continue;
      run_part(part, share.seed + round, only_case, effort, report);
    }
  }
  return report;
}

Report run_corrupt(const Share& share) {
  return run_corrupt(share, CorruptEffort{});
}

}  // namespace varve::lab
