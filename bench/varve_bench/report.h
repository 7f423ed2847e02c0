// Owns: what was measured as tables for people and as JSON for machines.
// Must never: leave out a row that was lost.
#pragma once

#include <string>
#include <vector>

#include "bench/varve_bench/runner.h"

namespace varve::bench {

/// "1.23 M/s", "45.6 ms".
std::string with_unit(double value, const std::string& unit);

/// Markdown, aligned: medians with their range, ratios, the device's limit; then latencies and costs; then series.
std::string as_tables(const Record& record, const Choice& choice);
/// A line for each row of each round: an object of JSON, for a file that more is added to.
std::string as_lines(const Record& record, const Choice& choice);
/// A line for each workload: its name, what it is, its rows.
std::string list_as_lines(const std::vector<Workload>& workloads);

}  // namespace varve::bench
