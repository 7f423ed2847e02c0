// SPDX-License-Identifier: Apache-2.0
// Owns: one write of one entity, as a value and in a borrowed form; the list of operations of a transaction.
// Must never: check anything that needs a store. Table::execute() does that, and writes all operations or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "status.h"
#include "store_limits.h"
#include "types.h"
#include "version.h"

namespace varve {

/// One write of one entity: what Table::write() does at once, and what transactions collect.
///
///   Result<ETag> etag = table.write(WriteOperation::replace(order, order.etag()));
struct WriteOperation {
  /// The Table verbs that an operation can do.
  enum class Kind : std::uint8_t { kInsert, kReplace, kMerge, kInsertOrReplace, kInsertOrMerge, kRemove };
  /// The verb of this operation.
  Kind kind = Kind::kInsert;
  /// For kRemove, only its keys are used.
  Entity entity;
  /// The condition of kReplace, kMerge and kRemove.
  ETag if_match;

  /// Makes an operation with the Table verb of the same name. Checks nothing.
  /// @{
  static WriteOperation insert(Entity entity) { return {Kind::kInsert, std::move(entity), ETag()}; }
  static WriteOperation replace(Entity entity, ETag if_match) { return {Kind::kReplace, std::move(entity), if_match}; }
  static WriteOperation merge(Entity entity, ETag if_match) { return {Kind::kMerge, std::move(entity), if_match}; }
  static WriteOperation insert_or_replace(Entity entity) { return {Kind::kInsertOrReplace, std::move(entity), ETag()}; }
  static WriteOperation insert_or_merge(Entity entity) { return {Kind::kInsertOrMerge, std::move(entity), ETag()}; }
  static WriteOperation remove(std::string partition_key, std::string row_key, ETag if_match) {
    return {Kind::kRemove, Entity(std::move(partition_key), std::move(row_key)), if_match};
  }
  /// @}
};

/// A WriteOperation whose entity or keys belong to the caller, so that nothing is copied. A function takes it as a
/// parameter, and a WriteOperation converts to it.
class WriteView {
 public:
  /// Borrows an operation.
  WriteView(const WriteOperation& operation) noexcept
      : WriteView(operation.kind, operation.entity, operation.if_match) {}
  /// Borrows an entity. For kRemove, only its keys are used.
  WriteView(WriteOperation::Kind kind, const Entity& entity, ETag if_match) noexcept
      : kind_(kind),
        entity_(&entity),
        partition_key_(entity.partition_key()),
        row_key_(entity.row_key()),
        if_match_(if_match) {}
  /// Borrows the keys of an entity to delete.
  static WriteView remove(std::string_view partition_key, std::string_view row_key, ETag if_match) noexcept {
    return {partition_key, row_key, if_match};
  }

  /// Returns the verb of the operation.
  WriteOperation::Kind kind() const noexcept { return kind_; }
  /// Returns the keys of the entity.
  /// @{
  std::string_view partition_key() const noexcept { return partition_key_; }
  std::string_view row_key() const noexcept { return row_key_; }
  /// @}
  /// Returns the entity. A view made by remove() has none: null.
  const Entity* entity() const noexcept { return entity_; }
  /// Returns the condition of kReplace, kMerge and kRemove.
  ETag if_match() const noexcept { return if_match_; }

 private:
  WriteView(std::string_view partition_key, std::string_view row_key, ETag if_match) noexcept
      : kind_(WriteOperation::Kind::kRemove), partition_key_(partition_key), row_key_(row_key), if_match_(if_match) {}

  WriteOperation::Kind kind_;
  const Entity* entity_ = nullptr;
  std::string_view partition_key_;
  std::string_view row_key_;
  ETag if_match_;
};

/// 1 to 100 writes to entities of one partition of one table, each entity at most once. All of them happen or none, and
/// every read sees all of them or none (T-01, T-03). Each operation does the same as the Table verb of its name. All
/// conditions are checked against the state before the transaction (T-04).
///
///   EntityGroupTransaction transaction;
///   transaction.insert(order).merge(customer, customer.etag()).remove("eu", "0007", ETag::any());
///   Result<std::vector<ETag>> etags = table.execute(transaction);
///   if (!etags.ok()) ... etags.status().operation_index() ...
class EntityGroupTransaction {
 public:
  EntityGroupTransaction() = default;
  /// Takes over a list of operations.
  explicit EntityGroupTransaction(std::vector<WriteOperation> operations) noexcept
      : operations_(std::move(operations)) {}

  /// Appends an operation. Checks nothing; execute() does.
  EntityGroupTransaction& add(WriteOperation operation) {
    operations_.push_back(std::move(operation));
    return *this;
  }
  /// Appends an operation with the Table verb of the same name, and returns this transaction.
  /// @{
  EntityGroupTransaction& insert(Entity entity) { return add(WriteOperation::insert(std::move(entity))); }
  EntityGroupTransaction& replace(Entity entity, ETag if_match) {
    return add(WriteOperation::replace(std::move(entity), if_match));
  }
  EntityGroupTransaction& merge(Entity entity, ETag if_match) {
    return add(WriteOperation::merge(std::move(entity), if_match));
  }
  EntityGroupTransaction& insert_or_replace(Entity entity) {
    return add(WriteOperation::insert_or_replace(std::move(entity)));
  }
  EntityGroupTransaction& insert_or_merge(Entity entity) {
    return add(WriteOperation::insert_or_merge(std::move(entity)));
  }
  EntityGroupTransaction& remove(std::string partition_key, std::string row_key, ETag if_match) {
    return add(WriteOperation::remove(std::move(partition_key), std::move(row_key), if_match));
  }
  /// @}

  /// Returns the operations in the order of the calls. The next call that changes the transaction invalidates the span.
  /// @{
  std::span<const WriteOperation> operations() const& noexcept { return operations_; }
  /// Refused by the compiler: the span would point into a temporary.
  template <typename T = WriteOperation>
  std::span<const T> operations() && noexcept {
    static_assert(result_detail::kNever<T>,
                  "a temporary transaction ends before this span: hold the transaction in a variable");
    return {};
  }
  /// @}
  /// Converts as operations() does, for the calls that take a span.
  operator std::span<const WriteOperation>() const noexcept { return operations_; }
  /// Returns the number of operations.
  std::size_t size() const noexcept { return operations_.size(); }
  /// Returns whether there are no operations. execute() refuses such a transaction (T-12).
  bool empty() const noexcept { return operations_.empty(); }
  /// Removes all operations and keeps their memory for the next ones.
  void clear() noexcept { operations_.clear(); }
  /// Allocates memory for this many operations. May throw std::bad_alloc, as every call that adds an operation may.
  void reserve(std::size_t operations) { operations_.reserve(operations); }

 private:
  std::vector<WriteOperation> operations_;
};

/// Does the checks of Table::execute() that concern the transaction as a whole and need no store: the number of
/// operations, one partition, each entity once, and the size. `limits` are the limits that the store was created with.
/// Errors: as execute(). Source: T-01, T-06 to T-09, T-12, X-05.
VARVE_EXPORT Status check_transaction(std::span<const WriteOperation> operations, const StoreLimits& limits = {});

}  // namespace varve
