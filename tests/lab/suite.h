// Owns: the definition of a suite of the reliability lab: a function from a share of work to counts and findings.
// Must never: know a particular suite, or a test framework: the program varve-lab and the tests run the same functions.
//
// A round is the unit of work. Only its seed determines it, so that the seed repeats a finding: round i of a share uses
// the seed `seed + i`. If a sweep is finite (a scenario crashed at every step), each part is one round, and `only`
// names the part.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::lab {

/// The work that a suite is asked to do.
struct Share {
  std::uint64_t seed = 1;
  std::uint64_t rounds = 1;
  /// The name of one part of the suite (a scenario, a file type). Empty: every part, or parts that the seed selects.
  std::string only{};
  /// An empty directory of the real file system, for suites that need one.
  std::string directory{};
  /// Where the stores are: kDisk or kRados, or empty: as the seed says. For suites of machines.
  std::string machine{};
};
inline constexpr std::string_view kDisk = "disk";
inline constexpr std::string_view kRados = "rados";
/// Returns whether the stores of a round are on the model of RADOS: those of one seed in eight are.
inline bool is_on_rados(const Share& share, std::uint64_t seed) {
  return share.machine.empty() ? seed % 8 == 3 : share.machine == kRados;
}

/// A violation of a law, with the values that repeat it.
struct Finding {
  std::uint64_t seed = 0;  // of the round
  std::string part;        // for Share::only; may be empty
  std::string what;        // one line: the law and its violation
  std::string detail{};    // any number of lines
};

/// The results of a share. Counts are amounts of work by name ("recoveries"), so that a share without work is visible.
struct Report {
  std::map<std::string, std::uint64_t> counts;
  std::vector<Finding> findings;

  void count(const std::string& name, std::uint64_t more = 1) { counts[name] += more; }
  void find(Finding finding) { findings.push_back(std::move(finding)); }
  void add(const Report& other) {
    for (const auto& [name, number] : other.counts) counts[name] += number;
    findings.insert(findings.end(), other.findings.begin(), other.findings.end());
  }
};

struct Suite {
  std::string_view name;         // as varve-lab names it
  std::string_view what;         // one line
  std::uint64_t rounds = 1;      // of one turn in a soak: seconds to a minute of work
  bool needs_directory = false;  // Share::directory is read
  Report (*run)(const Share& share) = nullptr;
  bool has_machines = false;  // Share::machine is read
};

/// Returns every suite, in the order of their names.
const std::vector<Suite>& suites();

}  // namespace varve::lab
