// Owns: the rounds of a race: the order of contenders and workloads, and their results.
// Must never: run two contenders at the same time, or always run the same one first.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// All rounds of one row.
struct RowRecord {
  std::string workload;
  std::string name;
  std::map<std::string, std::vector<Outcome>> outcomes;  // by contender
  std::vector<double> limits;
  std::vector<double> unwritten_limits;
  /// The figure that the limits apply to. Empty: the value itself.
  std::string limited_figure;
};

struct Record {
  std::vector<std::string> contenders;  // in the order of the report; the first is compared with each other one
  std::map<std::string, std::string> back_ends;
  std::vector<RowRecord> rows;
  double load_average_max = 0;
};

struct NamedContender {
  std::string name;
  OpenContender open;
};
std::vector<NamedContender> all_contenders();

/// Runs the chosen workloads below `choice.directory`. Reports each row on standard error. Errors: kInvalidArgument
/// (unknown workload or contender), and every error of a contender, with its name.
Result<Record> run_race(const Choice& choice);

}  // namespace varve::bench
