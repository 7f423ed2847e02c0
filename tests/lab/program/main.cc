// Owns: the program varve-lab: any share of any suite of the reliability lab, by one command.
// Must never: judge; suites do, and this prints what they say.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

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
    std::printf("FINDING %s\n%s%srepeat: varve-lab %s --seed %llu%s%s\n", finding.what.c_str(), finding.detail.c_str(),
                finding.detail.empty() || finding.detail.ends_with('\n') ? "" : "\n", std::string(suite.name).c_str(),
                static_cast<unsigned long long>(finding.seed), finding.part.empty() ? "" : " --only ",
                finding.part.c_str());
  }
  std::printf("  %-32s %zu\n", "findings", report.findings.size());
}

int run(int argc, char** argv) {
  CLI::App app("varve-lab: the reliability lab, suite by suite.");
  app.require_subcommand(1);
  Share share;
  int status = 0;
  for (const Suite& suite : suites()) {
    CLI::App* const verb = app.add_subcommand(std::string(suite.name), std::string(suite.what));
    verb->add_option("--seed", share.seed, "Of the first round")->capture_default_str();
    verb->add_option("--rounds", share.rounds, "Each with the next seed")->capture_default_str();
    verb->add_option("--only", share.only, "One part of the suite, by its name");
    CLI::Option* const directory = verb->add_option("--directory", share.directory, "An empty directory to work in")
                                       ->check(CLI::ExistingDirectory);
    if (suite.needs_directory) directory->required();
    verb->callback([&share, &status, &suite] {
      const Report report = suite.run(share);
      print(suite, share, report);
      if (!report.findings.empty()) status = kFound;
    });
  }
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
