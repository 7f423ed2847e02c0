// SPDX-License-Identifier: Apache-2.0
// Owns: a store as a whole: its opening and end, its accounts and tables.
// Must never: know an entity; table.h has the verbs for those.
//
//   Result<std::unique_ptr<Store>> store = Store::open("/var/lib/orders", {.create_if_missing = true});
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
#include "options.h"
#include "repair.h"
#include "result.h"
#include "service_properties.h"
#include "snapshot.h"
#include "statistics.h"
#include "status.h"
#include "store_transaction.h"
#include "table.h"
#include "types.h"
#include "verify.h"

#pragma GCC visibility push(default)

namespace varve {

class Loader;
class StoreCore;

struct AccountInfo {
  std::string name;
  DateTime created;
};

struct TableInfo {
  /// As it was spelt when the table was made.
  std::string name;
  DateTime created;
};

/// What a listing asks for.
struct ListOptions {
  /// Only names that begin with it; of tables in any case of letters (B-07).
  std::string prefix{};
  /// The token of the page before; empty begins at the beginning.
  std::string continuation{};
  /// 1 to limits::kPageSizeMax.
  std::uint32_t page_size_max = limits::kPageSizeMax;
  /// Lists what was there at this version; without it, at the newest.
  std::optional<Snapshot> snapshot{};
};

struct AccountPage {
  /// In the order of names.
  std::vector<AccountInfo> accounts;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

struct TablePage {
  /// In the order of names in lower case (B-06).
  std::vector<TableInfo> tables;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

/// An open store. One handle at a time, in one process, has it open for writing.
///
/// Threads   every verb may be called from any thread, but close() and the destructor come last: no other call on the
///           store or on its tables may be under way. Tables and snapshots may live on; they answer kClosed then.
/// Errors    that any verb may give besides its own: kClosed, kCorruption, kIoError, kOutOfMemory; and any that writes:
///           kBusy, kNoSpace, kReadOnly, kPoisoned, kUnknown, kLocked, as table.h has them. Nothing changed, save for
///           kUnknown.
class Store {
 public:
  /// Opens, or makes, the store in the directory `path`. Reads no entity.
  /// Errors   kNotFound           no store there, and options.create_if_missing is not set
  ///          kInvalidArgument    the directory holds other things; or stored options asked for differ
  ///          kLocked             another handle or process has it
  ///          kUnsupported        a newer format or an unknown feature, named
  ///          kCorruption         what is damaged is named, with file and offset; nothing was changed
  ///          kNoSpace, kIoError, kReadOnly, kTooManyFiles, kOutOfMemory
  static Result<std::unique_ptr<Store>> open(std::string_view path, const StoreOptions& options = {});

  /// Closes without losing anything if close() was not called; its errors are then lost.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Makes everything durable and leaves a store that opens without recovery. After an error the next open recovers;
  /// nothing acknowledged as durable is lost. In a fork of the process that opened the store it lets go of the
  /// inherited lock, leaves the rest to the parent, and succeeds. Errors: kIoError, kNoSpace, kPoisoned, kFenced.
  Status close();

  /// Makes every write acknowledged so far durable, buffered ones too.
  Status sync();

  /// Brings everything written so far to table files and merges these until nothing is left to do that helps readers or
  /// space. Never needed: it happens by itself. Waits for all of it, beside reads and writes. Errors: any of writing,
  /// and that of the first merge that failed, when all others are done. A damaged file that merges leave alone is
  /// told by each call, as kCorruption, as long as it is there.
  Status compact();

  /// Makes a store of its own of everything written so far, in the directory `path`, which is absent or empty: a state
  /// to keep, to read beside this store, or to write to. It shares files with this one, which neither ever changes, and
  /// copies them where the file system gives no links; after that the two go their own ways. Beside reads and writes,
  /// which wait for none of it but the end of a log segment; drops give back their space when it is done. Durable when
  /// it returns. After an error or a crash `path` does not open as a store (after an I/O error or a crash at its last
  /// step it may, whole). Not of a store opened for reading only.
  /// Errors   kExists             the directory holds something; nothing changed
  ///          kInvalidArgument    `path` is no directory
  ///          kNotFound           the directory above `path` is absent
  Result<CheckpointStatistics> checkpoint(std::string_view path);

  /// Keeps the newest state readable. Errors: kClosed, kOutOfMemory.
  Result<Snapshot> snapshot() const;

  /// Also of a closed store.
  Result<Statistics> statistics() const;
  /// Those that the store was made with.
  const StoreLimits& limits() const noexcept;

  /// Begins a transaction over any partitions and tables, at the newest state. Errors: kClosed, kOutOfMemory.
  Result<StoreTransaction> begin_transaction() const;
  /// Runs `body` in a transaction and commits it; begins again, `body` included, when what it read was written
  /// meanwhile, at most `attempts_max` times in all. `body` runs under no lock, may run several times, and must not
  /// change anything besides the transaction. An error that it returns ends all, and nothing was written.
  /// Errors: those of `body` and of StoreTransaction::commit(); kConflict after the last attempt.
  Result<std::vector<ETag>> transact(const std::function<Status(StoreTransaction&)>& body,
                                     const WriteOptions& options = {}, int attempts_max = 16) const;

  /// The tag of the last commit that carried one, as recovered at the open or committed since.
  Result<std::optional<std::string>> last_tag() const;

  // -- Accounts ---------------------------------------------------------------------------------------------------

  /// Errors: kInvalidArgument (InvalidResourceName: the name is not of 3 to 24 lower-case letters and digits),
  /// kExists (ResourceAlreadyExists). Source: D-03.
  Status create_account(std::string_view account);
  /// Removes the account with all its tables in one commit that costs the same whatever they hold, save for one small
  /// deletion for each table. On stable storage when it returns.
  /// Errors: kNotFound (ResourceNotFound). kTooLarge: too many tables for one commit; drop tables first.
  Status drop_account(std::string_view account);
  /// Errors: kInvalidArgument (InvalidInput: page size, token, or a snapshot of another store).
  Result<AccountPage> list_accounts(const ListOptions& options = {}) const;

  // -- Tables -----------------------------------------------------------------------------------------------------

  /// Makes an empty table. Names are compared without regard to the case of letters; the spelling is kept. As durable
  /// as the store's default has it; accounts likewise. Errors   kExists (TableAlreadyExists)
  ///          kNotFound (ResourceNotFound)               no such account
  ///          kInvalidArgument (OutOfRangeInput)         a name of less than 3 or more than 63 characters
  ///          kInvalidArgument (InvalidResourceName)     other characters than letters and digits, or a digit first
  ///          kInvalidArgument (InvalidInput)            the reserved name `tables`
  ///          kBusy (TableBeingDeleted)                  StoreOptions::recreation_delay runs
  /// Source   D-04, D-05, D-06, B-01, B-02.
  Result<Table> create_table(std::string_view account, std::string_view table);
  /// Begins to fill a table, one that is not there or is empty, beside the log. See loader.h.
  /// Errors: kExists (TableAlreadyExists: it holds entities); otherwise as create_table().
  Result<Loader> load_table(std::string_view account, std::string_view table);
  /// A handle of a table that is there. Errors: kNotFound (TableNotFound; ResourceNotFound: no such account).
  Result<Table> open_table(std::string_view account, std::string_view table) const;
  /// Removes a table with all its entities, in one commit that costs the same whatever it holds. On stable storage when
  /// it returns; snapshots taken before go on reading the table. The name may be used again at once,
  /// or after StoreOptions::recreation_delay.
  /// Errors: kNotFound (ResourceNotFound), also for a name that no table can have; kBusy (TableBeingDeleted: it was
  /// dropped, and the delay runs). Source: B-03, B-04, B-05, X-11.
  Status drop_table(std::string_view account, std::string_view table);
  /// Errors: kNotFound (ResourceNotFound: no such account), kInvalidArgument (InvalidInput: page size, token, or a
  /// snapshot of another store). Source: B-06.
  Result<TablePage> list_tables(std::string_view account, const ListOptions& options = {}) const;

  // -- Access policies --------------------------------------------------------------------------------------------

  /// Gives the table exactly these policies; none removes all. They stand in the table's catalog row: they survive as
  /// the table does, vanish with it, and are on stable storage when this returns. What signatures say of them ends at
  /// once (S-27).
  /// Errors   kNotFound (TableNotFound; ResourceNotFound: no such account)
  ///          kInvalidArgument (InvalidXmlDocument, InvalidXmlNodeValue)    as check_access_policies()
  /// Source   S-40, S-41, S-42.
  Status set_access_policies(std::string_view account, std::string_view table, std::span<const AccessPolicy> policies);
  /// In the order in which they were given. Errors: kNotFound, as above.
  Result<std::vector<AccessPolicy>> access_policies(std::string_view account, std::string_view table) const;

  // -- Service properties -----------------------------------------------------------------------------------------

  /// Replaces what `change` holds of the account's properties. They stand in the account's catalog row: they survive as
  /// the account does, vanish with it, and are on stable storage when this returns.
  /// Errors   kNotFound (ResourceNotFound: no such account)
  ///          kInvalidArgument (InvalidXmlDocument, InvalidXmlNodeValue)    as check_service_properties()
  /// Source   P-01, P-03.
  Status set_service_properties(std::string_view account, const ServicePropertiesChange& change);
  /// Errors: kNotFound, as above.
  Result<ServiceProperties> service_properties(std::string_view account) const;

  // -- Verification -----------------------------------------------------------------------------------------------

  /// Reads everything in the store at `path`, which nobody has open for writing, and judges it; changes nothing.
  /// `progress` is called now and then, on the calling thread; it may be empty. Of `options` the machine is used.
  /// Errors: those of open(), where the store is damaged so that it cannot be read at all (kCorruption names file and
  /// offset). Damage found behind that is in the report.
  static Result<VerifyReport> verify(std::string_view path, const StoreOptions& options = {},
                                     const std::function<void(const VerifyReport&)>& progress = {});

  // -- Repair -----------------------------------------------------------------------------------------------------

  /// Makes, in the directory `target`, which is absent or empty, a new store of everything in the damaged one at `path`
  /// that still verifies and can be read; the damaged one is only read, and stays as it is, to the byte. Every entity
  /// has its version and so its Timestamp and ETag. Nothing is guessed: what is saved was committed as it is saved, and
  /// what could not be read is named in the report, with the entities that may be older than they were because of it. A
  /// sound store gives an equal one. Not while the store is open for writing. It takes the time and space of writing
  /// everything once; memory is that of the log and of about a MiB for each file that is merged. `progress` is called
  /// now and then, on the calling thread; it may be empty. Of `options` the machine is used.
  /// Threads  any; it touches no open store.
  /// Errors   kNotFound           no store at `path`, nor files of one; or the directory above `target` is absent
  ///          kLocked             the store is open for writing
  ///          kUnsupported        a newer format or an unknown feature, named
  ///          kExists             `target` holds something; nothing changed
  ///          kInvalidArgument    `target` is no directory, or lies inside the damaged store
  ///          kIoError            nothing of the store can be read, or `target` cannot be written
  ///          kNoSpace, kTooManyFiles, kOutOfMemory; `target` does not open as a store then (after an I/O
  ///          error at the last step it may, whole)
  static Result<RepairReport> repair(std::string_view path, std::string_view target, const StoreOptions& options = {},
                                     const std::function<void(const RepairReport&)>& progress = {});

 private:
  friend class AsyncStore;
  explicit Store(std::shared_ptr<StoreCore> core) noexcept;
  /// As open_table() where that reads nothing, on any thread; else nothing. Errors: those known without a read.
  Result<std::optional<Table>> open_known_table(std::string_view account, std::string_view table) const;
  std::shared_ptr<StoreCore> core_;
};

}  // namespace varve

#pragma GCC visibility pop
