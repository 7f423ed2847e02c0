// Owns: the rounds of a race: which contender runs which workload when, and what came of it.
// Must never: let two contenders run at the same time, or one always run first.
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
  /// The figure that the limits are of; empty: the value itself.
  std::string limited_figure;
};

struct Record {
  std::vector<std::string> contenders;  // in the order of the report; the first one is compared with the others
  std::map<std::string, std::string> back_ends;
  std::vector<RowRecord> rows;
  double load_average_max = 0;
};

struct NamedContender {
  std::string name;
  OpenContender open;
};
std::vector<NamedContender> all_contenders();

/// Runs what was chosen, below `choice.directory`, telling of each row on standard error. Errors: kInvalidArgument (no
/// such workload or contender), and whatever a contender met, with its name.
Result<Record> run_race(const Choice& choice);

}  // namespace varve::bench
