// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of a store transaction on mapped structs.
// Must never: write without a condition if the struct has an ETag member.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "mapped_entity.h"
#include "mapping.h"
#include "query.h"
#include "result.h"
#include "status.h"
#include "store_transaction.h"
#include "typed_table.h"
#include "types.h"
#include "write_operation.h"

namespace varve {

/// A StoreTransaction's view of one table of structs. A transaction may have several, of different tables and structs.
/// It borrows the transaction, and has the verbs and errors of StoreTransaction. It also returns kInvalidArgument if a
/// struct and an entity do not match (mapped_entity.h). Writes are checked by StoreTransaction::commit().
///
///   store->transact([&](StoreTransaction& transaction) -> Status {
///     TypedTransaction orders(transaction, order_table);
///     Result<std::optional<Order>> order = orders.get("eu", "0001");
///     if (!order.ok()) return order.status();
///     (*order)->lines += 1;
///     return orders.replace(**order);
///   });
template <Mapped T>
class TypedTransaction {
 public:
  /// The verbs of add().
  using Kind = WriteOperation::Kind;

  /// The transaction must outlive the object.
  TypedTransaction(StoreTransaction& transaction, TypedTable<T> table) noexcept
      : transaction_(&transaction), table_(std::move(table)) {}

  /// Does StoreTransaction::get().
  Result<std::optional<T>> get(std::string_view partition_key, std::string_view row_key,
                               const ReadOptions& options = {}) {
    const Result<std::optional<Entity>> found = transaction_->get(table_.table(), partition_key, row_key, options);
    if (!found.ok()) return found.status();
    if (!found->has_value()) return std::optional<T>();
    Result<T> object = from_entity<T>(**found);
    if (!object.ok()) return object.status();
    return std::optional<T>(*std::move(object));
  }

  /// Appends a write with the object. Errors: kInvalidArgument (the object makes no entity); then nothing is appended.
  Status add(Kind kind, const T& object, ETag if_match) {
    Result<Entity> entity = to_entity(object);
    if (!entity.ok()) return entity.status();
    transaction_->add(table_.table(), {kind, *std::move(entity), if_match});
    return Status();
  }
  /// Appends a write with the Table verb of the same name. Without `if_match`, the condition is the ETag in the object.
  /// @{
  Status insert(const T& object) { return add(Kind::kInsert, object, ETag()); }
  Status insert_or_replace(const T& object) { return add(Kind::kInsertOrReplace, object, ETag()); }
  Status insert_or_merge(const T& object) { return add(Kind::kInsertOrMerge, object, ETag()); }
  Status replace(const T& object) { return replace(object, mapped::carried_etag(object)); }
  Status replace(const T& object, ETag if_match) { return add(Kind::kReplace, object, if_match); }
  Status merge(const T& object) { return merge(object, mapped::carried_etag(object)); }
  Status merge(const T& object, ETag if_match) { return add(Kind::kMerge, object, if_match); }
  Status remove(const T& object) { return remove(object, mapped::carried_etag(object)); }
  Status remove(const T& object, ETag if_match) { return add(Kind::kRemove, object, if_match); }
  /// @}

 private:
  StoreTransaction* transaction_;
  TypedTable<T> table_;
};

}  // namespace varve
