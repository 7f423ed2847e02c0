// Owns: computing the keys that a query reads from the command line, before anything is read.
// Must never: read more than one range of keys, or each requested key once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "varve/query.h"
#include "varve/result.h"

namespace varve::tool {

/// The options about keys.
struct KeyWords {
  std::optional<std::string> partition;
  std::optional<std::string> row;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> prefix;
  /// PartitionKey and RowKey of single entities.
  std::vector<std::pair<std::string, std::string>> keys;
};

struct QueryPlan {
  /// Single entities in the requested order, each once. If it is empty, the range is read.
  std::vector<std::pair<std::string, std::string>> points;
  ScanRange range = ScanRange::whole_table();
};

/// Returns the plan. Errors: kInvalidArgument (options that cannot be combined).
Result<QueryPlan> plan_query(const KeyWords& words);

/// Returns a text line for each point or range.
std::vector<std::string> describe(const QueryPlan& plan);

}  // namespace varve::tool
