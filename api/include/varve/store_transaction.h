// SPDX-License-Identifier: Apache-2.0
// Owns: transactions over any partitions and tables of one store. The table service's model has no such transactions.
// Must never: hold a lock while code of the caller runs.
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
#include <utility>
#include <vector>

#include "blob.h"
#include "blob_write.h"
#include "large_value.h"
#include "options.h"
#include "query.h"
#include "queue.h"
#include "result.h"
#include "snapshot.h"
#include "table.h"
#include "transaction.h"
#include "types.h"
#include "version.h"

namespace varve {

/// Reads one state of the store, and writes many entities: all of them or none.
///
/// Transactions are optimistic. Nothing is locked until commit(), which does five steps:
/// - It locks all partitions read and written, together and in one order. So transactions cannot deadlock.
/// - It checks that every entity and blob that get(), get_many() or read() read has not been written since.
/// - It checks that the ranges that scan_checked() read are as they were.
/// - It checks the conditions of the writes.
/// - It commits.
///
/// So committed transactions are serializable in what they read by key and by scan_checked(). What scan() returned is
/// from the same state, but commit() does not check it again: an entity that another writer adds, changes or deletes in
/// its range does not prevent the commit. Use get() or scan_checked() for what must not change.
///
/// Reads do not see the transaction's own writes. The writes are checked against the state before the transaction, as
/// in an entity group transaction.
///
/// A transaction that is destroyed without commit() has no effect. Until then it holds a snapshot (snapshot.h). It can
/// be moved, but not copied; use it from one thread at a time. It may outlive the Store object; its verbs then return
/// kClosed.
class VARVE_EXPORT StoreTransaction {
 public:
  /// Moves the transaction. The old object may then only be destroyed or assigned to.
  /// @{
  StoreTransaction(StoreTransaction&&) noexcept;
  StoreTransaction& operator=(StoreTransaction&&) noexcept;
  /// @}
  ~StoreTransaction();

  /// Returns the version of the state that the transaction reads.
  DateTime version() const noexcept;

  // -- Reads, as Table has them -----------------------------------------------------------------------------------
  // Errors besides those of Table: kInvalidArgument (InvalidInput: a table of another store, a snapshot in the options,
  // or the transaction has ended), kTooLarge (InvalidInput: more than limits::kStoreTransactionReadsMax entities and
  // blobs read by key).

  /// Does Table::get(), and keeps the key for the check in commit(). An entity that does not exist is checked too.
  Result<std::optional<Entity>> get(const Table& table, std::string_view partition_key, std::string_view row_key,
                                    const ReadOptions& options = {});
  /// Does Table::get_many(), and keeps the keys for the check in commit().
  Result<std::vector<std::optional<Entity>>> get_many(const Table& table, std::span<const EntityKey> keys,
                                                      const ReadOptions& options = {});
  /// Does Table::get_opened(), and keeps the key for the check in commit().
  Result<std::optional<OpenedEntity>> get_opened(const Table& table, std::string_view partition_key,
                                                 std::string_view row_key, std::span<const std::string> properties,
                                                 const ReadOptions& options = {});
  /// Does Table::scan(). commit() does not check what it returned.
  Result<Page> scan(const Table& table, Scan scan) const;
  /// Does Table::scan(), and keeps the part of the range that the page covers for the check in commit(). The commit fails
  /// if another writer inserted, changed or deleted an entity there, or if an entity there has ended since. So "insert if
  /// there is none like it" needs no lock of the caller. The transaction's own writes do not count as changes.
  ///
  /// - A page covers the keys from its first to the one that its token names, which is not covered. Without a token it
  ///   covers the rest of the range, or the keys up to the last entity that Scan::take allows.
  /// - Conditions of the filter on keys narrow the covered keys, as they narrow the keys to read. Conditions on properties
  ///   do not: an entity that the filter does not match counts too. An entity that came and went again may count.
  /// - Each range that is read is of one partition: a partition, RowKeys, a prefix, or keys that the filter names. There
  ///   may be several, of several partitions. commit() locks their partitions and walks the ranges again. The walk costs
  ///   time for deleted keys too.
  ///
  /// Errors besides those above: kInvalidArgument (InvalidInput: a range that may have keys of several partitions),
  /// kTooLarge (InvalidInput: more than limits::kStoreTransactionRangesMax ranges).
  Result<Page> scan_checked(const Table& table, Scan scan);
  /// Does Container::read() of the state that the transaction reads, so that entities and blobs are of one moment, and
  /// keeps the name for the check in commit(). A blob that does not exist is checked too. A change of a blob's tags, tier
  /// or lease also counts as a write. Errors besides those of Container: as above.
  Result<BlobReader> read(const Container& container, std::string_view blob, const BlobConditions& conditions = {});

  // -- Writes, collected; commit() checks them --------------------------------------------------------------------
  // If memory runs out, they throw std::bad_alloc, as containers do, and have collected nothing.
  //
  // An entity may have large values, which are written before by a LargeValueWriter. The commit names their contents, and
  // lets go of those that its writes replace or delete. The writers must exist until commit() has returned (BX-20, BX-21).

  /// Appends a write to `table`, and returns this transaction.
  StoreTransaction& add(const Table& table, WriteOperation operation);
  /// Appends a write with the Table verb of the same name, and returns this transaction.
  /// @{
  StoreTransaction& insert(const Table& table, Entity entity) {
    return add(table, WriteOperation::insert(std::move(entity)));
  }
  StoreTransaction& replace(const Table& table, Entity entity, ETag if_match) {
    return add(table, WriteOperation::replace(std::move(entity), if_match));
  }
  StoreTransaction& merge(const Table& table, Entity entity, ETag if_match) {
    return add(table, WriteOperation::merge(std::move(entity), if_match));
  }
  StoreTransaction& insert_or_replace(const Table& table, Entity entity) {
    return add(table, WriteOperation::insert_or_replace(std::move(entity)));
  }
  StoreTransaction& insert_or_merge(const Table& table, Entity entity) {
    return add(table, WriteOperation::insert_or_merge(std::move(entity)));
  }
  StoreTransaction& remove(const Table& table, std::string partition_key, std::string row_key, ETag if_match) {
    return add(table, WriteOperation::remove(std::move(partition_key), std::move(row_key), if_match));
  }
  StoreTransaction& patch(const Table& table, Patch patch, ETag if_match) {
    return add(table, WriteOperation::patch(std::move(patch), if_match));
  }
  StoreTransaction& insert_or_patch(const Table& table, Patch patch) {
    return add(table, WriteOperation::insert_or_patch(std::move(patch)));
  }
  /// @}
  /// Appends a change of a message, which is committed with the entities or not at all, and returns this transaction.
  /// A put is visible when the entities are. If a receipt is no longer the last one of its message, commit() returns
  /// kConflict (MessageNotFound). Source: QX-02, QX-03.
  /// @{
  StoreTransaction& add(MessageWrite write);
  StoreTransaction& put(const Queue& queue, std::string text, const PutOptions& options = {}) {
    return add(MessageWrite::put(queue, std::move(text), options));
  }
  StoreTransaction& remove(const Queue& queue, const ReceivedMessage& message) {
    return add(MessageWrite::remove(queue, message.id, message.receipt));
  }
  StoreTransaction& update(const Queue& queue, const ReceivedMessage& message, std::chrono::milliseconds hold,
                           std::optional<std::string> text = std::nullopt) {
    return add(MessageWrite::update(queue, message.id, message.receipt, hold, std::move(text)));
  }
  /// @}
  /// Appends a change of a blob, which is committed with the entities or not at all, and returns this transaction. So no
  /// entity names a blob that is not there. A blob is judged by its state before the transaction, so `copy(photos, "new",
  /// photos, "old").remove(photos, "old")` renames one. A writer's content is written before, as a stream: only its last
  /// part counts in limits::kStoreTransactionBytesMax. The content of a put counts whole. commit() judges the conditions
  /// in the options. If the transaction has no effect, what it wrote before is removed in the background. Source: BX-20.
  /// @{
  StoreTransaction& add(BlobWrite write);
  StoreTransaction& publish(BlobWriter writer) { return add(BlobWrite::publish(std::move(writer))); }
  StoreTransaction& put(const Container& container, std::string blob, std::string content,
                        BlobWriteOptions options = {}) {
    return add(BlobWrite::put(container, std::move(blob), std::move(content), std::move(options)));
  }
  StoreTransaction& remove(const Container& container, std::string blob, const BlobChangeOptions& options = {}) {
    return add(BlobWrite::remove(container, std::move(blob), options));
  }
  StoreTransaction& copy(const Container& container, std::string blob, const Container& source, std::string source_blob,
                         BlobCopyOptions options = {}) {
    return add(BlobWrite::copy(container, std::move(blob), source, std::move(source_blob), std::move(options)));
  }
  /// @}
  /// Returns the number of writes appended so far, of entities, messages and blobs.
  std::size_t size() const noexcept;

  /// Commits all writes or none, and ends the transaction, also if it fails. Returns an ETag for each write of an
  /// entity, and no ETag for a remove; all ETags are equal. A transaction without writes always succeeds: its reads were of one state
  /// of the store.
  ///
  /// Errors, besides those that any write may return. Nothing changed, except perhaps after kUnknown. operation_index()
  /// is the write that failed, counted in the order of the calls:
  ///   kConflict                                      an entity or blob that was read has been written since, or has
  ///                                                  ended (table_expiry.h), also in a range of scan_checked(); begin
  ///                                                  again
  ///   kNotFound (TableNotFound)                      a table does not exist, or was dropped meanwhile, as may be a
  ///                                                  container of a blob that was read
  ///   kInvalidArgument (InvalidInput)                a table of another store; or the transaction has ended
  ///   kInvalidArgument (InvalidDuplicateRow)         the second write of the same entity
  ///   kTooLarge (InvalidInput, RequestBodyTooLarge)  more writes or bytes than limits::kStoreTransaction...Max; the last
  ///                                                  MiB of a content counts if no entity named it before
  ///   kTooLarge (InvalidInput)                       the ranges of scan_checked() have more entities than
  ///                                                  limits::kStoreTransactionRangeEntitiesMax
  ///   kInvalidArgument (InvalidInput)                a writer that was moved away, has ended, stages a block, or
  ///                                                  appends; the second write of the same blob
  ///   and for each write the errors of the Table, Queue or Container verb of the same name.
  Result<std::vector<ETag>> commit(const WriteOptions& options = {});
  /// Returns what each put of a message returned, in the order of the calls. Empty before a commit that succeeded.
  const std::vector<SentMessage>& sent_messages() const& noexcept;
  /// Returns the entity after each patch, in the order of the calls. Empty before a commit that succeeded.
  const std::vector<Entity>& patched_entities() const& noexcept;
  /// Returns the state of each blob that was published, put or copied, in the order of the calls. Empty before a commit
  /// that succeeded.
  const std::vector<BlobState>& written_blobs() const& noexcept;

 private:
  friend class Store;
  struct State;
  explicit StoreTransaction(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve
