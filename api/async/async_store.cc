// Owns: the operations of a store as tasks; each one runs on a worker thread, which may block (async.h).
// Must never: occupy a worker thread with an operation that was stopped before its turn.
#include <utility>

#include "api/async/async_call.h"
#include "api/async/owned_options.h"
#include "api/model/guarded.h"
#include "varve/async.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL AsyncStore::Verbs {
  template <typename Verb>
  using AnswerOf = std::invoke_result_t<Verb&, Store&>;

  template <typename Verb>
  static Task<AnswerOf<Verb>> on_worker(Store& store, std::stop_token stop, Verb verb) {
    AsyncCall call(store.core_, std::move(stop));
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    co_await call.to_worker();
    AnswerOf<Verb> answer = guarded([&]() -> AnswerOf<Verb> {
      if (Status stopped = call.check_stop(); !stopped.ok()) return stopped;
      return verb(store);
    });
    co_await call.back();
    co_return answer;
  }

  /// Opens the table from the cache of names in use. If the name is not in the cache, reads the catalog.
  static Task<Result<Table>> open_table(Store& store, std::string account, std::string table, std::stop_token stop) {
    if (!stop.stop_requested()) {
      Result<std::optional<Table>> known = store.open_known_table(account, table);
      if (!known.ok()) co_return known.status();
      if (*known) co_return std::move(**known);
    }
    Task<Result<Table>> opening =
        on_worker(store, std::move(stop), [&](Store& of) { return of.open_table(account, table); });
    Result<Table> opened = co_await opening;
    co_return opened;
  }
};

Task<Status> AsyncStore::create_account(std::string account, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account)](Store& store) { return store.create_account(account); });
}

Task<Status> AsyncStore::drop_account(std::string account, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account)](Store& store) { return store.drop_account(account); });
}

Task<Result<AccountPage>> AsyncStore::list_accounts(ListOptions options, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [options = std::move(options)](Store& store) { return store.list_accounts(options); });
}

Task<Result<Table>> AsyncStore::create_table(std::string account, std::string table, std::stop_token stop) const {
  return create_table(std::move(account), std::move(table), TableOptions(), std::move(stop));
}

Task<Result<Table>> AsyncStore::create_table(std::string account, std::string table, TableOptions options,
                                             std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table), options](Store& store) {
                            return store.create_table(account, table, options);
                          });
}

Task<Result<Table>> AsyncStore::open_table(std::string account, std::string table, std::stop_token stop) const {
  return Verbs::open_table(*store_, std::move(account), std::move(table), std::move(stop));
}

Task<Status> AsyncStore::drop_table(std::string account, std::string table, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table)](Store& store) {
                            return store.drop_table(account, table);
                          });
}

Task<Result<TablePage>> AsyncStore::list_tables(std::string account, ListOptions options, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), options = std::move(options)](Store& store) {
                            return store.list_tables(account, options);
                          });
}

Task<Result<Queue>> AsyncStore::create_queue(std::string account, std::string queue, QueueOptions options,
                                             std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), queue = std::move(queue), options = std::move(options)](
                              Store& store) { return store.create_queue(account, queue, options); });
}

Task<Result<Queue>> AsyncStore::open_queue(std::string account, std::string queue, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), queue = std::move(queue)](Store& store) {
                            return store.open_queue(account, queue);
                          });
}

Task<Status> AsyncStore::drop_queue(std::string account, std::string queue, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), queue = std::move(queue)](Store& store) {
                            return store.drop_queue(account, queue);
                          });
}

Task<Result<QueuePage>> AsyncStore::list_queues(std::string account, ListOptions options, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), options = std::move(options)](Store& store) {
                            return store.list_queues(account, options);
                          });
}

Task<Result<Container>> AsyncStore::create_container(std::string account, std::string container,
                                                     ContainerOptions options, std::stop_token stop) const {
  return Verbs::on_worker(
      *store_, std::move(stop),
      [account = std::move(account), container = std::move(container), options = std::move(options)](Store& store) {
        return store.create_container(account, container, options);
      });
}

Task<Result<Container>> AsyncStore::open_container(std::string account, std::string container,
                                                   std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), container = std::move(container)](Store& store) {
                            return store.open_container(account, container);
                          });
}

Task<Status> AsyncStore::drop_container(std::string account, std::string container, BlobConditions conditions,
                                        std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), container = std::move(container), conditions](Store& store) {
                            return store.drop_container(account, container, conditions);
                          });
}

Task<Result<ContainerPage>> AsyncStore::list_containers(std::string account, ListOptions options,
                                                        std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), options = std::move(options)](Store& store) {
                            return store.list_containers(account, options);
                          });
}

Task<Status> AsyncStore::set_access_policies(std::string account, std::string table, std::vector<AccessPolicy> policies,
                                             std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table), policies = std::move(policies)](
                              Store& store) { return store.set_access_policies(account, table, policies); });
}

Task<Result<std::vector<AccessPolicy>>> AsyncStore::access_policies(std::string account, std::string table,
                                                                    std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table)](Store& store) {
                            return store.access_policies(account, table);
                          });
}

Task<Status> AsyncStore::set_table_expiry(std::string account, std::string table, std::optional<TableExpiry> expiry,
                                          std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table), expiry = std::move(expiry)](
                              Store& store) { return store.set_table_expiry(account, table, expiry); });
}

Task<Result<std::optional<TableExpiry>>> AsyncStore::table_expiry(std::string account, std::string table,
                                                                  std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table)](Store& store) {
                            return store.table_expiry(account, table);
                          });
}

Task<Status> AsyncStore::create_index(std::string account, std::string table, IndexDefinition definition,
                                      std::stop_token stop) const {
  return Verbs::on_worker(
      *store_, stop,
      [account = std::move(account), table = std::move(table), definition = std::move(definition), stop](Store& store) {
        return store.create_index(account, table, definition,
                                  [&stop](const IndexBuildProgress&) { return !stop.stop_requested(); });
      });
}

Task<Status> AsyncStore::build_index(std::string account, std::string table, std::string index,
                                     std::stop_token stop) const {
  return Verbs::on_worker(
      *store_, stop,
      [account = std::move(account), table = std::move(table), index = std::move(index), stop](Store& store) {
        return store.build_index(account, table, index,
                                 [&stop](const IndexBuildProgress&) { return !stop.stop_requested(); });
      });
}

Task<Status> AsyncStore::drop_index(std::string account, std::string table, std::string index,
                                    std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), table = std::move(table),
                           index = std::move(index)](Store& store) { return store.drop_index(account, table, index); });
}

Task<Result<std::vector<IndexInfo>>> AsyncStore::indexes(std::string account, std::string table,
                                                         std::stop_token stop) const {
  return Verbs::on_worker(
      *store_, std::move(stop),
      [account = std::move(account), table = std::move(table)](Store& store) { return store.indexes(account, table); });
}

Task<Status> AsyncStore::set_service_properties(std::string account, ServicePropertiesChange change,
                                                std::stop_token stop) const {
  return set_service_properties(std::move(account), std::move(change), StorageService::kTables, std::move(stop));
}

Task<Status> AsyncStore::set_service_properties(std::string account, ServicePropertiesChange change,
                                                StorageService service, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [account = std::move(account), change = std::move(change), service](Store& store) {
                            return store.set_service_properties(account, change, service);
                          });
}

Task<Result<ServiceProperties>> AsyncStore::service_properties(std::string account, std::stop_token stop) const {
  return service_properties(std::move(account), StorageService::kTables, std::move(stop));
}

Task<Result<ServiceProperties>> AsyncStore::service_properties(std::string account, StorageService service,
                                                               std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop), [account = std::move(account), service](Store& store) {
    return store.service_properties(account, service);
  });
}

Task<Status> AsyncStore::sync(std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop), [](Store& store) { return store.sync(); });
}

Task<Status> AsyncStore::compact(std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop), [](Store& store) { return store.compact(); });
}

Task<Result<CheckpointStatistics>> AsyncStore::checkpoint(std::string path, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [path = std::move(path)](Store& store) { return store.checkpoint(path); });
}

Task<Result<std::vector<ETag>>> AsyncStore::transact(std::function<Status(StoreTransaction&)> body,
                                                     WriteOptions options, int attempts_max,
                                                     std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop),
                          [body = std::move(body), owned = OwnedWriteOptions(options), attempts_max](Store& store) {
                            return store.transact(body, owned.options(), attempts_max);
                          });
}

Task<Status> AsyncStore::run(std::function<Status(Store&)> work, std::stop_token stop) const {
  return Verbs::on_worker(*store_, std::move(stop), std::move(work));
}

}  // namespace varve
