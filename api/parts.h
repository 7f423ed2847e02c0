// SPDX-License-Identifier: Apache-2.0
// Owns: long lists of writes, cut into entity group transactions.
// Must never: be taken for a transaction: each part happens or not by itself.
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

#pragma GCC visibility push(default)

namespace varve {

/// One legal transaction out of a list, and which operations of the list are in it.
struct TransactionPart {
  EntityGroupTransaction transaction;
  /// Of each of its operations, the place in the list.
  std::vector<std::size_t> places;
};

/// Cuts a list of operations, on any partitions and of any length, into transactions that keep T-01, T-06, T-07 and
/// T-09. Operations of one partition stay in order; an entity named again comes in a later part.
std::vector<TransactionPart> split_into_parts(std::span<const TransactionOperation> operations);

struct PartsOutcome {
  /// Ok if all parts happened. Else what stopped the first part that failed; operation_index() is the place in the list
  /// of the operation to blame, where one is. After kUnknown that part may have happened.
  Status status;
  /// For each operation, its ETag (none for kRemove) if it happened; nothing if it did not.
  std::vector<std::optional<ETag>> etags;
};

/// Executes the parts of a list one after the other, and stops at the first that fails. NOT atomic: what happened
/// before stays, and others see the parts one by one. Where that must not be, use Table::execute. A list of
/// insert_or_replace() and deletes may be executed again as a whole after a failure.
PartsOutcome execute_in_parts(Table& table, std::span<const TransactionOperation> operations,
                              const WriteOptions& options = {});

}  // namespace varve

#pragma GCC visibility pop
