// Owns: printing measurements as tables and as JSON.
// Must never: leave out a row that Varve lost.
#pragma once

#include <string>
#include <vector>

#include "bench/varve_bench/runner.h"

namespace varve::bench {

/// Returns a figure with its unit, such as "1.23 M/s" or "45.6 ms".
std::string with_unit(double value, const std::string& unit);

/// Returns aligned Markdown: medians with their range, ratios and the device's limit, then latencies and costs, then
/// series.
std::string as_tables(const Record& record, const Choice& choice);
/// Returns a line of JSON for each row of each round. Lines can be appended to a file.
std::string as_lines(const Record& record, const Choice& choice);
/// Returns a line for each workload: its name, its description, its rows.
std::string list_as_lines(const std::vector<Workload>& workloads);

}  // namespace varve::bench
