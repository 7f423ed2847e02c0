// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs on the entities of one table.
// Must never: hold anything open: a Table is a name and the store it belongs to.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "access.h"
#include "access_policy.h"
#include "entity_view.h"
#include "options.h"
#include "query.h"
#include "result.h"
#include "scan_plan.h"
#include "status.h"
#include "transaction.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// A handle that follows a name: when the table is dropped its verbs answer TableNotFound, and when a table of that
/// name is made again, in any spelling, they mean the new one, which is empty; nothing written for the old one can
/// appear in it (B-04). Cheap to copy. It may outlive the Store object; its verbs answer kClosed then.
///
/// Threads   any; a verb on one Table may run beside every other verb on it. Only writers of the same partition wait
///           for each other.
/// After     a write that succeeded is durable as its Durability says, visible to every read that starts later, and its
///           ETag is above every ETag given before in the store.
/// Reads     see everything acknowledged before they started and, save for buffered writes, nothing that is not
/// durable.
///
/// Errors that any verb may give, besides its own; in each case nothing changed:
///   kNotFound (TableNotFound)             the table is not there
///   kInvalidArgument (InvalidInput)       a text is not UTF-8; the tag is too long
///   kClosed                               the store was closed
///   kForbidden                            of a handle from restricted_to(), which see
///   kCorruption, kIoError                 the file or the place is named
///   kOutOfMemory
/// and any write, besides:
///   kBusy         other writers held the partition for all of WriteOptions::wait_max; nothing changed
///   kNoSpace      no room on the device or in the write buffer; the message has the cause; nothing changed
///   kReadOnly     the store was opened for reading only
///   kPoisoned     an earlier log failure stopped the store; nothing changed, reopen it
///   kFenced       another owner or program took the store's directory or files away; nothing changed
///   kUnknown      the log failed under this commit or one before it: reopen the store and read to learn whether it
///                 happened; never repeat it blindly
///   kLocked       this process is a fork of the one that opened the store (reads answer it too); nothing changed
/// and any write of an entity, what the entity breaks (limits.h has the limits), nothing changed:
///   kTooLarge         (PropertyValueTooLarge, PropertyNameTooLong, TooManyProperties, EntityTooLarge)
///   kInvalidArgument  (OutOfRangeInput: a forbidden character in a key, a DateTime out of range; InvalidInput: `/` or
///                     `\` in a key, save for insert, where it is OutOfRangeInput; PropertyNameInvalid;
///                     DuplicatePropertiesSpecified; DuplicateKeyPropertySpecified: a property called PartitionKey or
///                     RowKey)
/// What the handle may not do is refused before all else (O-07). Then faults of the input are judged, in this order of
/// verbs' stages: keys and properties; the table; the entity's existence; its ETag; the resulting size (O-07).
class Table {
 public:
  std::string_view account() const noexcept;
  /// As it was spelt when this handle was made.
  std::string_view name() const noexcept;

  /// Adds an entity whose key is not there yet. Its etag() is ignored.
  /// Errors: kExists (EntityAlreadyExists). Source: O-10.
  Result<ETag> insert(const Entity& entity, const WriteOptions& options = {});

  /// Gives an entity exactly these properties. `if_match` is the ETag that the stored entity must have, or ETag::any().
  /// Errors   kNotFound (ResourceNotFound)                         no such entity
  ///          kPreconditionFailed (UpdateConditionNotSatisfied)    its ETag is another one
  ///          kInvalidArgument (InvalidInput)                      `if_match` is none
  /// Source   O-02, O-11.
  Result<ETag> replace(const Entity& entity, ETag if_match, const WriteOptions& options = {});

  /// Sets these properties of an entity, whatever their types were, and keeps its others. Without properties it still
  /// gives a new ETag. The limits hold for the result. Errors as replace(). Source: O-12.
  Result<ETag> merge(const Entity& entity, ETag if_match, const WriteOptions& options = {});

  /// replace() if the entity is there, whatever its ETag, else insert(). Source: O-13.
  Result<ETag> insert_or_replace(const Entity& entity, const WriteOptions& options = {});

  /// merge() if the entity is there, whatever its ETag, else insert(). Source: O-13.
  Result<ETag> insert_or_merge(const Entity& entity, const WriteOptions& options = {});

  /// Deletes an entity. Errors as replace(); a key that is too long to exist is kNotFound too. Source: O-14, D-12.
  Status remove(std::string_view partition_key, std::string_view row_key, ETag if_match,
                const WriteOptions& options = {});

  /// All operations or none, in one commit. Returns an ETag for each operation, none for kRemove; all of one
  /// transaction are equal.
  ///
  /// An error names the operation it blames in operation_index(). The transaction as a whole is judged first:
  ///   kInvalidArgument (InvalidInput)                                more than 100 operations, index 99 (T-08); none,
  ///                                                                  without an index (T-12)
  ///   kInvalidArgument (CommandsInBatchActOnDifferentPartitions)     the first that deviates (T-06)
  ///   kInvalidArgument (InvalidDuplicateRow)                         the second of the same entity (T-07)
  ///   kTooLarge (RequestBodyTooLarge)                                the one that passes the limit (T-09)
  /// then what each operation brings, in their order; then the table (index 0, T-10); then, in their order, existence,
  /// ETag and resulting size of each.
  Result<std::vector<ETag>> execute(const EntityGroupTransaction& transaction, const WriteOptions& options = {});

  /// The entity, or nothing if it is not there; a key too long to exist is not there (D-12).
  /// Errors: kInvalidArgument (OutOfRangeInput, InvalidInput: a forbidden character in a key, as above; InvalidInput:
  /// too many names selected, or a snapshot of another store). Source: O-15.
  Result<std::optional<Entity>> get(std::string_view partition_key, std::string_view row_key,
                                    const ReadOptions& options = {}) const;

  /// get() of many keys, all at one state of the store; the entities stand in the order of the keys. What has to be
  /// read from the disk is read side by side, so that it takes far less time than one get() after the other. Errors: as
  /// get(), of the first key that fails; then nothing is returned.
  Result<std::vector<std::optional<Entity>>> get_many(std::span<const EntityKey> keys,
                                                      const ReadOptions& options = {}) const;

  /// One page of a range. Errors: kInvalidArgument (InvalidInput: page size, time or selection over their limits, a
  /// continuation that is no token or of the other direction, a snapshot of another store, a filter that does not
  /// parse: the message names the character), kUnsupported (NotImplemented: a filter with functions or arithmetic, or
  /// that compares two properties). Source.
  Result<Page> scan(const Scan& scan) const;
  /// As scan(), but the page's entities are not kept in it: `reader` is given each where it lies, on this thread,
  /// before the call returns, which takes half the time where nobody needs a copy. What it was given counts only if
  /// the scan succeeds. It may read from the store. No lock is held while it runs, but what the page reads stays in
  /// memory and on disk until the call returns. Errors: as scan().
  Result<Page> scan_in_place(const Scan& scan, const EntityReader& reader) const;

  /// A handle that can do less: what this one can and `access` allows. Restricting a restricted handle intersects;
  /// there is no way back. Of its verbs, scans silently return what is inside of the interval alone, whatever range,
  /// filter or continuation they are given, and
  ///   kForbidden (AuthorizationPermissionMismatch)    refuses what needs a permission that is not there
  ///   kForbidden (AuthorizationFailure)               refuses keys outside, of reads and of writes; get_many() and
  ///                                                   transactions as a whole if one is outside
  /// before anything is read or changed. In a transaction each operation is judged by itself, and its index is told.
  /// Errors: kInvalidArgument (InvalidInput: a bound is not UTF-8). Source: S-24, S-25, S-26.
  Result<Table> restricted_to(const Access& access) const;

  /// As Store::access_policies(). A restricted handle does not tell them: kForbidden (AuthorizationFailure).
  Result<std::vector<AccessPolicy>> access_policies() const;
  /// How many entities the scan would return, counted without decoding them, in the time of one page
  /// (Scan::time_max); page_size_max and page_bytes_max do not end it. Errors: as scan().
  Result<Count> count(const Scan& scan) const;

  /// Which keys the scan would read, and what would be left to judge; reads none of them. What a page cost stands in
  /// the page. Errors: as scan(). Source: Q-31.
  Result<ScanPlan> explain(const Scan& scan) const;

 private:
  friend class AsyncTable;
  friend class Store;
  friend class StoreTransaction;
  struct State;
  explicit Table(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

}  // namespace varve

#pragma GCC visibility pop
