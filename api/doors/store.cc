// Owns: the verbs of a store, each as a call of the part that does it (store.h).
// Must never: do the work itself. The catalog and the engine do.
#include "varve/store.h"

#include <utility>

#include "api/core/queue_state.h"
#include "api/core/store_core.h"
#include "api/core/table_state.h"
#include "api/model/guarded.h"
#include "api/model/metrics_tables.h"
#include "api/model/service_error.h"
#include "api/read/listing.h"
#include "api/write/store_transaction_state.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

/// If no account can have the name, no account with the name exists.
Status find_legal_account(std::string_view account) {
  return check_account_name(account).ok() ? Status() : no_such_account(account);
}

TableName table_name(std::string_view account, std::string_view spelling) {
  return TableName{std::string(account), std::string(spelling), lower_case(spelling)};
}

/// Returns the name of a table that a caller reads, by its present spelling if it is a metrics table. Errors: kNotFound
/// (TableNotFound: no table can have the name).
Result<TableName> name_to_read(std::string_view account, std::string_view table) {
  if (const std::optional<std::string_view> metrics = metrics_table(table)) return table_name(account, *metrics);
  if (!check_table_name(table).ok()) return no_such_table(account, table);
  return table_name(account, table);
}

bool is_of_metrics(const TableName& name) noexcept {
  return name.spelling.starts_with('$');
}

}  // namespace

Store::Store(std::shared_ptr<StoreCore> core) noexcept : core_(std::move(core)) {}

Result<std::unique_ptr<Store>> Store::open(std::string_view path, const StoreOptions& options) {
  return guarded([&]() -> Result<std::unique_ptr<Store>> {
    Result<std::shared_ptr<StoreCore>> core = StoreCore::open(path, options);
    if (!core.ok()) return core.status();
    return std::unique_ptr<Store>(new Store(*std::move(core)));
  });
}

const StoreLimits& Store::limits() const noexcept {
  return core_->limits();
}

Store::~Store() {
  (void)close();  // A caller who needs the error calls close(). Acknowledged writes are safe either way.
}

Status Store::close() {
  return guarded([&] { return core_->close(); });
}

Status Store::sync() {
  return guarded([&]() -> Status {
    if (Status open = core_->check_open(); !open.ok()) return open;
    return core_->engine().sync();
  });
}

Status Store::compact() {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    return core_->engine().compact();
  });
}

Result<CheckpointStatistics> Store::checkpoint(std::string_view path) {
  return guarded([&]() -> Result<CheckpointStatistics> {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    return core_->engine().checkpoint(path);
  });
}

Result<Statistics> Store::statistics() const {
  return guarded([&]() -> Result<Statistics> {
    if (Status mine = core_->check_process(); !mine.ok()) return mine;
    return core_->engine().statistics();
  });
}

Result<Snapshot> Store::snapshot() const {
  return guarded([&]() -> Result<Snapshot> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    Snapshot taken = core_->snapshot();
    if (Status fresh = core_->backend().may_answer(); !fresh.ok()) return fresh;
    return taken;
  });
}

Result<StoreTransaction> Store::begin_transaction() const {
  return guarded([&]() -> Result<StoreTransaction> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    return StoreTransaction(std::make_unique<StoreTransaction::State>(core_));
  });
}

Result<std::vector<ETag>> Store::transact(const std::function<Status(StoreTransaction&)>& body,
                                          const WriteOptions& options, int attempts_max) const {
  for (int attempt = 1;; ++attempt) {
    Result<StoreTransaction> transaction = begin_transaction();
    if (!transaction.ok()) return transaction.status();
    if (Status done = body(*transaction); !done.ok()) return done;
    Result<std::vector<ETag>> committed = transaction->commit(options);
    // A receipt that is no longer the last one stays so.
    const bool may_succeed = committed.code() == Code::kConflict && committed.status().service_error().empty();
    if (!may_succeed || attempt >= attempts_max) return committed;
  }
}

Result<std::optional<std::string>> Store::last_tag() const {
  return guarded([&]() -> Result<std::optional<std::string>> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    std::optional<format::CommitTag> tag = core_->engine().last_tag();
    if (Status fresh = core_->backend().may_answer(); !fresh.ok()) return fresh;
    if (!tag) return std::optional<std::string>();
    return std::optional<std::string>(std::move(tag->bytes));
  });
}

Status Store::create_account(std::string_view account) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status named = check_account_name(account); !named.ok()) return named;
    return core_->catalog().create_account(account);
  });
}

Status Store::drop_account(std::string_view account) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    const Result<std::uint32_t> number = core_->catalog().drop_account(account);
    if (!number.ok()) return number.status();
    core_->queues().wake_all_of(*number);
    core_->followers().wake_all_of(*number);
    return Status();
  });
}

Result<AccountPage> Store::list_accounts(const ListOptions& options) const {
  return guarded([&]() -> Result<AccountPage> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    const Result<engine::ReadView> view = core_->view(options.snapshot);
    if (!view.ok()) return view.status();
    return list_account_page(*view, options);
  });
}

Result<Table> Store::create_table(std::string_view account, std::string_view table, const TableOptions& options) {
  return guarded([&]() -> Result<Table> {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (metrics_table(table)) return metrics_are_read_only(table);
    if (Status named = check_table_name(table); !named.ok()) return named;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (options.expiry) {
      if (Status checked = check_table_expiry(*options.expiry); !checked.ok()) return checked;
      if (options.has_large_values) return expires_no_owners(table);
    }
    // Makes the handle first. After the table is created, nothing may fail.
    std::shared_ptr<Table::State> state = Table::State::named(core_, table_name(account, table));
    if (Status created = core_->catalog().create_table(state->name, options); !created.ok()) return created;
    return Table(std::move(state));
  });
}

Result<std::optional<Table>> Store::open_known_table(std::string_view account, std::string_view table) const {
  return guarded([&]() -> Result<std::optional<Table>> {
    if (core_->is_closed()) return Status(Code::kClosed, "the store was closed; open it again");
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    Result<TableName> name = name_to_read(account, table);
    if (!name.ok()) return name.status();
    const std::shared_ptr<Table::State> state = Table::State::named(core_, *std::move(name));
    if (is_of_metrics(state->name)) state->access = TableAccess::to_metrics();
    if (state->entry->live_id() == 0) return std::optional<Table>();
    return std::optional<Table>(Table(state));
  });
}

Result<Table> Store::open_table(std::string_view account, std::string_view table) const {
  return guarded([&]() -> Result<Table> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    Result<TableName> name = name_to_read(account, table);
    if (!name.ok()) return name.status();
    std::shared_ptr<Table::State> state = Table::State::named(core_, *std::move(name));
    if (is_of_metrics(state->name)) state->access = TableAccess::to_metrics();
    const Result<ResolvedTable> found = core_->catalog().resolve_newest(state->name, *state->entry);
    if (found.ok()) return Table(std::move(state));
    if (found.code() != Code::kNotFound) return found.status();
    const Result<std::optional<AccountRow>> owner = Catalog::find_account(core_->backend().view(), account);
    if (!owner.ok()) return owner.status();
    return *owner ? found.status() : no_such_account(account);
  });
}

Status Store::drop_table(std::string_view account, std::string_view table) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (metrics_table(table)) return metrics_are_read_only(table);
    if (!check_table_name(table).ok()) return no_such_table(account, table).with_service_error("ResourceNotFound");
    const Result<format::TableId> dropped = core_->catalog().drop_table(account, lower_case(table));
    if (!dropped.ok()) return dropped.status();
    if (has_large_values(*dropped)) core_->wake_blob_keeper();
    return Status();
  });
}

Result<Queue> Store::create_queue(std::string_view account, std::string_view queue, const QueueOptions& options) {
  return guarded([&]() -> Result<Queue> {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status named = check_queue_name(queue); !named.ok()) return named;
    if (Status metadata = check_metadata(options.metadata); !metadata.ok()) return metadata;
    if (options.message_bytes_max == 0 || options.message_bytes_max > limits::kMessageBytesMaxLimit) {
      return service_error::invalid_input("message_bytes_max is " + std::to_string(options.message_bytes_max) +
                                          "; 1 to 1048576 are allowed");
    }
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    std::shared_ptr<Queue::State> state = Queue::State::named(core_, table_name(account, queue));
    if (Status created = core_->catalog().create_queue(state->name, options); !created.ok()) return created;
    return Queue(std::move(state));
  });
}

Result<Queue> Store::open_queue(std::string_view account, std::string_view queue) const {
  return guarded([&]() -> Result<Queue> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (!check_queue_name(queue).ok()) return no_such_queue(account, queue);
    std::shared_ptr<Queue::State> state = Queue::State::named(core_, table_name(account, queue));
    const Result<ResolvedQueue> found = state->resolve();
    if (found.ok()) return Queue(std::move(state));
    if (found.code() != Code::kNotFound) return found.status();
    const Result<std::optional<AccountRow>> owner = Catalog::find_account(core_->backend().view(), account);
    if (!owner.ok()) return owner.status();
    return *owner ? found.status() : no_such_account(account);
  });
}

Status Store::drop_queue(std::string_view account, std::string_view queue) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (!check_queue_name(queue).ok()) return no_such_queue(account, queue);
    const Result<format::TableId> before = core_->catalog().drop_queue(table_name(account, queue));
    if (!before.ok()) return before.status();
    core_->queues().wake_all_at(*before);
    return Status();
  });
}

Result<QueuePage> Store::list_queues(std::string_view account, const ListOptions& options) const {
  return guarded([&]() -> Result<QueuePage> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    const Result<engine::ReadView> view = core_->view(options.snapshot);
    if (!view.ok()) return view.status();
    return list_queue_page(*view, account, options);
  });
}

Status Store::set_table_expiry(std::string_view account, std::string_view table,
                               const std::optional<TableExpiry>& expiry) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (metrics_table(table)) return metrics_are_read_only(table);
    if (!check_table_name(table).ok()) return no_such_table(account, table);
    if (expiry) {
      if (Status checked = check_table_expiry(*expiry); !checked.ok()) return checked;
    }
    return core_->catalog().set_table_expiry(table_name(account, table), expiry);
  });
}

Result<std::optional<TableExpiry>> Store::table_expiry(std::string_view account, std::string_view table) const {
  return guarded([&]() -> Result<std::optional<TableExpiry>> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    const Result<TableName> name = name_to_read(account, table);
    if (!name.ok()) return name.status();
    return Catalog::find_table_expiry(core_->backend().view(), *name);
  });
}

Status Store::set_access_policies(std::string_view account, std::string_view table,
                                  std::span<const AccessPolicy> policies) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (metrics_table(table)) return metrics_are_read_only(table);
    if (!check_table_name(table).ok()) return no_such_table(account, table);
    if (Status checked = check_access_policies(policies); !checked.ok()) return checked;
    return core_->catalog().set_access_policies(table_name(account, table), policies);
  });
}

Result<std::vector<AccessPolicy>> Store::access_policies(std::string_view account, std::string_view table) const {
  return guarded([&]() -> Result<std::vector<AccessPolicy>> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    const Result<TableName> name = name_to_read(account, table);
    if (!name.ok()) return name.status();
    return Catalog::find_access_policies(core_->backend().view(), *name);
  });
}

Status Store::set_service_properties(std::string_view account, const ServicePropertiesChange& change,
                                     StorageService service) {
  return guarded([&]() -> Status {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    if (Status checked = check_service_properties(change); !checked.ok()) return checked;
    return core_->catalog().set_service_properties(account, change, service);
  });
}

Result<ServiceProperties> Store::service_properties(std::string_view account, StorageService service) const {
  return guarded([&]() -> Result<ServiceProperties> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    return Catalog::find_service_properties(core_->backend().view(), account, service);
  });
}

Result<TablePage> Store::list_tables(std::string_view account, const ListOptions& options) const {
  return guarded([&]() -> Result<TablePage> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    if (Status legal = find_legal_account(account); !legal.ok()) return legal;
    const Result<engine::ReadView> view = core_->view(options.snapshot);
    if (!view.ok()) return view.status();
    return list_table_page(*view, account, options);
  });
}

}  // namespace varve
