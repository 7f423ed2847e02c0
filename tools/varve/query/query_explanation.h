// Owns: what `--explain` prints: the keys that a query read, and what that cost.
// Must never: name keys or costs that the query did not have.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tools/varve/query/query_plan.h"
#include "varve/query.h"
#include "varve/scan_plan.h"
#include "varve/statistics.h"

namespace varve::tool {

/// What the reads of a query did, all together. CSV reads twice: first for the names of its columns.
struct ReadFigures {
  std::uint64_t entities = 0;  // of the last read
  std::uint64_t pages = 0;
  std::uint64_t reads = 0;
  std::size_t points_read = 0;
  PageCost cost;
  std::string filter;
  bool ended_at_top = false;
};

struct Explanation {
  const QueryPlan& plan;
  const ScanPlan& ranges;  // without meaning if the plan has points
  ReadFigures figures;
  const Statistics& before;
  const Statistics& after;
  std::chrono::nanoseconds elapsed;
};

/// Prints it on standard error, as lines or as one JSON object.
void print_explanation(const Explanation& explained, bool as_json);

}  // namespace varve::tool
