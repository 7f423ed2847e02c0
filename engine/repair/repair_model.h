// Owns: the interface to the layer that knows the meaning of system rows: which tables exist, and how to mend the
// catalog.
// Must never: receive users' rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/entry.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve::engine {

/// A row of account zero, which belongs to the store itself.
struct SystemRow {
  std::string key;
  CommitVersion version = 0;
  std::string value;
  /// True if a newer version of the row may be lost.
  bool is_doubtful = false;
};

struct SystemRows {
  /// The newest version of each row that was found, in the order of their keys, without deleted rows.
  std::vector<SystemRow> rows;
  /// True if more rows may be lost with damaged files or parts of the log.
  bool may_be_incomplete = false;
  /// True if is_dropped() knows every drop.
  bool drops_are_known = false;
  /// Returns whether the table's id or its account's was retired, or belongs to a load that was never adopted.
  std::function<bool(format::TableId)> is_dropped;
};

/// One thread calls these functions, in this order.
class RepairModel {
 public:
  virtual ~RepairModel() = default;
  /// Called first. `rows` is valid until the end of the repair.
  virtual void take_system_rows(const SystemRows& rows) = 0;
  /// Returns whether this table's rows belong to the repaired store. Called once for each id that has rows, deleted
  /// ones included, in ascending order.
  virtual bool keeps(format::TableId table) = 0;
  /// Called last. Returns the rows of account zero for the repaired store. Rows that differ from those found have
  /// `version`.
  virtual Result<std::vector<SystemRow>> mended_rows(CommitVersion version) = 0;
};

}  // namespace varve::engine
