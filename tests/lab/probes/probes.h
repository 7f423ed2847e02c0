// Owns: the probes of rare paths (io/probe.h) as the lab sees them: which there are, and what a run hit.
// Must never: call a path untried that a process of the run has taken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace varve::lab {

/// Every probe in the core's source, by name.
const std::vector<std::string_view>& all_probes();

/// Before a suite runs: what its forks hit is counted as well.
void share_probes();

/// What was hit so far, as a report's counts: "probe: NAME".
std::map<std::string, std::uint64_t> probe_report();

/// Takes the counts of probes out of what a run's processes reported, by name of suite and of count.
std::map<std::string, std::uint64_t> take_probes(std::map<std::string, std::map<std::string, std::uint64_t>>& counts);

/// Those that were not hit.
std::vector<std::string_view> never_hit(const std::map<std::string, std::uint64_t>& probes);

}  // namespace varve::lab
