// Owns: what a suite of the reliability lab is: a function from a share of work to counts and findings.
// Must never: know any one suite, or a test framework: the program varve-lab and the tests run the same functions.
//
// A round is the unit of work. It is made from one seed and nothing else, so that a finding is repeated by its seed:
// round i of a share uses the seed `seed + i`. Sweeps that have an end (a scenario crashed at every step) are one round
// a part, and the part is named by `only`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::lab {

/// What a suite is asked to do.
struct Share {
  std::uint64_t seed = 1;
  std::uint64_t rounds = 1;
  /// One part of the suite by its name (a scenario, a file type); empty: every part, or those the seed chooses.
  std::string only{};
  /// An empty directory of the real file system, for suites that need one.
  std::string directory{};
};

/// A law that was broken, with what repeats it.
struct Finding {
  std::uint64_t seed = 0;  // of the round
  std::string part;        // for Share::only; may be empty
  std::string what;        // one line: the law and how it was broken
  std::string detail{};    // as many lines as help
};

/// What a share came to. Counts are of work done, by name ("recoveries"), so that a share that did nothing is seen.
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
  std::string_view name;         // as the program knows it
  std::string_view what;         // one line
  std::uint64_t rounds = 1;      // of one turn in a soak: seconds to a minute of work
  bool needs_directory = false;  // Share::directory is read
  Report (*run)(const Share& share) = nullptr;
};

/// Every suite, in the order of their names.
const std::vector<Suite>& suites();

}  // namespace varve::lab
