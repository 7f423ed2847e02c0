// SPDX-License-Identifier: Apache-2.0
// Owns: transactions over any partitions and tables of one store; an addition of this store to the table service's
// model. Must never: hold a lock while its user's code runs.
//
//   Result<StoreTransaction> transaction = store->begin_transaction();
//   if (!transaction.ok()) return transaction.status();
//   Result<std::optional<Entity>> employee = transaction->get(employees, "sales", "0007");
//   ...
//   transaction->remove(employees, "sales", "0007", (*employee)->etag());
//   transaction->insert(archive, **employee);
//   Result<std::vector<ETag>> etags = transaction->commit();
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options.h"
#include "query.h"
#include "result.h"
#include "snapshot.h"
#include "table.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// Reads of one state of the store and writes of many entities that all happen or none. Optimistic: nothing is locked
/// until commit(), which takes the locks of all partitions read and written together and in one order, so that
/// transactions cannot wait for each other in a circle; looks whether what get() and get_many() returned is still the
/// newest; judges the conditions of the writes; and commits. So transactions that commit are serializable in what they
/// read by key. What scan() returned is of the one state too, but is not looked at again: entities that appear in its
/// range, change or go meanwhile do not refuse the commit. Get what must not change.
///
/// Reads do not see the transaction's own writes: those are judged, like those of an entity group transaction, on the
/// state before it.
///
/// One that is let go without commit() leaves nothing behind. Holds a snapshot (snapshot.h) until then. Moves, does not
/// copy; one thread at a time. It may outlive the Store object; its verbs answer kClosed then.
class StoreTransaction {
 public:
  StoreTransaction(StoreTransaction&&) noexcept;
  StoreTransaction& operator=(StoreTransaction&&) noexcept;
  ~StoreTransaction();

  /// Of the state that its reads see.
  DateTime version() const noexcept;

  // -- Reads, as Table has them -----------------------------------------------------------------------------------
  // Errors besides those of Table: kInvalidArgument (InvalidInput: a table of another store, a snapshot in the options,
  // or the transaction has ended), kTooLarge (InvalidInput: more entities than limits::kStoreTransactionReadsMax).

  Result<std::optional<Entity>> get(const Table& table, std::string_view partition_key, std::string_view row_key,
                                    const ReadOptions& options = {});
  Result<std::vector<std::optional<Entity>>> get_many(const Table& table, std::span<const EntityKey> keys,
                                                      const ReadOptions& options = {});
  Result<Page> scan(const Table& table, Scan scan) const;

  // -- Writes, collected; commit() judges them --------------------------------------------------------------------
  // They throw std::bad_alloc as containers do, and have collected nothing then.

  StoreTransaction& insert(const Table& table, Entity entity);
  StoreTransaction& replace(const Table& table, Entity entity, ETag if_match);
  StoreTransaction& merge(const Table& table, Entity entity, ETag if_match);
  StoreTransaction& insert_or_replace(const Table& table, Entity entity);
  StoreTransaction& insert_or_merge(const Table& table, Entity entity);
  StoreTransaction& remove(const Table& table, std::string partition_key, std::string row_key, ETag if_match);
  std::size_t size() const noexcept;

  /// Writes all or nothing and ends the transaction, whatever comes of it. Returns an ETag for each write, none for
  /// removes; all are equal. Without writes there is nothing to do: what was read is one state of the store.
  ///
  /// Errors, besides those that any write may give; nothing changed save for kUnknown. operation_index() names the
  /// write that is to blame, counted in the order of the calls:
  ///   kConflict                                      an entity that was read has been written since: begin again
  ///   kNotFound (TableNotFound)                      a table is not there, or was dropped meanwhile
  ///   kInvalidArgument (InvalidInput)                a table of another store; the transaction has ended
  ///   kInvalidArgument (InvalidDuplicateRow)         the second write of the same entity
  ///   kTooLarge (InvalidInput, RequestBodyTooLarge)  more writes, or bytes, than limits::kStoreTransaction...Max
  ///   and of each write those that the verb of Table has.
  Result<std::vector<ETag>> commit(const WriteOptions& options = {});

 private:
  friend class Store;
  struct State;
  explicit StoreTransaction(std::unique_ptr<State> state) noexcept;
  StoreTransaction& add(TransactionOperation::Kind kind, const Table& table, Entity entity, ETag if_match);
  std::unique_ptr<State> state_;
};

}  // namespace varve

#pragma GCC visibility pop
