// SPDX-License-Identifier: Apache-2.0
// Owns: the split of long lists of writes into entity group transactions.
// Must never: pass for one transaction. Each part succeeds or fails by itself.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "options.h"
#include "status.h"
#include "table.h"
#include "transaction.h"
#include "types.h"
#include "version.h"

namespace varve {

/// One legal transaction made from a list, and the list's operations in it.
struct TransactionPart {
  /// The operations in the order of the list.
  EntityGroupTransaction transaction;
  /// For each operation of the transaction, its index in the list.
  std::vector<std::size_t> places;
};

/// Splits a list of operations into transactions that obey T-01, T-06, T-07 and T-09, with the limits in limits.h. The
/// list may have any length and any partitions. Operations of one partition keep their order. If an entity occurs
/// again, its operation is in a later part.
VARVE_EXPORT std::vector<TransactionPart> split_into_parts(std::span<const WriteOperation> operations);

/// What execute_in_parts() did.
struct PartsOutcome {
  /// Ok if all parts succeeded. Otherwise, the error of the first part that failed. If one operation is to blame,
  /// operation_index() is its index in the list. After kUnknown the failed part may have been committed.
  Status status;
  /// For each operation, its ETag (none for kRemove) if it was committed; nothing if it was not.
  std::vector<std::optional<ETag>> etags;
};

/// Executes the parts of a list one after the other, and stops at the first part that fails. The list is NOT atomic:
/// parts that succeeded stay, and readers see the parts appear one by one. If you need atomicity, use Table::execute.
/// After a failure, a list of only insert_or_replace() operations may be executed again as a whole. A delete that was
/// committed fails the second time, with kNotFound.
VARVE_EXPORT PartsOutcome execute_in_parts(Table& table, std::span<const WriteOperation> operations,
                                           const WriteOptions& options = {});

}  // namespace varve
