// SPDX-License-Identifier: Apache-2.0
// Owns: the operations of a store, its tables, queues and containers as tasks. Hundreds run at once without a thread for each.
// Must never: differ in meaning from the blocking operation of the same name. table.h and store.h document each one.
//
//   AsyncTable orders(table);
//   start(orders.get("eu", "0001"), [](Result<std::optional<Entity>> entity) { ... });      // a callback
//   Result<std::optional<Entity>> entity = co_await orders.get("eu", "0001");               // in a coroutine
//   std::vector<Task<Result<ETag>>> inserts;                                                // concurrently
//   for (Entity& order : new_orders) inserts.push_back(orders.insert(std::move(order)));
//   std::vector<Result<ETag>> etags = co_await all(std::move(inserts));
//
// Execution. The first operation starts the store's asynchronous thread. An operation on entities begins on the calling
// thread and never blocks it. A read whose blocks are in memory completes there. A write whose partition is free begins
// its commit there. The rest of an operation runs on the asynchronous thread, in steps that do not block it:
// - The operation submits its disk reads, and other operations run until the data arrives.
// - The operation queues for the lock of a partition.
// - The publication of its commit group reports the end of its commit.
// A page of a scan or a count is read on the thread that begins it, as long as its blocks are in memory and the page is
// short. A worker thread continues it where it needs the disk, or has examined about a thousand entities.
// Operations of the store have no such form. Worker threads run them as blocking calls, and the rest of pages. There are
// at most 64; further calls queue.
//
// Threads    Any thread may begin an operation. Callbacks run, and coroutines resume, on the asynchronous thread. If an
//            operation cannot begin or need not wait, its callback runs before start() returns. Code that runs on the
//            asynchronous thread must not block it. If that code calls a blocking operation of the store, the operation
//            returns kInvalidArgument and changes nothing. The code must not destroy the Store either. If a handle has
//            a HomeThread, its operations resume there instead.
// Lifetimes  An operation keeps its own copies of its arguments, the bytes of WriteOptions::tag included. The caller
//            may free them as soon as the call that makes the task has returned. Store::close() and the destructor of
//            Store wait until all operations have ended. Operations that begin later return kClosed.
// Stopping   If a std::stop_token is triggered before the commit has begun, an operation on entities ends with
//            kCancelled and changes nothing. A wait in the queue of a partition ends at once. Other waits (for write
//            buffer room or for other threads) end first. A scan stops within a few entities. Operations of the store
//            check the token once, before they begin.
// Errors     Those of the operation, kCancelled, kClosed and kLocked. If the asynchronous thread or its read queue
//            cannot be created: kOutOfMemory, kIoError or kTooManyFiles.
#pragma once

#if __cplusplus < 202002L
#error "Varve needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "access_policy.h"
#include "aggregate.h"
#include "blob.h"
#include "blob_tail.h"
#include "entity_view.h"
#include "home_thread.h"
#include "options.h"
#include "query.h"
#include "queue.h"
#include "result.h"
#include "scan_plan.h"
#include "service_properties.h"
#include "statistics.h"
#include "status.h"
#include "store.h"
#include "table.h"
#include "table_options.h"
#include "task.h"
#include "transaction.h"
#include "types.h"
#include "version.h"

namespace varve {

/// The asynchronous form of Table: a name and the store it belongs to. Cheap to copy.
class VARVE_EXPORT AsyncTable {
 public:
  /// Creates a handle with the access restrictions of `table`. If `home` is not null, operations end on that thread.
  explicit AsyncTable(Table table, HomeThread* home = nullptr) noexcept : table_(std::move(table)), home_(home) {}
  /// Returns the blocking handle of the table.
  /// @{
  const Table& table() const& noexcept { return table_; }
  Table table() && noexcept { return std::move(table_); }
  /// @}

  /// Runs Table::write(), and returns the new ETag; kRemove has none. The task reports the errors of that write.
  Task<Result<ETag>> write(WriteOperation operation, WriteOptions options = {}, std::stop_token stop = {}) const;
  /// Runs the write of the same name of Table.
  /// @{
  Task<Result<ETag>> insert(Entity entity, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(WriteOperation::insert(std::move(entity)), options, std::move(stop));
  }
  Task<Result<ETag>> replace(Entity entity, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(WriteOperation::replace(std::move(entity), if_match), options, std::move(stop));
  }
  Task<Result<ETag>> merge(Entity entity, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(WriteOperation::merge(std::move(entity), if_match), options, std::move(stop));
  }
  Task<Result<ETag>> insert_or_replace(Entity entity, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(WriteOperation::insert_or_replace(std::move(entity)), options, std::move(stop));
  }
  Task<Result<ETag>> insert_or_merge(Entity entity, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(WriteOperation::insert_or_merge(std::move(entity)), options, std::move(stop));
  }
  Task<Status> remove(std::string partition_key, std::string row_key, ETag if_match, WriteOptions options = {},
                      std::stop_token stop = {}) const {
    return status_of(write(WriteOperation::remove(std::move(partition_key), std::move(row_key), if_match), options,
                           std::move(stop)));
  }
  /// @}
  /// Runs the patch of the same name of Table, and returns the entity after it.
  /// @{
  Task<Result<Entity>> patch(Patch patch, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const {
    return patched(WriteOperation::patch(std::move(patch), if_match), options, std::move(stop));
  }
  Task<Result<Entity>> insert_or_patch(Patch patch, WriteOptions options = {}, std::stop_token stop = {}) const {
    return patched(WriteOperation::insert_or_patch(std::move(patch)), options, std::move(stop));
  }
  /// @}
  /// Commits the transaction, as Table::execute(). Returns one ETag for each operation, in their order.
  Task<Result<std::vector<ETag>>> execute(EntityGroupTransaction transaction, WriteOptions options = {},
                                          std::stop_token stop = {}) const;

  /// Commits the transaction together with changes of messages, as Table::execute_with_messages().
  Task<Result<ExecutedTransaction>> execute_with_messages(EntityGroupTransaction transaction,
                                                          std::vector<MessageWrite> messages, WriteOptions options = {},
                                                          std::stop_token stop = {}) const;

  /// Returns the entity, or no value if it does not exist, as Table::get().
  Task<Result<std::optional<Entity>>> get(std::string partition_key, std::string row_key, ReadOptions options = {},
                                          std::stop_token stop = {}) const;
  /// Returns one entity or no value for each key, in the order of the keys, as Table::get_many().
  Task<Result<std::vector<std::optional<Entity>>>> get_many(std::vector<EntityKey> keys, ReadOptions options = {},
                                                            std::stop_token stop = {}) const;
  /// Returns one page, as Table::scan().
  Task<Result<Page>> scan(Scan scan, std::stop_token stop = {}) const;
  /// Reads a page as scan() does, but keeps no entities in it. Instead it passes each entity in place to `reader`, before
  /// the task ends: first on the thread that begins the task, then perhaps on a thread of the store, never on two at
  /// once. The reader must not block. If the scan fails, what the reader received does not count.
  Task<Result<Page>> scan_in_place(Scan scan, EntityReader reader, std::stop_token stop = {}) const;
  /// Returns one page of RowKeys that are folded at a delimiter, as Table::list_rows().
  Task<Result<RowListingPage>> list_rows(RowListing listing, std::stop_token stop = {}) const;
  /// Counts the entities that a scan would return, as Table::count().
  Task<Result<Count>> count(Scan scan, std::stop_token stop = {}) const;
  /// Adds the entities that a scan would return to the figures, as Table::aggregate(), and returns the figures.
  /// `part.entities` is no exact number for smallest and largest values alone: see Count::entities.
  Task<Result<Aggregated>> aggregate(Scan scan, Aggregation into, std::stop_token stop = {}) const;
  /// Explains a scan on a worker thread, as Table::explain().
  Task<Result<ScanPlan>> explain(Scan scan, std::stop_token stop = {}) const;

  /// Changes entities by filter, as the verb of the same name of Table. A worker thread does the work, and calls
  /// WhereOptions::progress. WhereOptions::stop also ends the wait for the worker.
  /// @{
  Task<Result<WhereProgress>> delete_where(Where where, WhereOptions options = {}) const;
  Task<Result<WhereProgress>> update_where(Where where, PropertyChanges changes, WhereOptions options = {}) const;
  /// @}

 private:
  struct Verbs;
  static Task<Status> status_of(Task<Result<ETag>> write);
  Task<Result<Entity>> patched(WriteOperation operation, WriteOptions options, std::stop_token stop) const;

  Table table_;
  HomeThread* home_;
};

/// The asynchronous form of Queue: a name and the store it belongs to. Cheap to copy.
///
/// A worker thread runs each verb as the blocking call of queue.h. A get that waits for a message occupies no thread, and
/// takes no processor time until a message is visible, its time is over, or its stop token is triggered.
///
///   AsyncQueue orders(queue);
///   Result<std::vector<ReceivedMessage>> got = co_await orders.get({.count = 32, .wait = std::chrono::hours(1)});
class VARVE_EXPORT AsyncQueue {
 public:
  /// Creates a handle. If `home` is not null, operations end on that thread.
  explicit AsyncQueue(Queue queue, HomeThread* home = nullptr) noexcept : queue_(std::move(queue)), home_(home) {}
  /// Returns the blocking handle of the queue.
  /// @{
  const Queue& queue() const& noexcept { return queue_; }
  Queue queue() && noexcept { return std::move(queue_); }
  /// @}

  /// Appends a message, as Queue::put().
  Task<Result<SentMessage>> put(std::string text, PutOptions options = {}, std::stop_token stop = {}) const;
  /// Takes visible messages, or waits for one, as Queue::get(). GetOptions::stop ends the wait; the task then returns no
  /// message, never kCancelled. Store::close() ends the wait with kClosed. Source: QX-17.
  Task<Result<std::vector<ReceivedMessage>>> get(GetOptions options = {}) const;
  /// Returns visible messages and changes nothing, as Queue::peek().
  Task<Result<std::vector<Message>>> peek(std::uint32_t count = 1, std::stop_token stop = {}) const;
  /// Deletes a message, as Queue::remove().
  /// @{
  Task<Status> remove(Guid id, PopReceipt receipt, WriteOptions options = {}, std::stop_token stop = {}) const;
  Task<Status> remove(const ReceivedMessage& message, WriteOptions options = {}, std::stop_token stop = {}) const {
    return remove(message.id, message.receipt, options, std::move(stop));
  }
  /// @}
  /// Hides a message for `hold` from now on, and replaces its text if one is given, as Queue::update().
  Task<Result<UpdatedMessage>> update(Guid id, PopReceipt receipt, std::chrono::milliseconds hold,
                                      std::optional<std::string> text = std::nullopt, WriteOptions options = {},
                                      std::stop_token stop = {}) const;
  /// Deletes all messages, as Queue::clear().
  Task<Status> clear(std::stop_token stop = {}) const;
  /// Returns the number of messages and their bytes, as Queue::figures().
  Task<Result<QueueFigures>> figures(std::stop_token stop = {}) const;
  /// Replaces all metadata, as Queue::set_metadata().
  Task<Status> set_metadata(std::vector<MetadataPair> metadata, std::stop_token stop = {}) const;
  /// Returns the metadata, as Queue::metadata().
  Task<Result<std::vector<MetadataPair>>> metadata(std::stop_token stop = {}) const;
  /// Replaces all access policies, as Queue::set_access_policies().
  Task<Status> set_access_policies(std::vector<AccessPolicy> policies, std::stop_token stop = {}) const;
  /// Returns the access policies, as Queue::access_policies().
  Task<Result<std::vector<AccessPolicy>>> access_policies(std::stop_token stop = {}) const;

 private:
  struct Verbs;

  Queue queue_;
  HomeThread* home_;
};

/// The asynchronous form of Container, for logs: a name and the store it belongs to. Cheap to copy.
///
/// A worker thread runs each verb as the blocking call of blob.h. A tail that waits for an append occupies no thread, and
/// takes no processor time until bytes are there, its time is over, or its stop token is triggered. Streams have no such
/// form: AsyncStore::run() runs their blocking calls.
///
///   AsyncContainer logs(container);
///   Result<BlobTail> more = co_await logs.tail("2026/11/27.log", {.offset = end, .wait = std::chrono::hours(1)});
class VARVE_EXPORT AsyncContainer {
 public:
  /// Creates a handle. If `home` is not null, operations end on that thread.
  explicit AsyncContainer(Container container, HomeThread* home = nullptr) noexcept
      : container_(std::move(container)), home_(home) {}
  /// Returns the blocking handle of the container.
  /// @{
  const Container& container() const& noexcept { return container_; }
  Container container() && noexcept { return std::move(container_); }
  /// @}

  /// Writes a block blob from memory, as Container::put().
  Task<Result<BlobState>> put(std::string blob, std::string content, BlobWriteOptions options = {},
                              std::stop_token stop = {}) const;
  /// Returns the state of a blob, as Container::state().
  Task<Result<BlobState>> state(std::string blob, BlobReadOptions options = {}, std::stop_token stop = {}) const;
  /// Deletes a blob, as Container::remove().
  Task<Status> remove(std::string blob, BlobChangeOptions options = {}, std::stop_token stop = {}) const;
  /// Creates an append blob without content, as Container::create_append_blob().
  Task<Result<BlobState>> create_append_blob(std::string blob, BlobWriteOptions options = {},
                                             std::stop_token stop = {}) const;
  /// Adds bytes at the end of an append blob, as Container::append().
  Task<Result<AppendedBlock>> append(std::string blob, std::string bytes, AppendOptions options = {},
                                     std::stop_token stop = {}) const;
  /// Returns bytes of an append blob, or waits for an append, as Container::tail(). BlobTailOptions::stop ends the wait;
  /// the task then returns no bytes, never kCancelled. Store::close() ends the wait with kClosed. Source: BX-25, QX-17.
  Task<Result<BlobTail>> tail(std::string blob, BlobTailOptions options = {}) const;

 private:
  struct Verbs;

  Container container_;
  HomeThread* home_;
};

/// The operations of a store that wait for the disk.
class VARVE_EXPORT AsyncStore {
 public:
  /// The store must outlive every operation.
  explicit AsyncStore(Store& store) noexcept : store_(&store) {}

  /// Creates an account, as Store::create_account().
  Task<Status> create_account(std::string account, std::stop_token stop = {}) const;
  /// Deletes an account and all its tables, as Store::drop_account().
  Task<Status> drop_account(std::string account, std::stop_token stop = {}) const;
  /// Returns one page of account names, as Store::list_accounts().
  Task<Result<AccountPage>> list_accounts(ListOptions options = {}, std::stop_token stop = {}) const;
  /// Creates a table and opens it, as Store::create_table(). Without options, the table has those of TableOptions().
  /// @{
  Task<Result<Table>> create_table(std::string account, std::string table, std::stop_token stop = {}) const;
  Task<Result<Table>> create_table(std::string account, std::string table, TableOptions options,
                                   std::stop_token stop = {}) const;
  /// @}
  /// Opens a table. If the table is already in use, the task need not wait and ends on the thread that begins it.
  Task<Result<Table>> open_table(std::string account, std::string table, std::stop_token stop = {}) const;
  /// Deletes a table and all its entities, as Store::drop_table().
  Task<Status> drop_table(std::string account, std::string table, std::stop_token stop = {}) const;
  /// Returns one page of an account's table names, as Store::list_tables().
  Task<Result<TablePage>> list_tables(std::string account, ListOptions options = {}, std::stop_token stop = {}) const;
  /// Creates a queue and opens it, as Store::create_queue().
  Task<Result<Queue>> create_queue(std::string account, std::string queue, QueueOptions options = {},
                                   std::stop_token stop = {}) const;
  /// Opens a queue, as Store::open_queue().
  Task<Result<Queue>> open_queue(std::string account, std::string queue, std::stop_token stop = {}) const;
  /// Deletes a queue and all its messages, as Store::drop_queue().
  Task<Status> drop_queue(std::string account, std::string queue, std::stop_token stop = {}) const;
  /// Returns one page of an account's queues, as Store::list_queues().
  Task<Result<QueuePage>> list_queues(std::string account, ListOptions options = {}, std::stop_token stop = {}) const;
  /// Creates a container and opens it, as Store::create_container().
  Task<Result<Container>> create_container(std::string account, std::string container, ContainerOptions options = {},
                                           std::stop_token stop = {}) const;
  /// Opens a container, as Store::open_container().
  Task<Result<Container>> open_container(std::string account, std::string container, std::stop_token stop = {}) const;
  /// Deletes a container and all its blobs, as Store::drop_container().
  Task<Status> drop_container(std::string account, std::string container, BlobConditions conditions = {},
                              std::stop_token stop = {}) const;
  /// Returns one page of an account's containers, as Store::list_containers().
  Task<Result<ContainerPage>> list_containers(std::string account, ListOptions options = {},
                                              std::stop_token stop = {}) const;
  /// Replaces the access policies of a table, as Store::set_access_policies().
  Task<Status> set_access_policies(std::string account, std::string table, std::vector<AccessPolicy> policies,
                                   std::stop_token stop = {}) const;
  /// Returns the access policies of a table, as Store::access_policies().
  Task<Result<std::vector<AccessPolicy>>> access_policies(std::string account, std::string table,
                                                          std::stop_token stop = {}) const;
  /// Sets or removes the rule by which entities of a table end, as Store::set_table_expiry().
  Task<Status> set_table_expiry(std::string account, std::string table, std::optional<TableExpiry> expiry,
                                std::stop_token stop = {}) const;
  /// Returns the rule by which entities of a table end, as Store::table_expiry().
  Task<Result<std::optional<TableExpiry>>> table_expiry(std::string account, std::string table,
                                                        std::stop_token stop = {}) const;
  /// Declares and builds an index of a table on one thread, as Store::create_index(). The stop token stops the build.
  Task<Status> create_index(std::string account, std::string table, IndexDefinition definition,
                            std::stop_token stop = {}) const;
  /// Goes on with the build of an index, as Store::build_index(). The stop token stops the build.
  Task<Status> build_index(std::string account, std::string table, std::string index, std::stop_token stop = {}) const;
  /// Drops an index of a table, as Store::drop_index().
  Task<Status> drop_index(std::string account, std::string table, std::string index, std::stop_token stop = {}) const;
  /// Returns the indexes of a table, as Store::indexes().
  Task<Result<std::vector<IndexInfo>>> indexes(std::string account, std::string table, std::stop_token stop = {}) const;
  /// Replaces the properties that the change sets of a service of the account, as Store::set_service_properties().
  /// Without a service, the change is for tables.
  /// @{
  Task<Status> set_service_properties(std::string account, ServicePropertiesChange change,
                                      std::stop_token stop = {}) const;
  Task<Status> set_service_properties(std::string account, ServicePropertiesChange change, StorageService service,
                                      std::stop_token stop = {}) const;
  /// @}
  /// Returns the properties of a service of the account, as Store::service_properties(). Without a service, returns
  /// those of tables.
  /// @{
  Task<Result<ServiceProperties>> service_properties(std::string account, std::stop_token stop = {}) const;
  Task<Result<ServiceProperties>> service_properties(std::string account, StorageService service,
                                                     std::stop_token stop = {}) const;
  /// @}
  /// Makes every acknowledged write durable, buffered writes included, as Store::sync().
  Task<Status> sync(std::stop_token stop = {}) const;
  /// Writes memtables to table files and compacts them, as Store::compact().
  Task<Status> compact(std::stop_token stop = {}) const;
  /// Makes a second store at `path` from the present state, as Store::checkpoint().
  Task<Result<CheckpointStatistics>> checkpoint(std::string path, std::stop_token stop = {}) const;
  /// Runs `body` as Store::transact() does. A worker thread runs `body`, which uses blocking operations. `body` must
  /// not throw, close the store, or wait for tasks of the store. If 64 bodies waited for tasks, no worker thread
  /// would be left to run these tasks.
  Task<Result<std::vector<ETag>>> transact(std::function<Status(StoreTransaction&)> body, WriteOptions options = {},
                                           int attempts_max = 16, std::stop_token stop = {}) const;
  /// Runs any other blocking use of the store: `work` runs as the body of transact() does, under the same rules.
  Task<Status> run(std::function<Status(Store&)> work, std::stop_token stop = {}) const;

 private:
  struct Verbs;
  Store* store_;
};

}  // namespace varve
