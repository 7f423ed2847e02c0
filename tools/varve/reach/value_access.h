// Owns: writing large values and the entities that name them, wherever the store is: in this process, or at the server that
// has it open.
// Must never: leave a content that no entity names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/table.h"

namespace varve::tool {

/// The large values of one table, which exists. One content is written at a time. The functions have the meaning and the
/// errors of the verbs of varve/large_value.h and varve/table.h.
class ValueAccess {
 public:
  ValueAccess() = default;
  ValueAccess(const ValueAccess&) = delete;
  ValueAccess& operator=(const ValueAccess&) = delete;
  virtual ~ValueAccess() = default;

  virtual Status begin() = 0;
  /// Adds bytes to the content that was begun last.
  virtual Status append(std::string_view bytes) = 0;
  virtual Result<LargeValue> finish() = 0;
  /// Writes an entity, which may name contents that were finished. Afterwards the others are removed.
  virtual Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) = 0;
  /// Removes the contents that were begun after the last write().
  virtual void discard() = 0;
};

/// Returns the access to a table of a store that this process has open.
std::unique_ptr<ValueAccess> values_of(Table table);
/// Returns the access through the server that has the store in this directory open, or null.
std::unique_ptr<ValueAccess> values_through_server_of(const std::string& store, std::string account, std::string table);

}  // namespace varve::tool
