// Owns: the program varve-lab: it runs any share of any suite of the reliability lab with one command.
// Must never: check results. The suites check them, and this program prints their reports.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>

#include <CLI/CLI.hpp>

#include "tests/lab/golden/golden.h"
#include "tests/lab/probes/probes.h"
#include "tests/lab/soak/soak.h"
#include "tests/lab/suite.h"

namespace varve::lab {
namespace {

constexpr int kFound = 1;

void print(const Suite& suite, const Share& share, const Report& report) {
  std::printf("%s: seeds %llu to %llu\n", std::string(suite.name).c_str(), static_cast<unsigned long long>(share.seed),
              static_cast<unsigned long long>(share.seed + share.rounds - 1));
  for (const auto& [name, number] : report.counts) {
    std::printf("  %-32s %llu\n", name.c_str(), static_cast<unsigned long long>(number));
  }
  for (const Finding& finding : report.findings) {
    std::printf("FINDING %s\n%s%srepeat: varve-lab %s --seed %llu%s%s%s%s\n", finding.what.c_str(),
                finding.detail.c_str(), finding.detail.empty() || finding.detail.ends_with('\n') ? "" : "\n",
                std::string(suite.name).c_str(), static_cast<unsigned long long>(finding.seed),
                finding.part.empty() ? "" : " --only ", finding.part.c_str(),
                share.machine.empty() ? "" : " --machine ", share.machine.c_str());
  }
  for (const auto& [name, number] : probe_report()) {
    std::printf("  %-56s %llu\n", name.c_str(), static_cast<unsigned long long>(number));
  }
  std::printf("  %-32s %zu\n", "findings", report.findings.size());
}

/// Returns why the suite cannot have its stores there, or nothing.
std::string refusal(const Suite& suite, const std::string& machine) {
  if (machine == kDisk || (machine == kRados && suite.has_machines)) return {};
  if (machine != kRados) return machine + " is not " + std::string(kDisk) + " or " + std::string(kRados);
  std::string others;
  for (const Suite& other : suites()) {
    if (other.has_machines) others.append(others.empty() ? "" : ", ").append(other.name);
  }
  return std::string(suite.name) + " has no stores on RADOS; these suites have: " + others;
}

void add_soak(CLI::App& app, SoakOptions& options, int& status) {
  CLI::App* const verb = app.add_subcommand("soak", "Every suite in turn, with fresh seeds, until the time is up");
  options.seed = std::random_device()();
  verb->add_option("--hours", options.hours, "Hours to run")->capture_default_str()->check(CLI::PositiveNumber);
  verb->add_option("--jobs", options.jobs, "Number of turns that run at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  verb->add_option("--seed", options.seed, "Seed of the first turn; default: random");
  verb->add_option("--directory", options.directory, "Directory for the data that repeats each finding")
      ->required()
      ->check(CLI::ExistingDirectory);
  verb->add_option("--suites", options.only, "Suites to run, separated by commas; default: all")->delimiter(',');
  verb->add_option("--fuzzers", options.fuzzers, "Directory of libFuzzer programs to run as well")
      ->check(CLI::ExistingDirectory);
  verb->add_option("--corpora", options.seeds, "Directory of the seeds of the fuzzers")->check(CLI::ExistingDirectory);
  verb->add_option("--ledger", options.ledger, "File to which one line is added");
  verb->add_option("--build", options.build, "Name of the build, for that line");
  verb->callback([&options, &status] {
    if (soak(options) > 0) status = kFound;
  });
}

int run(int argc, char** argv) {
  CLI::App app("varve-lab: the reliability lab, suite by suite.");
  app.require_subcommand(1);
  Share share;
  int status = 0;
  SoakOptions soak_options;
  add_soak(app, soak_options, status);
  for (const Suite& suite : suites()) {
    CLI::App* const verb = app.add_subcommand(std::string(suite.name), std::string(suite.what));
    verb->add_option("--seed", share.seed, "Seed of the first round")->capture_default_str();
    verb->add_option("--rounds", share.rounds, "Number of rounds, each with the next seed")->capture_default_str();
    verb->add_option("--only", share.only, "Run only the part of the suite with this name");
    verb->add_option("--machine", share.machine,
                     suite.has_machines ? "Where the stores are: disk or rados; default: rados for one seed in eight"
                                        : "Where the stores are: disk")
        ->check([&suite](const std::string& given) { return refusal(suite, given); });
    CLI::Option* const directory =
        verb->add_option("--directory", share.directory, "Empty directory to work in")->check(CLI::ExistingDirectory);
    if (suite.needs_directory) directory->required();
    verb->callback([&share, &status, &suite] {
      share_probes();
      const Report report = suite.run(share);
      print(suite, share, report);
      if (!report.findings.empty()) status = kFound;
    });
  }
  std::string golden;
  CLI::App* const make_golden =
      app.add_subcommand("make-golden", "Makes the golden stores; see tests/golden/README.md");
  make_golden->add_option("directory", golden, "Directory that contains no golden store yet")->required();
  make_golden->callback([&golden, &status] {
    const Status kept = keep_golden_stores(make_golden_stores(), golden);
    if (!kept.ok()) std::fprintf(stderr, "varve-lab: %s\n", kept.to_string().c_str());
    if (!kept.ok()) status = kFound;
  });
  CLI11_PARSE(app, argc, argv);
  return status;
}

}  // namespace
}  // namespace varve::lab

int main(int argc, char** argv) {
  try {
    return varve::lab::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "varve-lab: %s\n", error.what());
    return varve::lab::kFound;
  }
}
