// SPDX-License-Identifier: Apache-2.0
// Owns: the list of operations of an entity group transaction.
// Must never: check anything that needs a store. Table::execute() does that, and writes all operations or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "status.h"
#include "store_limits.h"
#include "types.h"
#include "version.h"

namespace varve {

/// One operation of an entity group transaction.
struct TransactionOperation {
  /// The Table verbs that an operation can do.
  enum class Kind : std::uint8_t { kInsert, kReplace, kMerge, kInsertOrReplace, kInsertOrMerge, kRemove };
  /// The verb of this operation.
  Kind kind = Kind::kInsert;
  /// For kRemove, only its keys are used.
  Entity entity;
  /// The condition of kReplace, kMerge and kRemove.
  ETag if_match;
};

/// 1 to 100 writes to entities of one partition of one table, each entity at most once. All of them happen or none, and
/// every read sees all of them or none (T-01, T-03). Each operation does the same as the Table verb of its name. All
/// conditions are checked against the state before the transaction (T-04).
///
///   EntityGroupTransaction transaction;
///   transaction.insert(order).merge(customer, customer.etag()).remove("eu", "0007", ETag::any());
///   Result<std::vector<ETag>> etags = table.execute(transaction);
///   if (!etags.ok()) ... etags.status().operation_index() ...
class VARVE_EXPORT EntityGroupTransaction {
 public:
  /// One element of operations().
  using Operation = TransactionOperation;

  /// Appends an operation with the Table verb of the same name, and returns this transaction. Checks nothing; execute()
  /// does.
  /// @{
  EntityGroupTransaction& insert(Entity entity);
  EntityGroupTransaction& replace(Entity entity, ETag if_match);
  EntityGroupTransaction& merge(Entity entity, ETag if_match);
  EntityGroupTransaction& insert_or_replace(Entity entity);
  EntityGroupTransaction& insert_or_merge(Entity entity);
  EntityGroupTransaction& remove(std::string partition_key, std::string row_key, ETag if_match);
  /// @}
  /// Appends this operation, for example one of another transaction.
  EntityGroupTransaction& add(Operation operation);

  /// Returns the operations in the order of the calls. The next call that changes the transaction invalidates the span.
  std::span<const Operation> operations() const& noexcept { return operations_; }
  /// Refused by the compiler: the span would point into a temporary.
  template <typename T = Operation>
  std::span<const T> operations() && noexcept {
    static_assert(result_detail::kNever<T>,
                  "a temporary transaction ends before this span: hold the transaction in a variable");
    return {};
  }
  /// Returns the number of operations.
  std::size_t size() const noexcept { return operations_.size(); }
  /// Returns whether there are no operations. execute() refuses such a transaction (T-12).
  bool empty() const noexcept { return operations_.empty(); }
  /// Removes all operations and keeps their memory for the next ones.
  void clear() noexcept { operations_.clear(); }
  /// Allocates memory for this many operations. May throw std::bad_alloc, as every call that adds an operation may.
  void reserve(std::size_t operations) { operations_.reserve(operations); }

 private:
  EntityGroupTransaction& add(Operation::Kind kind, Entity entity, ETag if_match);
  std::vector<Operation> operations_;
};

/// Does the checks of Table::execute() that concern the transaction as a whole and need no store: the number of
/// operations, one partition, each entity once, and the size. `limits` are the limits that the store was created with.
/// Errors: as execute(). Source: T-01, T-06 to T-09, T-12, X-05.
VARVE_EXPORT Status check_transaction(std::span<const TransactionOperation> operations, const StoreLimits& limits = {});

}  // namespace varve
