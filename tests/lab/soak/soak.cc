#include "tests/lab/soak/soak.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "tests/lab/probes/probes.h"
#include "tests/lab/soak/turn.h"
#include "tests/lab/suite.h"

namespace varve::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kFuzzSeconds = 60;
constexpr auto kTellEvery = std::chrono::seconds(60);

/// The parts that run in turn.
struct Work {
  std::string name;
  std::uint64_t rounds = 1;      // for a suite
  bool needs_directory = false;  // for a suite
  std::string fuzzer;            // the program of a fuzzer; empty: a suite
};

std::vector<Work> all_work(const SoakOptions& options) {
  std::vector<Work> all;
  const auto is_meant = [&](std::string_view name) {
    return options.only.empty() || std::ranges::find(options.only, name) != options.only.end();
  };
  for (const Suite& suite : suites()) {
    if (is_meant(suite.name)) all.push_back({std::string(suite.name), suite.rounds, suite.needs_directory, {}});
  }
  if (options.fuzzers.empty()) return all;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.fuzzers)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.ends_with("_fuzz") && is_meant(name)) {
      all.push_back({name, 1, false, entry.path().string()});
    }
  }
  return all;
}

class Soak {
 public:
  explicit Soak(const SoakOptions& options)
      : options_(options),
        work_(all_work(options)),
        begun_(Clock::now()),
        ends_(begun_ + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double, std::ratio<3600>>(options.hours))),
        told_(begun_) {}

  std::uint64_t run() {
    std::printf("soak: %zu suites and fuzzers, %.2f hours, %d jobs, first seed %llu\n", work_.size(), options_.hours,
                options_.jobs, static_cast<unsigned long long>(options_.seed));
    std::fflush(stdout);
    std::vector<std::jthread> jobs;
    for (int i = 0; i < options_.jobs; ++i) jobs.emplace_back([this] { take_turns(); });
    jobs.clear();
    probes_ = take_probes(counts_);
    summary();
    tell_probes();
    if (!options_.ledger.empty()) write_ledger();
    return findings_;
  }

 private:
  void take_turns() {
    while (Clock::now() < ends_) {
      std::uint64_t turn = 0;
      {
        const std::lock_guard guard(mutex_);
        turn = turns_++;
      }
      take_turn(work_[turn % work_.size()], turn, turn / work_.size());
    }
  }

  /// Runs a turn. Its seeds differ from those of all other turns of the suite.
  void take_turn(const Work& work, std::uint64_t turn, std::uint64_t cycle) {
    const std::uint64_t seed = options_.seed + cycle * work.rounds;
    const std::string directory = options_.directory + "/turn-" + std::to_string(turn);
    fs::create_directories(directory + "/scratch");
    const TurnOutcome outcome = run_turn(command(work, seed, directory), directory);
    const std::lock_guard guard(mutex_);
    ++done_[work.name];
    for (const auto& [name, number] : outcome.counts) counts_[work.name][name] += number;
    if (outcome.failed) {
      ++findings_;
      std::printf("FINDING in %s, seed %llu: %s; see %s, repeat with %s/repeat\n", work.name.c_str(),
                  static_cast<unsigned long long>(seed), outcome.how.c_str(), directory.c_str(), directory.c_str());
    } else {
      fs::remove_all(directory);
    }
    tell();
  }

  std::vector<std::string> command(const Work& work, std::uint64_t seed, const std::string& directory) const {
    if (!work.fuzzer.empty()) {
      const std::string corpus = options_.seeds + "/" + work.name.substr(0, work.name.size() - 5);
      // If inputs are whole stores, libFuzzer's bookkeeping uses most of the time; see fuzz/CMakeLists.txt.
      const bool is_of_stores = work.name == "store_fuzz" || work.name == "operations_fuzz";
      return {work.fuzzer,
              is_of_stores ? "-entropic=0" : "-entropic=1",
              "-timeout=60",
              "-rss_limit_mb=2048",
              "-seed=" + std::to_string(seed % 4'000'000'000 + 1),
              "-max_total_time=" + std::to_string(kFuzzSeconds),
              "-artifact_prefix=" + directory + "/",
              "-print_final_stats=1",
              directory + "/scratch",
              corpus};
    }
    std::vector<std::string> words{"/proc/self/exe",     work.name,  "--seed",
                                   std::to_string(seed), "--rounds", std::to_string(work.rounds)};
    if (work.needs_directory) words.insert(words.end(), {"--directory", directory + "/scratch"});
    return words;
  }

  void tell() {
    const auto now = Clock::now();
    if (now - told_ < kTellEvery) return;
    told_ = now;
    std::printf("%5.2f h, %llu turns, %llu findings\n",
                std::chrono::duration<double, std::ratio<3600>>(now - begun_).count(),
                static_cast<unsigned long long>(turns_), static_cast<unsigned long long>(findings_));
    std::fflush(stdout);
  }

  void summary() const {
    for (const auto& [name, turns] : done_) {
      std::printf("%s: %llu turns\n", name.c_str(), static_cast<unsigned long long>(turns));
      const auto counts = counts_.find(name);
      if (counts == counts_.end()) continue;
      for (const auto& [what, number] : counts->second) {
        std::printf("  %-32s %llu\n", what.c_str(), static_cast<unsigned long long>(number));
      }
    }
    std::printf("findings: %llu\n", static_cast<unsigned long long>(findings_));
  }

  /// Prints the probes that a long run of everything did not hit.
  void tell_probes() const {
    const std::vector<std::string_view> missed = never_hit(probes_);
    std::printf("rare paths: %zu of %zu taken\n", all_probes().size() - missed.size(), all_probes().size());
    for (const auto& [name, count] : probes_) {
      std::printf("  %-56s %llu\n", name.c_str(), static_cast<unsigned long long>(count));
    }
    for (const std::string_view name : missed) std::printf("never taken: %s\n", std::string(name).c_str());
  }

  void write_ledger() const {
    std::ofstream ledger(options_.ledger, std::ios::app);
    const double hours = std::chrono::duration<double, std::ratio<3600>>(Clock::now() - begun_).count();
    char text[64];
    std::snprintf(text, sizeof text, "%.2f", hours);
    ledger << "| " << options_.build << " | " << text << " x " << options_.jobs << " | from " << options_.seed << " | ";
    for (const auto& [name, turns] : done_) {
      ledger << name << ": " << turns << " turns";
      const auto counts = counts_.find(name);
      if (counts != counts_.end()) {
        for (const auto& [what, number] : counts->second) ledger << ", " << what << " " << number;
      }
      ledger << "; ";
    }
    ledger << "| " << findings_ << " |\n";
    if (!ledger) std::printf("could not write %s\n", options_.ledger.c_str());
  }

  const SoakOptions options_;
  const std::vector<Work> work_;
  const Clock::time_point begun_;
  const Clock::time_point ends_;
  std::mutex mutex_;
  std::uint64_t turns_ = 0;
  std::uint64_t findings_ = 0;
  Clock::time_point told_;
  std::map<std::string, std::uint64_t> done_;
  std::map<std::string, std::map<std::string, std::uint64_t>> counts_;
  std::map<std::string, std::uint64_t> probes_;
};

}  // namespace

std::uint64_t soak(const SoakOptions& options) {
  return Soak(options).run();
}

}  // namespace varve::lab
