#include "tests/lab/model/model.h"

#include "tests/lab/model/generator.h"
#include "tests/lab/model/profile.h"
#include "tests/lab/model/run.h"
#include "tests/lab/model/shrink.h"

namespace varve::lab {
namespace {

constexpr int kTriesMax = 1500;
/// The distances to the other profiles, chosen so that most options differ.
constexpr std::array<std::uint32_t, 2> kOtherProfiles = {29, 101};

/// Returns the law of a finding without the parts that differ between runs: the words before the first value.
std::string law_of(const std::string& what) {
  return what.substr(0, what.find(':', what.find(':') + 1));
}

void add_counts(const RunResult& result, Report* report) {
  if (report == nullptr) return;
  for (const auto& [name, number] : result.counts) report->count(name, number);
}

/// Returns the fault of a list, either by itself or because another profile answers differently.
std::string wrong_with(const OperationList& list, Planted planted, Report* report) {
  const RunResult result = run_list(list, planted);
  add_counts(result, report);
  if (!result.what.empty()) return result.what;
  if (!has_one_answer(list)) return "";
  OperationList other = list;
  other.profile = list.profile + kOtherProfiles[list.machine % kOtherProfiles.size()];
  const RunResult again = run_list(other, planted);
  add_counts(again, report);
  if (report != nullptr) report->count("replays under other options");
  if (!again.what.empty()) return "under other options: " + again.what;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    if (again.answers[i] == result.answers[i]) continue;
    return "other options answer otherwise: operation " + std::to_string(i) + " (" +
           operation_text(list.operations[i]) + "), with " + profile_text(profile_of(other.profile));
  }
  return "";
}

}  // namespace

std::optional<Finding> judge_list(const OperationList& list, Planted planted, Report* report) {
  const std::string what = wrong_with(list, planted, report);
  if (what.empty()) return std::nullopt;
  const auto goes_wrong = [&what, planted](const OperationList& candidate) {
    return law_of(wrong_with(candidate, planted, nullptr)) == law_of(what);
  };
  OperationList plain = list;
  if (plain.operations.size() > 1) plain = shrink(std::move(plain), goes_wrong, kTriesMax);
  Finding finding;
  finding.what = what;
  finding.detail = "# " + wrong_with(plain, planted, nullptr) + "\n# " + profile_text(profile_of(plain.profile)) +
                   "\n" + list_text(plain);
  return finding;
}

Report run_model_round(std::uint64_t seed, Planted planted, bool on_rados) {
  Report report;
  report.count(on_rados ? "rounds on RADOS" : "rounds");
  if (std::optional<Finding> finding = judge_list(make_list(seed, on_rados), planted, &report)) {
    finding->seed = seed;
    report.find(*std::move(finding));
  }
  return report;
}

Report run_model(const Share& share) {
  Report report;
  for (std::uint64_t i = 0; i < share.rounds; ++i) {
    const std::uint64_t seed = share.seed + i;
    report.add(run_model_round(seed, Planted::kNone, is_on_rados(share, seed)));
  }
  return report;
}

}  // namespace varve::lab
