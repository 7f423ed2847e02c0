// SPDX-License-Identifier: Apache-2.0
// Owns: a store as a whole: opening and closing it, its accounts and its tables.
// Must never: know an entity. table.h has the verbs for entities.
//
//   Result<std::unique_ptr<Store>> store = Store::open("/var/lib/orders", {.create_if_absent = true});
//   if (!store.ok()) return store.status();
//   if (Status made = (*store)->create_account("myaccount"); !made.ok()) return made;
//   Result<Table> orders = (*store)->create_table("myaccount", "Orders");
//   if (!orders.ok()) return orders.status();
//   Result<ETag> etag = orders->insert(Entity("eu", "0001").set("Customer", "Ann"));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access_policy.h"
#include "blob.h"
#include "options.h"
#include "queue.h"
#include "repair.h"
#include "result.h"
#include "service_properties.h"
#include "snapshot.h"
#include "statistics.h"
#include "status.h"
#include "store_transaction.h"
#include "table.h"
#include "table_expiry.h"
#include "table_index.h"
#include "table_options.h"
#include "types.h"
#include "verify.h"
#include "version.h"

namespace varve {

class Loader;
class StoreCore;

/// One account of a listing.
struct AccountInfo {
  /// Account name: 3 to 24 characters of `[a-z0-9]`.
  std::string name;
  /// The time of the commit that created the account, in UTC.
  DateTime created;
};

/// One table of a listing.
struct TableInfo {
  /// Spelt as it was when the table was created.
  std::string name;
  /// The time of the commit that created the table, in UTC.
  DateTime created;
  /// As TableOptions::has_large_values.
  bool has_large_values = false;
  /// The present rule by which entities end. Not set: those that are written now never end.
  std::optional<TableExpiry> expiry{};
};

/// Options of Store::list_accounts() and Store::list_tables().
struct ListOptions {
  /// Returns only names that begin with this prefix. Prefixes of table names ignore case (B-07).
  std::string prefix{};
  /// The token of the page before. Empty starts with the first name.
  std::string continuation{};
  /// Names in a page, 1 to limits::kPageEntitiesMax.
  std::uint32_t page_names_max = limits::kPageEntitiesMax;
  /// Lists the names that existed at this snapshot. If not set, lists those that exist now.
  std::optional<Snapshot> snapshot{};
  /// Whether to list the metrics tables of `varve serve` too, whose names begin with `$`. Only tables use it. A prefix
  /// that begins with `$` lists them in any case (D-06).
  bool include_metrics_tables = false;
};

/// One page of a listing of accounts.
struct AccountPage {
  /// In the order of their names.
  std::vector<AccountInfo> accounts;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

/// One page of a listing of the tables of one account.
struct TablePage {
  /// In the order of their names in lower case (B-06).
  std::vector<TableInfo> tables;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

/// One queue of a listing.
struct QueueInfo {
  /// Queue name.
  std::string name;
  /// The time of the commit that created the queue, in UTC.
  DateTime created;
  /// As Queue::metadata().
  std::vector<MetadataPair> metadata;
};

/// One page of a listing of the queues of one account.
struct QueuePage {
  /// In the order of their names (QB-07).
  std::vector<QueueInfo> queues;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

/// One page of a listing of the containers of one account.
struct ContainerPage {
  /// In the order of their names (BB-17).
  std::vector<ContainerState> containers;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

/// An open store. Only one handle at a time, in one process, may have a store open for writing.
///
/// Threads   Every thread may call every verb, except close() and the destructor. These come last, when no other call
///           on the store or on its tables is running. Tables and snapshots may outlive the store; their verbs then
///           return kClosed.
/// Errors    Every verb may return these codes besides its own: kClosed, kLocked, kCorruption, kIoError, kTooManyFiles,
///           kOutOfMemory. A verb that writes may also return kBusy, kNoSpace, kReadOnly, kPoisoned, kFenced or
///           kUnknown; table.h explains them. Nothing changed, except perhaps after kUnknown.
///
/// A store starts threads of its own. Debuggers and `ps -L` show their names:
///
///   name             number    work                                           from, to
///   varve-log        1         writes buffered commits to the log             open for writing, close
///   varve-segments   1         prepares log segments                          open for writing, close
///   varve-work       3 to 17   writes, merges and removes table files         open for writing, close
///   varve-ahead      1         reads ahead of long scans                      first long scan, close
///   varve-async      1         runs asynchronous operations (async.h)         first asynchronous operation, close
///   varve-unpack     1         decompresses blocks for varve-async            first asynchronous operation, close
///   varve-lead       1 to 33   write the log for asynchronous commits         first asynchronous operation, close
///   varve-call       1 to 64   run blocking calls of asynchronous operations  first asynchronous operation, close
///   varve-load       3         write the table files of one loader            load_table(), end of the load
///   varve-sort       0 or 1    sorts entries of a load or an index build      a full buffer, until it is written
///   varve-check      0 to 7    check or read files side by side               verify() or repair(), before it returns
///   varve-replay     0 to 3    fills the memtable from the log                open, before it returns
///   varve-read       0 to 8    reads, if the system refuses io_uring          first parallel read, close
///
/// The threads varve-work belong to all stores that share one Resources object. They run from the first open for writing
/// to the last close. Their number is one more than half of the processors, within the bounds above.
///
/// If the system has no thread to give, the optional ones are missing, and their work takes longer. A store that is
/// opened for reading only starts none of the first three. For io_uring, the kernel adds threads called `iou-wrk`.
///
/// Signals: a thread inherits the signal mask of the thread that starts it, and installs no handler. If a program
/// handles signals on one thread, it must block them on every thread that opens a store or begins an operation.
class VARVE_EXPORT Store {
 public:
  /// Opens the store in the directory `path`, or creates it. Reads no entity.
  /// Errors:
  ///   kNotFound           no store exists there, and options.create_if_absent is false
  ///   kInvalidArgument    `path` is not a directory, or holds other things; an option is out of range; or a stored
  ///                       option has another value
  ///   kLocked             another handle or process has the store open
  ///   kUnsupported        the store has a newer format, or a feature that this build does not know; the message names
  ///                       it
  ///   kCorruption         the message names the damaged file and the offset; nothing was changed
  ///   kNoSpace, kIoError, kReadOnly, kTooManyFiles, kOutOfMemory
  static Result<std::unique_ptr<Store>> open(std::string_view path, const StoreOptions& options = {});

  /// Closes the store if close() was not called. Nothing acknowledged is lost, but the errors of closing are.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Makes everything durable and leaves a store that opens without recovery. After an error the next open runs
  /// recovery; nothing acknowledged as durable is lost.
  ///
  /// In a fork of the process that opened the store, it only releases the inherited lock, and succeeds. Everything else
  /// is left to the parent.
  /// Errors: kIoError, kNoSpace, kPoisoned, kFenced, kInvalidArgument (called on the store's asynchronous thread,
  /// async.h).
  Status close();

  /// Makes every acknowledged write durable, buffered writes included.
  Status sync();

  /// Flushes all memtables to table files and compacts these, until no work is left that helps reads or saves space.
  /// Waits until all of it is done; reads and writes go on meanwhile. A program never needs to call it: the store does
  /// this work in the background.
  ///
  /// Errors: those of a write, and the error of the first compaction that failed. compact() returns it after all other
  /// compactions are done. If compaction leaves a damaged file alone, every call returns kCorruption as long as that
  /// file exists.
  Status compact();

  /// Creates a second store in the directory `path`, which must be absent or empty. It holds everything written so far.
  /// Use it as a backup, for reads, or for writes of its own.
  ///
  /// The two stores share files, which neither of them changes. If the file system does not support links, the files
  /// are copied. Later writes to one store do not affect the other one.
  ///
  /// Reads and writes go on meanwhile. A write waits at most until a log segment is closed. Dropped tables give their
  /// disk space back only after the checkpoint is done. When checkpoint() returns, the new store is durable.
  ///
  /// After an error or a crash, `path` does not open as a store. One exception: after an I/O error or a crash in the
  /// last step, it may open, and is then complete.
  /// Errors:
  ///   kExists             the directory is not empty; nothing changed
  ///   kInvalidArgument    `path` is not a directory
  ///   kNotFound           the parent directory does not exist
  ///   kReadOnly           this store was opened for reading only
  Result<CheckpointStatistics> checkpoint(std::string_view path);

  /// Keeps the newest state readable. Errors: kClosed, kOutOfMemory.
  Result<Snapshot> snapshot() const;

  /// Returns the store's figures, also after close().
  Result<Statistics> statistics() const;
  /// Returns the limits that the store was created with.
  const StoreLimits& limits() const noexcept;

  /// Begins a transaction over any partitions and tables, which reads the newest state. Errors: kClosed, kOutOfMemory.
  Result<StoreTransaction> begin_transaction() const;
  /// Runs `body` in a transaction and commits the transaction. If another writer changed what it read, transact()
  /// begins again with a new transaction and calls `body` again. It makes at most `attempts_max` attempts.
  ///
  /// `body` runs without any lock, may run several times, and must change nothing except the transaction. If `body`
  /// returns an error, transact() returns that error and writes nothing.
  /// Errors: those of `body` and of StoreTransaction::commit(); kConflict after the last attempt.
  Result<std::vector<ETag>> transact(const std::function<Status(StoreTransaction&)>& body,
                                     const WriteOptions& options = {}, int attempts_max = 16) const;

  /// Returns the tag of the last commit that had one, whether that commit was recovered at the open or made since.
  Result<std::optional<std::string>> last_tag() const;

  // -- Accounts ---------------------------------------------------------------------------------------------------

  /// Creates an account, with the store's default durability.
  /// Errors: kInvalidArgument (InvalidResourceName: the name is not 3 to 24 lower-case letters and digits), kExists
  /// (ResourceAlreadyExists). Source: D-03.
  Status create_account(std::string_view account);
  /// Drops the account with all its tables, in one commit. Its cost does not depend on the entities: it is one small
  /// deletion for each table. The drop is on stable storage when this returns.
  /// Errors: kNotFound (ResourceNotFound), kTooLarge (too many tables for one commit: drop tables first).
  Status drop_account(std::string_view account);
  /// Returns one page of account names. Errors: kInvalidArgument (InvalidInput: page size, prefix, token, or a snapshot
  /// of another store).
  Result<AccountPage> list_accounts(const ListOptions& options = {}) const;

  // -- Tables -----------------------------------------------------------------------------------------------------

  /// Creates an empty table, with the store's default durability. Table names are compared without regard to case; the
  /// table keeps the spelling.
  /// Errors:
  ///   kExists (TableAlreadyExists)               the table exists
  ///   kNotFound (ResourceNotFound)               the account does not exist
  ///   kInvalidArgument (OutOfRangeInput)         the name has less than 3 or more than 63 characters
  ///   kInvalidArgument (InvalidResourceName)     the name has characters other than letters and digits, or begins with
  ///                                              a digit
  ///   kInvalidArgument (InvalidInput)            the name is `tables`, which is reserved; an expiry that
  ///                                              check_table_expiry() refuses, or one of a table with large values
  ///   kForbidden (AuthorizationFailure)          the name is that of a metrics table, which only the server creates
  ///   kBusy (TableBeingDeleted)                  the table was dropped, and StoreOptions::recreation_delay has not
  ///                                              passed
  /// Source: D-04, D-05, D-06, B-01, B-02, AM-05, BX-01.
  Result<Table> create_table(std::string_view account, std::string_view table, const TableOptions& options = {});
  /// Begins to load a new or empty table, without writing its entities to the log. See loader.h.
  /// Errors: kExists (TableAlreadyExists: the table has entities), kInvalidArgument (InvalidInput: the table exists and
  /// may have large values); otherwise as create_table().
  Result<Loader> load_table(std::string_view account, std::string_view table);
  /// Returns a handle of an existing table. The handle of a metrics table can only read and remove entities (AM-05).
  /// Errors: kNotFound (TableNotFound; or ResourceNotFound: the account does not
  /// exist).
  Result<Table> open_table(std::string_view account, std::string_view table) const;
  /// Drops a table with all its entities, in one commit. Its cost does not depend on the size of the table; the contents
  /// of a table with large values, and its entities, are then removed in the background (BX-32). On a full device this
  /// removal waits until there is other room, so such a drop frees none, unlike that of another table. The drop is on stable
  /// storage when this returns. Snapshots taken before still read the table. The name may be used again at
  /// once, or after StoreOptions::recreation_delay.
  /// Errors: kNotFound (ResourceNotFound), also for a name that no table can have; kBusy (TableBeingDeleted: the table
  /// was dropped, and the delay has not passed); kForbidden (AuthorizationFailure: a metrics table). Source: B-03, B-04,
  /// B-05, X-11, AM-05.
  Status drop_table(std::string_view account, std::string_view table);
  /// Returns one page of table names. Errors: kNotFound (ResourceNotFound: the account does not exist),
  /// kInvalidArgument (InvalidInput: page size, prefix, token, or a snapshot of another store). Source: B-06.
  Result<TablePage> list_tables(std::string_view account, const ListOptions& options = {}) const;

  // -- Queues -----------------------------------------------------------------------------------------------------

  /// Creates an empty queue, with the store's default durability. See queue.h.
  /// Errors:
  ///   kExists (QueueAlreadyExists)               the queue exists
  ///   kNotFound (ResourceNotFound)               the account does not exist
  ///   kInvalidArgument, kTooLarge                the name or the metadata, as check_queue_name() and check_metadata();
  ///                                              InvalidInput: another option
  ///   kBusy (QueueBeingDeleted)                  the queue was deleted, and StoreOptions::recreation_delay has not
  ///                                              passed
  /// Source: QN-01, QN-02, QB-01, QB-03.
  Result<Queue> create_queue(std::string_view account, std::string_view queue, const QueueOptions& options = {});
  /// Returns a handle of an existing queue. Errors: kNotFound (QueueNotFound; or ResourceNotFound: the account does not
  /// exist), kBusy (QueueBeingDeleted).
  Result<Queue> open_queue(std::string_view account, std::string_view queue) const;
  /// Deletes a queue with all its messages, in one small commit. It is on stable storage when this returns. The name is
  /// free at once, or after StoreOptions::recreation_delay. Errors: kNotFound (QueueNotFound), also for a name that no
  /// queue can have; kBusy (QueueBeingDeleted). Source: QB-02, QB-03.
  Status drop_queue(std::string_view account, std::string_view queue);
  /// Returns one page of queues. Errors: kNotFound (ResourceNotFound: the account does not exist), kInvalidArgument
  /// (InvalidInput: page size, prefix, token, or a snapshot of another store). Source: QB-07.
  Result<QueuePage> list_queues(std::string_view account, const ListOptions& options = {}) const;

  // -- Containers -------------------------------------------------------------------------------------------------
  /// Creates a container, and returns a handle of it. Errors: kExists (ContainerAlreadyExists), kNotFound
  /// (ResourceNotFound: the account does not exist), kNoSpace (the account has no number left). Names and metadata have
  /// the errors of check_container_name() and check_metadata(). A name that was deleted is kBusy (ContainerBeingDeleted)
  /// until StoreOptions::recreation_delay has passed. Source: BB-10.
  Result<Container> create_container(std::string_view account, std::string_view container,
                                     const ContainerOptions& options = {});
  /// Returns a handle of an existing container. Errors: kNotFound (ContainerNotFound; or ResourceNotFound: the account
  /// does not exist), kBusy (ContainerBeingDeleted).
  Result<Container> open_container(std::string_view account, std::string_view container) const;
  /// Deletes a container with all its blobs, in one small commit. Their space comes back in the background. Of the
  /// conditions, the dates and the lease count. Errors: kNotFound (ContainerNotFound), also for a name that no container
  /// can have; kBusy (ContainerBeingDeleted); kPreconditionFailed (ConditionNotMet, LeaseIdMissing and others of BE-03).
  /// Source: BB-11, BX-32.
  Status drop_container(std::string_view account, std::string_view container, const BlobConditions& conditions = {});
  /// Returns a page of the account's containers. Errors: as list_queues(). Source: BB-17.
  Result<ContainerPage> list_containers(std::string_view account, const ListOptions& options = {}) const;

  // -- Large values -----------------------------------------------------------------------------------------------
  /// Opens the content that entities of the account own under this number, LargeValue::id(). Needs no entity, so it suits
  /// a program that serves contents by their numbers; Table::open_large_value() checks a handle's rights. Errors: kNotFound
  /// (LargeValueNotFound: no entity owns such a content; ResourceNotFound: the account does not exist). After a drop of
  /// the table, the content can be opened until the background has removed its entity. Source: BX-01.
  Result<LargeValueReader> open_large_value(std::string_view account, std::uint64_t id) const;

  // -- Expiry -----------------------------------------------------------------------------------------------------

  /// Sets the rule by which the entities of the table end; without a rule, they never end. It concerns the writes that
  /// begin after this returns. Entities that are stored keep their ends until they are written again. The rule is part of
  /// the table's catalog row and is deleted with the table. It is on stable storage when this returns. Builds of Varve that
  /// know no expiry refuse the store from the first rule on, also after the rule is removed.
  /// Errors:
  ///   kNotFound (TableNotFound; or ResourceNotFound: the account does not exist)
  ///   kInvalidArgument, kTooLarge, as check_table_expiry()
  ///   kInvalidArgument (InvalidInput: a table with large values)
  ///   kForbidden (AuthorizationFailure: a metrics table)
  Status set_table_expiry(std::string_view account, std::string_view table, const std::optional<TableExpiry>& expiry);
  /// Returns the present rule, or nothing. Errors: kNotFound, as set_table_expiry().
  Result<std::optional<TableExpiry>> table_expiry(std::string_view account, std::string_view table) const;

  // -- Indexes ----------------------------------------------------------------------------------------------------

  /// Declares an index of the table, and builds it on the caller's thread, beside writers. Returns when the index is ready.
  /// `progress` is called between the parts of the build, under no lock; if it returns false, the build stops. An index
  /// whose build was stopped, or ended with its process, stays declared: writers maintain it, and another call with an equal
  /// definition builds it from the beginning. For an index that is ready, such a call does nothing. The declaration and
  /// the end of the build are on stable storage when this returns.
  /// Errors:
  ///   kNotFound (TableNotFound; or ResourceNotFound: the account does not exist, or the index was dropped meanwhile)
  ///   kExists (ResourceAlreadyExists: the table has an index of this name with another definition)
  ///   kInvalidArgument (InvalidInput: the definition is not allowed, or the table has 16 indexes; PropertyNameInvalid),
  ///   kTooLarge (PropertyNameTooLong)
  ///   kConflict (the build failed, now or before; its reason is in the message. IndexValueAlreadyExists: two entities have
  ///     one value of a unique index; the message and Status::taken_value() name them)
  ///   kCancelled (`progress` returned false)
  ///   kForbidden (AuthorizationFailure: a metrics table)
  Status create_index(std::string_view account, std::string_view table, const IndexDefinition& definition,
                      const std::function<bool(const IndexBuildProgress&)>& progress = {});
  /// Goes on with the build of an index that was declared, as create_index() with its definition. Declares nothing.
  /// Errors: those of create_index(); kNotFound (ResourceNotFound: the table has no such index).
  Status build_index(std::string_view account, std::string_view table, std::string_view index,
                     const std::function<bool(const IndexBuildProgress&)>& progress = {});
  /// Drops an index. Its entries are gone at once, and compaction gives their space back. Errors: kNotFound (TableNotFound;
  /// ResourceNotFound: the table has no such index, or the account does not exist).
  Status drop_index(std::string_view account, std::string_view table, std::string_view index);
  /// Returns the indexes of the table, and how far they are. Errors: kNotFound (TableNotFound; ResourceNotFound: the account
  /// does not exist).
  Result<std::vector<IndexInfo>> indexes(std::string_view account, std::string_view table) const;

  // -- Access policies --------------------------------------------------------------------------------------------

  /// Replaces all access policies of the table; an empty list removes them. The policies are part of the table's
  /// catalog row and are deleted with the table. They are on stable storage when this returns. A signature that names a
  /// policy follows the change at once (S-27).
  /// Errors:
  ///   kNotFound (TableNotFound; or ResourceNotFound: the account does not exist)
  ///   kInvalidArgument (InvalidXmlDocument, InvalidXmlNodeValue), as check_access_policies()
  ///   kForbidden (AuthorizationFailure: a metrics table)
  /// Source: S-40, S-41, S-42.
  Status set_access_policies(std::string_view account, std::string_view table, std::span<const AccessPolicy> policies);
  /// Returns the policies in the order in which they were set. Errors: kNotFound, as set_access_policies().
  Result<std::vector<AccessPolicy>> access_policies(std::string_view account, std::string_view table) const;

  // -- Service properties -----------------------------------------------------------------------------------------

  /// Replaces the properties of the account's service that `change` sets. Other services of the account keep theirs.
  /// The properties are deleted with the account. They are on stable storage when this returns.
  /// Errors:
  ///   kNotFound (ResourceNotFound: the account does not exist)
  ///   kInvalidArgument (InvalidXmlDocument, InvalidXmlNodeValue), as check_service_properties()
  /// Source: P-01, P-03, QP-01.
  Status set_service_properties(std::string_view account, const ServicePropertiesChange& change,
                                StorageService service = StorageService::kTables);
  /// Returns all properties of the account's service. Errors: kNotFound, as set_service_properties().
  Result<ServiceProperties> service_properties(std::string_view account,
                                               StorageService service = StorageService::kTables) const;

  // -- Verification -----------------------------------------------------------------------------------------------

  /// Reads and checks everything in the store at `path`, and changes nothing. No process may have the store open for
  /// writing (kLocked). Calls `progress`, unless it is empty, from time to time on the calling thread. Uses only `env`
  /// of the options.
  ///
  /// Errors: those of open(), if damage prevents reading the store at all; kCorruption names the file and the offset.
  /// All other damage is in the report.
  static Result<VerifyReport> verify(std::string_view path, const StoreOptions& options = {},
                                     const std::function<void(const VerifyReport&)>& progress = {});

  // -- Repair -----------------------------------------------------------------------------------------------------

  /// Creates a new store in the directory `target`, which must be absent or empty. The new store holds everything in
  /// the damaged store at `path` that can be read and still verifies. The damaged store is only read and stays
  /// unchanged, byte by byte. It must not be open for writing.
  ///
  /// Every saved entity keeps its version, and so its Timestamp and ETag. The repair guesses nothing: it saves an
  /// entity only as it was committed. The report names the parts that could not be read, and how many entities may be
  /// out of date because of them. A repair of an undamaged store makes an equal store. Indexes are built from the saved
  /// entities.
  ///
  /// A repair needs the time and disk space of writing all data once. It needs memory for the log, plus about one MiB
  /// for each file that it merges. Calls `progress`, unless it is empty, from time to time on the calling thread. Uses
  /// only `env` and `resources` of the options. It uses no open store, so any thread may call it.
  /// Errors:
  ///   kNotFound           no store, and no file of a store, exists at `path`; or the parent directory of `target` does
  ///                       not exist
  ///   kLocked             the store is open for writing
  ///   kUnsupported        the store has a newer format, or a feature that this build does not know; the message names
  ///                       it
  ///   kExists             `target` is not empty; nothing changed
  ///   kInvalidArgument    `target` is not a directory, or is inside the damaged store
  ///   kIoError            nothing of the store can be read, or `target` cannot be written
  ///   kNoSpace, kTooManyFiles, kOutOfMemory
  ///   After an error, `target` does not open as a store. After an I/O error in the last step it may, and is complete.
  static Result<RepairReport> repair(std::string_view path, std::string_view target, const StoreOptions& options = {},
                                     const std::function<void(const RepairReport&)>& progress = {});

 private:
  friend class AsyncStore;
  friend class ServiceTables;
  explicit Store(std::shared_ptr<StoreCore> core) noexcept;
  /// Does open_table() if that needs no read of the catalog, else returns nothing. Any thread. Errors: those known
  /// without a read.
  Result<std::optional<Table>> open_known_table(std::string_view account, std::string_view table) const;
  std::shared_ptr<StoreCore> core_;
};

}  // namespace varve
