// Owns: the probes of rare paths (io/probe.h) in the lab: the list of probes, and the probes that a run hit.
// Must never: report a path as untested that a process of the run has executed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace varve::lab {

/// Returns every probe in the core's source, by name.
const std::vector<std::string_view>& all_probes();

/// Includes the hits of forks in the counts. Called before a suite runs.
void share_probes();

/// Returns the hits so far as a report's counts: "probe: NAME".
std::map<std::string, std::uint64_t> probe_report();

/// Moves the counts of probes out of the reported counts of a run's processes. Those are ordered by suite and by name.
std::map<std::string, std::uint64_t> take_probes(std::map<std::string, std::map<std::string, std::uint64_t>>& counts);

/// Returns the probes that were not hit.
std::vector<std::string_view> never_hit(const std::map<std::string, std::uint64_t>& probes);

}  // namespace varve::lab
