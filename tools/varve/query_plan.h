// Owns: which keys a query reads, worked out from the command line before anything is read.
// Must never: read more than one range of keys, or each key asked for once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "varve/query.h"
#include "varve/result.h"

namespace varve::tool {

/// What the command line says about keys.
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
  /// Single entities, in the order in which they were asked for, each once. If there are none, the range is read.
  std::vector<std::pair<std::string, std::string>> points;
  ScanRange range = ScanRange::whole_table();
};

/// Errors: kInvalidArgument (words that do not go together).
Result<QueryPlan> plan_query(const KeyWords& words);

/// A line for each point or range, for people.
std::vector<std::string> describe(const QueryPlan& plan);

}  // namespace varve::tool
