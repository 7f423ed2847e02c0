// SPDX-License-Identifier: Apache-2.0
// Owns: the list of operations of an entity group transaction.
// Must never: check what needs a store; Table::execute does that, and writes all of it or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "status.h"
#include "store_limits.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// One operation of an entity group transaction.
struct TransactionOperation {
  enum class Kind : std::uint8_t { kInsert, kReplace, kMerge, kInsertOrReplace, kInsertOrMerge, kRemove };
  Kind kind = Kind::kInsert;
  /// For kRemove its keys alone count.
  Entity entity;
  /// Of kReplace, kMerge and kRemove.
  ETag if_match;
};

/// 1 to 100 writes to entities of one partition of one table, each entity at most once: all happen or none, and every
/// read sees all of them or none (T-01, T-03). Each operation means what the verb of the same name on Table means;
/// conditions are judged on the state before the transaction (T-04).
///
///   EntityGroupTransaction transaction;
///   transaction.insert(order).merge(customer, customer.etag()).remove("eu", "0007", ETag::any());
///   Result<std::vector<ETag>> etags = table.execute(transaction);
///   if (!etags.ok()) ... etags.status().operation_index() ...
class EntityGroupTransaction {
 public:
  using Operation = TransactionOperation;

  EntityGroupTransaction& insert(Entity entity);
  EntityGroupTransaction& replace(Entity entity, ETag if_match);
  EntityGroupTransaction& merge(Entity entity, ETag if_match);
  EntityGroupTransaction& insert_or_replace(Entity entity);
  EntityGroupTransaction& insert_or_merge(Entity entity);
  EntityGroupTransaction& remove(std::string partition_key, std::string row_key, ETag if_match);
  EntityGroupTransaction& add(Operation operation);

  std::span<const Operation> operations() const noexcept { return operations_; }
  std::size_t size() const noexcept { return operations_.size(); }
  bool empty() const noexcept { return operations_.empty(); }
  void clear() noexcept { operations_.clear(); }
  /// Memory for as many operations, taken at once. May throw std::bad_alloc, as every call that adds one.
  void reserve(std::size_t operations) { operations_.reserve(operations); }

 private:
  EntityGroupTransaction& add(Operation::Kind kind, Entity entity, ETag if_match);
  std::vector<Operation> operations_;
};

/// What Table::execute says of the transaction as a whole, without asking a store: the number of operations, one
/// partition, each entity once, the size. `limits` are those that the store was made with. Errors: as execute() has
/// them. Source: T-01, T-06 to T-09, T-12, X-05.
Status check_transaction(std::span<const TransactionOperation> operations, const StoreLimits& limits = {});

}  // namespace varve

#pragma GCC visibility pop
