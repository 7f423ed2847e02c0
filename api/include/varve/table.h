// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs on the entities of one table.
// Must never: hold any resource open. A Table is a name and the store that it belongs to.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access.h"
#include "access_policy.h"
#include "aggregate.h"
#include "entity_view.h"
#include "large_value.h"
#include "options.h"
#include "query.h"
#include "queue.h"
#include "result.h"
#include "scan_plan.h"
#include "status.h"
#include "transaction.h"
#include "types.h"
#include "version.h"

namespace varve {

/// What Table::execute_with_messages() returns.
struct ExecutedTransaction {
  /// As Table::execute() returns them: one for each operation.
  std::vector<ETag> etags;
  /// What each put of a message returned, in the order of the messages.
  std::vector<SentMessage> sent;
  /// The entity after each patch, in the order of the patches.
  std::vector<Entity> patched{};
};

/// A handle that follows a name. If the table is dropped, its verbs return TableNotFound. If a table of that name is
/// created again, in any spelling, they use the new table. The new table is empty: a write that was meant for the old
/// table cannot appear in it (B-04). Handles are cheap to copy. A handle may outlive the Store object; its verbs then
/// return kClosed.
///
/// Threads   Any thread may use a Table, and all verbs may run at the same time. A write waits only for another write
///           of the same partition.
/// Writes    A write that succeeded is durable as its Durability says, and every read that starts later sees it. Its
///           ETag is above every ETag that the store gave before.
/// Reads     A read sees everything acknowledged before it started. Except for buffered writes, it sees nothing that is
///           not durable.
///
/// Errors that any verb may return besides its own; nothing changed:
///   kNotFound (TableNotFound)           the table does not exist
///   kInvalidArgument (InvalidInput)     a text is not UTF-8; the tag is too long
///   kInvalidArgument                    the verb was called on the store's asynchronous thread (async.h)
///   kClosed                             the store was closed
///   kLocked                             this process is a fork of the process that opened the store
///   kForbidden                          the handle is restricted, see restricted_to()
///   kCorruption, kIoError               the message names the file or the place
///   kOutOfMemory, kTooManyFiles
///
/// Errors that any write may return:
///   kBusy         other writers held the partition for all of WriteOptions::wait_max, or an entity on which the write
///                 rests ended while the write waited (table_expiry.h); nothing changed
///   kNoSpace      the device or the write buffer has no room; the message has the cause; nothing changed
///   kReadOnly     the store was opened for reading only; nothing changed
///   kPoisoned     an earlier log failure stopped the store; nothing changed; reopen the store to write
///   kFenced       another owner or program took the store's directory or files away; nothing changed
///   kUnknown      the log failed in this commit or an earlier one. Reopen the store and read to find out whether the
///                 commit happened. Never repeat it blindly.
///
/// Errors that any write of an entity may return if the entity breaks a limit of limits.h; nothing changed:
///   kTooLarge         PropertyValueTooLarge, PropertyNameTooLong, TooManyProperties, EntityTooLarge
///   kInvalidArgument  OutOfRangeInput: a forbidden character in a key, or a DateTime out of range;
///                     InvalidInput: `/` or `\` in a key; for insert(), this is OutOfRangeInput;
///                     PropertyNameInvalid, DuplicatePropertiesSpecified;
///                     InvalidInput: a LargeValue, and the table was created without TableOptions::has_large_values
///                     DuplicateKeyPropertySpecified: a property called PartitionKey or RowKey
///
///   kNotFound         LargeValueNotFound: a LargeValue names a content that the account does not have or no longer has,
///                     for example because its LargeValueWriter ended before an entity named it
///   kTooLarge         RequestBodyTooLarge: the write names contents for the first time whose last MiB are together above
///                     limits::kStoreTransactionBytesMax
///
/// Errors of a write with a condition (WriteOperation::only_if); nothing changed:
///   kPreconditionFailed (ConditionNotMet)         the stored entity does not meet the filter
///   kInvalidArgument (InvalidInput)               the filter is one that scan() refuses; or the verb inserts
///   kUnsupported (NotImplemented)                 as scan()
///   kForbidden (AuthorizationPermissionMismatch)  a restricted handle may not query
///
/// The checks have a fixed order (O-07): what a restricted handle forbids; keys and properties; the table; the entity's
/// existence; its ETag; the condition; the increments of a patch; the size of the result. execute() first checks the
/// transaction as a whole.
class VARVE_EXPORT Table {
 public:
  /// Returns the account name: 3 to 24 characters of `[a-z0-9]`.
  /// @{
  std::string_view account() const& noexcept;
  std::string account() && { return std::string(account()); }
  /// @}
  /// Returns the table name as it was spelt when this handle was made.
  /// @{
  std::string_view name() const& noexcept;
  std::string name() && { return std::string(name()); }
  /// @}

  /// Does the verb that the operation names, and returns the new ETag; kRemove has none. The verbs below are short forms
  /// of this call. Errors: those of the verb.
  Result<ETag> write(const WriteView& operation, const WriteOptions& options = {});

  /// Adds an entity whose key does not exist yet. Ignores the entity's etag().
  /// Errors: kExists (EntityAlreadyExists). Source: O-10.
  Result<ETag> insert(const Entity& entity, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kInsert, entity, ETag()}, options);
  }

  /// Replaces the properties of an existing entity. `if_match` is the ETag that the stored entity must have, or
  /// ETag::any().
  /// Errors:
  ///   kNotFound (ResourceNotFound)                         the entity does not exist
  ///   kPreconditionFailed (UpdateConditionNotSatisfied)    the entity has another ETag
  ///   kInvalidArgument (InvalidInput)                      `if_match` is none
  /// Source: O-02, O-11.
  Result<ETag> replace(const Entity& entity, ETag if_match, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kReplace, entity, if_match}, options);
  }

  /// Sets these properties of an existing entity, and keeps its other properties. A property may change its type. A
  /// merge without properties still gives the entity a new ETag. The limits apply to the result. Errors: as replace().
  /// Source: O-12.
  Result<ETag> merge(const Entity& entity, ETag if_match, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kMerge, entity, if_match}, options);
  }

  /// Does replace() with any ETag if the entity exists, else insert(). Source: O-13.
  Result<ETag> insert_or_replace(const Entity& entity, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kInsertOrReplace, entity, ETag()}, options);
  }

  /// Does merge() with any ETag if the entity exists, else insert(). Source: O-13.
  Result<ETag> insert_or_merge(const Entity& entity, const WriteOptions& options = {}) {
    return write({WriteOperation::Kind::kInsertOrMerge, entity, ETag()}, options);
  }

  /// Sets, removes and increments single properties of an existing entity. Returns the entity after the patch, with all
  /// its properties and the new ETag. The limits apply to the result. A restricted handle needs the permissions to update
  /// and to query, because the patch returns the entity. write() also takes a patch, and returns the ETag.
  ///
  /// Errors, besides those of replace() and of a condition. The message names the property:
  ///   kInvalidArgument (DuplicatePropertiesSpecified)   the patch names a property twice
  ///   kInvalidArgument (DuplicateKeyPropertySpecified)  the patch names PartitionKey or RowKey
  ///   kInvalidArgument (InvalidInput)                   the patch names Timestamp; or a number to add is not an Int32,
  ///                                                     an Int64 or a finite Double
  ///   kInvalidArgument (PropertyTypeMismatch)           the property to increment is no number, or it is an integer and
  ///                                                     the number to add is a Double
  ///   kTooLarge (IncrementOutOfRange)                   the type of the property cannot hold the sum
  Result<Entity> patch(const Patch& patch, ETag if_match, const WriteOptions& options = {}) {
    return patched({WriteOperation::Kind::kPatch, patch.operation(), if_match}, options);
  }

  /// Does patch() with any ETag if the entity exists. Otherwise inserts an entity with the properties that the patch sets
  /// and increments. A restricted handle also needs the permission to add. Errors: as patch().
  ///
  ///   Result<Entity> page = pages.insert_or_patch(Patch("page", "home").increment("Visits", 1));
  Result<Entity> insert_or_patch(const Patch& patch, const WriteOptions& options = {}) {
    return patched({WriteOperation::Kind::kInsertOrPatch, patch.operation(), ETag()}, options);
  }

  /// Deletes an entity. If a key is longer than a key can be, the entity does not exist (kNotFound). Errors: as
  /// replace(). Source: O-14, D-12.
  Status remove(std::string_view partition_key, std::string_view row_key, ETag if_match,
                const WriteOptions& options = {}) {
    return write(WriteView::remove(partition_key, row_key, if_match), options).status();
  }

  /// Executes all operations or none, in one commit: those of an EntityGroupTransaction, or of a list. Returns an ETag
  /// for each operation, and no ETag for kRemove. All ETags of one transaction are equal.
  ///
  /// operation_index() of an error is the operation that failed. The transaction as a whole is checked first:
  ///   kInvalidArgument (InvalidInput)                                more than 100 operations
  ///                                                                  (StoreLimits::transaction_operations_max); the
  ///                                                                  index is 99, the last one allowed (T-08)
  ///   kInvalidArgument (InvalidInput)                                no operations; without an index (T-12)
  ///   kInvalidArgument (CommandsInBatchActOnDifferentPartitions)     the first operation on another partition (T-06)
  ///   kInvalidArgument (InvalidDuplicateRow)                         the second operation on the same entity (T-07)
  ///   kTooLarge (RequestBodyTooLarge)                                the operation that exceeds the limit (T-09)
  ///
  /// Then execute() checks the input of each operation, in their order. Then it checks the table (index 0, T-10). Last,
  /// in their order, it checks existence, ETag and resulting size of each entity.
  Result<std::vector<ETag>> execute(std::span<const WriteOperation> operations, const WriteOptions& options = {});

  /// Deletes the entities that meet a condition, in batches. Each delete is judged under the lock of its partition: an
  /// entity that another writer changed since the batch was read is read again, and stays if the condition no longer
  /// holds. The call does not see entities that are written before its present key. The call as a whole is not atomic: after
  /// an error or a crash, the finished batches stay, and WhereOptions::continuation goes on.
  ///
  ///   WhereOptions options;
  ///   options.progress = [&](const WhereProgress& now) { remember(now.continuation); };
  ///   Result<WhereProgress> done = orders.delete_where({.filter = "Paid eq true"}, options);
  ///
  /// Errors: those of scan() and execute();
  ///   kInvalidArgument (InvalidInput)  a filter that matches everything without Where::all, or another filter with it;
  ///                                    a batch size out of range; a continuation of another table, or of nothing;
  ///                                    a change without properties, or that sets and removes one property
  ///   kNotFound (TableNotFound)        the table was dropped before the end, also if it was created again
  ///   kBusy                            other writers changed an entity again and again before it could be changed
  ///   kCancelled                       the stop was requested before the call
  Result<WhereProgress> delete_where(const Where& where, const WhereOptions& options = {});
  /// Does delete_where(), but sets and removes properties of the entities. After a crash a batch may be changed again,
  /// which gives its entities another ETag. Errors: as delete_where(), and as merge() and replace().
  Result<WhereProgress> update_where(const Where& where, const PropertyChanges& changes,
                                     const WhereOptions& options = {});

  /// Does execute(), and changes the messages, if there are any, in the same commit: all of it happens or none. Also
  /// returns the entity after each patch. Puts are visible when the entities are. The limits of execute() count entities
  /// alone, except that texts of messages count for the bytes.
  ///
  ///   WriteOperation order = WriteOperation::insert(std::move(entity));
  ///   MessageWrite notice = MessageWrite::put(queue, "0007");
  ///   Result<ExecutedTransaction> done = orders.execute_with_messages({&order, 1}, {&notice, 1});
  ///
  /// Errors: those of execute(), and for each message those of StoreTransaction::commit(). kTooLarge (InvalidInput): more
  /// messages than limits::kStoreTransactionOperationsMax. The operation_index() of a message is its index after all
  /// operations. Source: QX-04.
  Result<ExecutedTransaction> execute_with_messages(std::span<const WriteOperation> operations,
                                                    std::span<const MessageWrite> messages,
                                                    const WriteOptions& options = {});

  /// Returns the entity, or nothing if it does not exist. A key that is too long to exist is not found (D-12).
  /// Errors: kInvalidArgument (OutOfRangeInput, InvalidInput: a forbidden character in a key, as above; InvalidInput:
  /// too many selected names, or a snapshot of another store). Source: O-15.
  Result<std::optional<Entity>> get(std::string_view partition_key, std::string_view row_key,
                                    const ReadOptions& options = {}) const;

  /// Does get() for many keys, all at one state of the store. Returns the entities in the order of the keys. It reads
  /// from the disk in parallel, which takes far less time than one get() after another. Errors: as get(), for the first
  /// key that fails; then nothing is returned.
  Result<std::vector<std::optional<Entity>>> get_many(std::span<const EntityKey> keys,
                                                      const ReadOptions& options = {}) const;

  /// Begins to write a content, which entities of the table's account can then have as a LargeValue. See large_value.h.
  /// Errors: those of any write; kInvalidArgument (InvalidInput: the table was created without
  /// TableOptions::has_large_values). Source: BX-01, BX-20.
  Result<LargeValueWriter> write_large_value();
  /// Opens the content of a LargeValue for reading. Errors: those of get(); kNotFound (ResourceNotFound: the entity does
  /// not exist; without a service error: it has no such property), kInvalidArgument (the property has another type).
  Result<LargeValueReader> open_large_value(std::string_view partition_key, std::string_view row_key,
                                            std::string_view property, const ReadOptions& options = {}) const;
  /// Does get(), and opens the large values of these properties at the same state of the store. If ReadOptions::select is
  /// not empty, these properties are selected too. Errors: as get(). Source: BX-24.
  Result<std::optional<OpenedEntity>> get_opened(std::string_view partition_key, std::string_view row_key,
                                                 std::span<const std::string> properties,
                                                 const ReadOptions& options = {}) const;

  /// Returns one page of a range.
  /// Errors:
  ///   kTooLarge (InvalidInput)         more entities in a page with an order than limits::kOrderedPageEntitiesMax
  ///   kInvalidArgument (InvalidInput)  page size, page time or selection over its limit; a bound that is not UTF-8; a
  ///                                    snapshot of another store;
  ///                                    a continuation that is not a token, or is from a scan with another direction,
  ///                                    or with `take` where this scan has none, or the reverse;
  ///                                    an order_by that is no order, or the token of another order;
  ///                                    a filter that does not parse (the message names the character), is too long, or
  ///                                    has more comparisons than StoreLimits::filter_comparisons_max
  ///   kUnsupported (NotImplemented)    a filter with arithmetic, with an unknown function, or that compares two
  ///                                    literals; without Scan::filter_extensions, also with any function, or that
  ///                                    compares two properties
  /// Source.
  Result<Page> scan(const Scan& scan) const;
  /// Does scan(), but calls `reader` for each entity instead of copying it into the page. The reader gets a view of the
  /// entity in the store's memory, on this thread, before the call returns. A page takes about half the time if no copy
  /// is needed.
  ///
  /// If the scan fails, the caller must discard what `reader` received. `reader` may read from the store. No lock is
  /// held while it runs, but the blocks and files of the page stay in use until the call returns. Errors: as scan().
  Result<Page> scan_in_place(const Scan& scan, const EntityReader& reader) const;

  /// Returns one page of the RowKeys of a partition, folded at a delimiter, as object stores list their keys. It seeks
  /// past the entities that have a common prefix, so each prefix costs about one block, however many entities
  /// have it. Restricted handles see only what scan() would return.
  /// Errors: kInvalidArgument (InvalidInput: page size, page time or selection over its limit; a text that is not
  /// UTF-8; a snapshot of another store; a continuation of anything but a listing of this partition).
  Result<RowListingPage> list_rows(const RowListing& listing) const;

  /// Returns a handle that may do less: only what both this handle and `access` allow. Restricting a restricted handle
  /// intersects the two; a restriction cannot be removed. Scans of such a handle silently return only entities inside
  /// the interval, whatever their range, filter or continuation. Other calls fail before anything is read or changed:
  ///   kForbidden (AuthorizationPermissionMismatch)   the call needs a permission that the handle lacks
  ///   kForbidden (AuthorizationFailure)              a key is outside the interval; get_many() and transactions fail
  ///                                                  as a whole if one key is outside
  ///
  /// In a transaction each operation is checked by itself, and the error has its index.
  /// Errors: kInvalidArgument (InvalidInput: a bound is not UTF-8). Source: S-24, S-25, S-26.
  Result<Table> restricted_to(const Access& access) const;

  /// Returns the table's policies, as Store::access_policies(). A restricted handle returns kForbidden
  /// (AuthorizationFailure).
  Result<std::vector<AccessPolicy>> access_policies() const;
  /// Returns how many entities the scan would return, without decoding them. It stops after the time of one page
  /// (Scan::page_time_max) and then returns a continuation. page_entities_max and page_bytes_max do not limit it.
  /// Errors: as scan().
  Result<Count> count(const Scan& scan) const;

  /// Adds the entities that the scan would return to the figures, without copying them, and returns their number. If all
  /// figures are smallest or largest values, and there are no groups, the scan passes blocks of entities that can change none
  /// of them, by the statistics of tables. Their entities are not in the number. It stops
  /// after the time of one page and then returns a continuation, as count() does. One call reads one state of the store.
  /// Several calls read one state if ReadOptions::snapshot is set. ReadOptions::select has no meaning. See aggregate.h.
  /// Errors: as scan();
  ///   kInvalidArgument (InvalidInput)  a sum or average meets a value that is no number; the smallest or largest value of
  ///                                    a group is sought among values that do not compare; a group, distinct count,
  ///                                    smallest or largest value meets a LargeValue; an earlier call with `into` failed
  ///   kTooLarge                        a limit of limits.h: kAggregateGroupsMax, kAggregateDistinctMax or
  ///                                    kAggregateBytesMax
  Result<Count> aggregate(const Scan& scan, Aggregation& into) const;

  /// Returns the keys that the scan would read, and the part of the filter that remains to be evaluated. Reads no
  /// entity. Page::cost has the cost of a page that was read. Errors: as scan(). Source: Q-31.
  Result<ScanPlan> explain(const Scan& scan) const;

 private:
  friend class AsyncTable;
  friend class ServiceTables;
  friend class Store;
  friend class StoreTransaction;
  struct State;
  Result<WhereProgress> change_where(const Where& where, const PropertyChanges* changes, const WhereOptions& options);
  explicit Table(std::shared_ptr<const State> state) noexcept;
  Result<Entity> patched(const WriteView& operation, const WriteOptions& options);
  std::shared_ptr<const State> state_;
};

}  // namespace varve
