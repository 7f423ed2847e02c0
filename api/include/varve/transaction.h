// SPDX-License-Identifier: Apache-2.0
// Owns: one write of one entity, as a value and in a borrowed form; patches; the list of operations of a transaction.
// Must never: check anything that needs a store. Table::execute() does that, and writes all operations or none.
#pragma once

#include <concepts>
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

class Patch;

/// One write of one entity: what Table::write() does at once, and what transactions collect.
///
///   Result<ETag> etag = table.write(WriteOperation::replace(order, order.etag()));
struct WriteOperation {
  /// The Table verbs that an operation can do.
  enum class Kind : std::uint8_t {
    kInsert,
    kReplace,
    kMerge,
    kInsertOrReplace,
    kInsertOrMerge,
    kRemove,
    kPatch,
    kInsertOrPatch,
  };
  /// The verb of this operation.
  Kind kind = Kind::kInsert;
  /// For kRemove, only its keys are used. For a patch, its properties are those to set.
  Entity entity;
  /// The ETag that kReplace, kMerge, kRemove and kPatch need.
  ETag if_match;
  /// For a patch: the names of the properties to remove.
  std::vector<std::string> removed{};
  /// For a patch: the properties to increment, each with the number to add.
  std::vector<Property> increments{};
  /// A filter (query.h) that the stored entity must meet; empty for none. kReplace, kMerge, kRemove and kPatch may have
  /// one.
  std::string condition{};

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
  template <std::same_as<Patch> Changes>
  static WriteOperation patch(Changes changes, ETag if_match) {
    WriteOperation operation = std::move(changes).operation();
    operation.if_match = if_match;
    return operation;
  }
  template <std::same_as<Patch> Changes>
  static WriteOperation insert_or_patch(Changes changes) {
    WriteOperation operation = std::move(changes).operation();
    operation.kind = Kind::kInsertOrPatch;
    return operation;
  }
  /// @}

  /// Returns the operation with this condition: a filter that the stored entity must meet, besides the ETag. A blank
  /// filter is always met. If the entity does not meet the filter, the write is refused with kPreconditionFailed
  /// (ConditionNotMet), and nothing changes. For example, an order is deleted only while it is not paid:
  ///
  ///   orders.write(WriteOperation::remove("eu", "0007", ETag::any()).only_if("Paid eq false"));
  WriteOperation only_if(std::string filter) && {
    condition = std::move(filter);
    return std::move(*this);
  }
};

/// Changes of single properties of one entity: set, remove, increment. The store makes them under the lock that each
/// write of the entity takes. So two patches at the same time lose nothing, and no caller has to read and try again.
///
///   Patch sale("eu", "0007");
///   sale.increment("Quantity", -5).set("Sold", true).only_if("Quantity ge 5");
///   Result<Entity> item = stock.patch(sale, ETag::any());
///
/// Nothing is checked before the write. The write refuses a property that the patch names twice
/// (DuplicatePropertiesSpecified), the keys (DuplicateKeyPropertySpecified) and Timestamp (InvalidInput).
class Patch {
 public:
  /// Makes a patch that changes no property. It still gives the entity a new ETag.
  Patch(std::string partition_key, std::string row_key)
      : operation_{WriteOperation::Kind::kPatch, Entity(std::move(partition_key), std::move(row_key)), ETag()} {}

  /// Sets the property, which may change its type. The patch keeps all properties that it does not name.
  /// @{
  Patch& set(std::string name, Value value) & {
    operation_.entity.add(std::move(name), std::move(value));
    return *this;
  }
  Patch set(std::string name, Value value) && {
    set(std::move(name), std::move(value));
    return std::move(*this);
  }
  /// @}
  /// Removes the property. If the entity lacks it, nothing is removed.
  /// @{
  Patch& remove(std::string name) & {
    operation_.removed.push_back(std::move(name));
    return *this;
  }
  Patch remove(std::string name) && {
    remove(std::move(name));
    return std::move(*this);
  }
  /// @}
  /// Adds `by` to the property. `by` is an Int32, an Int64 or a finite Double, and may be negative. The property keeps
  /// its type. An integer can be added to any number, and counts as a Double for a Double. If the entity lacks the
  /// property, it begins at zero with the type of `by`.
  /// @{
  Patch& increment(std::string name, Value by) & {
    operation_.increments.push_back({std::move(name), std::move(by)});
    return *this;
  }
  Patch increment(std::string name, Value by) && {
    increment(std::move(name), std::move(by));
    return std::move(*this);
  }
  /// @}
  /// Sets the filter that the stored entity must meet, as WriteOperation::only_if(). It judges the entity before the
  /// patch. insert_or_patch() refuses a condition.
  /// @{
  Patch& only_if(std::string filter) & {
    operation_.condition = std::move(filter);
    return *this;
  }
  Patch only_if(std::string filter) && {
    only_if(std::move(filter));
    return std::move(*this);
  }
  /// @}

  /// Returns the patch as an operation of kPatch without an ETag.
  /// @{
  const WriteOperation& operation() const& noexcept { return operation_; }
  WriteOperation operation() && noexcept { return std::move(operation_); }
  /// @}

 private:
  WriteOperation operation_;
};

/// A WriteOperation whose entity or keys belong to the caller, so that nothing is copied. A function takes it as a
/// parameter, and a WriteOperation converts to it.
class WriteView {
 public:
  /// Borrows an operation.
  WriteView(const WriteOperation& operation) noexcept : WriteView(operation.kind, operation, operation.if_match) {}
  /// Borrows an operation, with another verb and ETag.
  WriteView(WriteOperation::Kind kind, const WriteOperation& operation, ETag if_match) noexcept
      : WriteView(kind, operation.entity, if_match) {
    operation_ = &operation;
  }
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
  /// Returns the ETag that kReplace, kMerge, kRemove and kPatch need.
  ETag if_match() const noexcept { return if_match_; }
  /// Returns the borrowed operation, which may have a condition, and the changes of a patch. It is null if only an entity
  /// or its keys are borrowed.
  const WriteOperation* operation() const noexcept { return operation_; }

 private:
  WriteView(std::string_view partition_key, std::string_view row_key, ETag if_match) noexcept
      : kind_(WriteOperation::Kind::kRemove), partition_key_(partition_key), row_key_(row_key), if_match_(if_match) {}

  WriteOperation::Kind kind_;
  const Entity* entity_ = nullptr;
  std::string_view partition_key_;
  std::string_view row_key_;
  ETag if_match_;
  const WriteOperation* operation_ = nullptr;
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
  EntityGroupTransaction& patch(Patch patch, ETag if_match) {
    return add(WriteOperation::patch(std::move(patch), if_match));
  }
  EntityGroupTransaction& insert_or_patch(Patch patch) {
    return add(WriteOperation::insert_or_patch(std::move(patch)));
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
