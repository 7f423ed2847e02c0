// Owns: the door to who knows what rows mean: which tables there are, and how the rows that say so are mended.
// Must never: be asked of rows of users.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/entry.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve::engine {

/// A row of account zero, the store's own.
struct SystemRow {
  std::string key;
  CommitVersion version = 0;
  std::string value;
  /// A newer version of it may be lost.
  bool is_doubtful = false;
};

struct SystemRows {
  /// The newest that were found, in the order of their keys; none that are deleted.
  std::vector<SystemRow> rows;
  /// Others may be lost with damaged files or parts of the log.
  bool may_be_incomplete = false;
  /// What is_dropped() says is all there is to say.
  bool drops_are_known = false;
  /// Whether the table's id, or its account's, was retired, or belongs to a load that came to nothing.
  std::function<bool(format::TableId)> is_dropped;
};

/// Called in this order, by one thread.
class RepairModel {
 public:
  virtual ~RepairModel() = default;
  /// First. `rows` live as long as the repair.
  virtual void take_system_rows(const SystemRows& rows) = 0;
  /// Whether this table's rows belong to the repaired store. For each id that was found with rows, deleted ones
  /// included, once, ascending.
  virtual bool keeps(format::TableId table) = 0;
  /// Last: the rows of account zero for the repaired store. Those that are not as they were found have `version`.
  virtual Result<std::vector<SystemRow>> mended_rows(CommitVersion version) = 0;
};

}  // namespace varve::engine
