// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of a store and its tables as tasks: hundreds at once, without a thread for each.
// Must never: mean anything else than the verb of the same name that waits; table.h and store.h say what each does.
//
//   AsyncTable orders(table);
//   start(orders.get("eu", "0001"), [](Result<std::optional<Entity>> entity) { ... });      // a callback
//   Result<std::optional<Entity>> entity = co_await orders.get("eu", "0001");               // in a coroutine
//   std::vector<Task<Result<ETag>>> inserts;                                                // side by side
//   for (Entity& order : new_orders) inserts.push_back(orders.insert(std::move(order)));
//   std::vector<Result<ETag>> etags = co_await all(std::move(inserts));
//
// How it goes. The first operation starts the store's asynchronous thread. An operation on entities goes as far as it
// can on the thread that begins it, which never waits: a read whose blocks are in memory has its answer there, a write
// has its commit begun. Else it goes on on the asynchronous thread, step by step: what is to be read from the disk is
// asked for and comes while others go on, a lock is waited for in line, a commit is told by its group's publication.
// What has no such form - pages of scans, and verbs of the store - is called on one of a few threads; more wait for
// their turn.
//
// Threads    any. Callbacks are called, and coroutines go on, on the asynchronous thread (where an operation could not
//            begin, or has nothing to wait for, before start() returns): they must not block it. A verb of the store
//            that waits answers kInvalidArgument there and changes nothing; nor may the Store be destroyed there. A
//            handle that was given a HomeThread has its operations go on there instead.
// Lifetimes  operations keep what they are given; a tag (WriteOptions::tag) must live until the end. Store::close()
//            and the destructor of Store wait until all operations have ended; those begun later answer kClosed.
// Stopping   a std::stop_token ends an operation on entities with kCancelled, nothing changed, as long as its commit
//            has not begun; where it waits for room or for others, when that wait is over, but in a partition's line at
//            once. A scan ends within a few entities. Verbs of the store look at it once, before they begin.
// Errors     those of the verb, and kCancelled, kClosed, kLocked, kOutOfMemory, kIoError and kTooManyFiles (the thread,
// or the
//            queue of its reads, could not be had).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "access_policy.h"
#include "entity_view.h"
#include "home_thread.h"
#include "options.h"
#include "query.h"
#include "result.h"
#include "service_properties.h"
#include "statistics.h"
#include "status.h"
#include "store.h"
#include "table.h"
#include "task.h"
#include "transaction.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// As Table: a name and the store it belongs to. Cheap to copy.
class AsyncTable {
 public:
  /// Fenced as `table` is. Its operations end at `home`, where there is one.
  explicit AsyncTable(Table table, HomeThread* home = nullptr) noexcept : table_(std::move(table)), home_(home) {}
  const Table& table() const noexcept { return table_; }

  Task<Result<ETag>> insert(Entity entity, WriteOptions options = {}, std::stop_token stop = {}) const;
  Task<Result<ETag>> replace(Entity entity, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const;
  Task<Result<ETag>> merge(Entity entity, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const;
  Task<Result<ETag>> insert_or_replace(Entity entity, WriteOptions options = {}, std::stop_token stop = {}) const;
  Task<Result<ETag>> insert_or_merge(Entity entity, WriteOptions options = {}, std::stop_token stop = {}) const;
  Task<Status> remove(std::string partition_key, std::string row_key, ETag if_match, WriteOptions options = {},
                      std::stop_token stop = {}) const;
  Task<Result<std::vector<ETag>>> execute(EntityGroupTransaction transaction, WriteOptions options = {},
                                          std::stop_token stop = {}) const;

  Task<Result<std::optional<Entity>>> get(std::string partition_key, std::string row_key, ReadOptions options = {},
                                          std::stop_token stop = {}) const;
  Task<Result<std::vector<std::optional<Entity>>>> get_many(std::vector<EntityKey> keys, ReadOptions options = {},
                                                            std::stop_token stop = {}) const;
  Task<Result<Page>> scan(Scan scan, std::stop_token stop = {}) const;
  /// As scan(), but the page's entities are not kept in it: `reader` is given each where it lies, before the task ends,
  /// on another thread. What it was given counts only if the scan succeeds.
  Task<Result<Page>> scan_in_place(Scan scan, EntityReader reader, std::stop_token stop = {}) const;
  Task<Result<Count>> count(Scan scan, std::stop_token stop = {}) const;

 private:
  struct Verbs;
  Task<Result<ETag>> write(TransactionOperation operation, WriteOptions options, std::stop_token stop) const;

  Table table_;
  HomeThread* home_;
};

/// The verbs of a store that wait for the disk.
class AsyncStore {
 public:
  /// The store outlives every operation.
  explicit AsyncStore(Store& store) noexcept : store_(&store) {}

  Task<Status> create_account(std::string account, std::stop_token stop = {}) const;
  Task<Status> drop_account(std::string account, std::stop_token stop = {}) const;
  Task<Result<AccountPage>> list_accounts(ListOptions options = {}, std::stop_token stop = {}) const;
  Task<Result<Table>> create_table(std::string account, std::string table, std::stop_token stop = {}) const;
  /// Where the table is in use already, the task has nothing to wait for, and ends on the thread that begins it.
  Task<Result<Table>> open_table(std::string account, std::string table, std::stop_token stop = {}) const;
  Task<Status> drop_table(std::string account, std::string table, std::stop_token stop = {}) const;
  Task<Result<TablePage>> list_tables(std::string account, ListOptions options = {}, std::stop_token stop = {}) const;
  Task<Status> set_access_policies(std::string account, std::string table, std::vector<AccessPolicy> policies,
                                   std::stop_token stop = {}) const;
  Task<Result<std::vector<AccessPolicy>>> access_policies(std::string account, std::string table,
                                                          std::stop_token stop = {}) const;
  Task<Status> set_service_properties(std::string account, ServicePropertiesChange change,
                                      std::stop_token stop = {}) const;
  Task<Result<ServiceProperties>> service_properties(std::string account, std::stop_token stop = {}) const;
  Task<Status> sync(std::stop_token stop = {}) const;
  Task<Status> compact(std::stop_token stop = {}) const;
  Task<Result<CheckpointStatistics>> checkpoint(std::string path, std::stop_token stop = {}) const;
  /// `body` runs on a thread of its own for the time, and uses verbs that wait. It neither throws, closes the store,
  /// nor waits for tasks of it: eight that did would leave no thread for those.
  Task<Result<std::vector<ETag>>> transact(std::function<Status(StoreTransaction&)> body, WriteOptions options = {},
                                           int attempts_max = 16, std::stop_token stop = {}) const;
  /// Anything else of a store that waits: `work` is called as the body of transact() is.
  Task<Status> run(std::function<Status(Store&)> work, std::stop_token stop = {}) const;

 private:
  struct Verbs;
  Store* store_;
};

}  // namespace varve

#pragma GCC visibility pop
