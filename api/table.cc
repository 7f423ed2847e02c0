// Owns: the verbs of a table, as doors (table.h).
// Must never: do the work; entity_read.h and entity_write.h do.
#include "api/table.h"

#include <set>
#include <utility>

#include "api/entity_codec.h"
#include "api/entity_read.h"
#include "api/entity_write.h"
#include "api/guarded.h"
#include "api/limits.h"
#include "api/quoted.h"
#include "api/scan_read.h"
#include "api/service_error.h"
#include "api/table_state.h"

namespace varve {
namespace {

using Kind = TransactionOperation::Kind;

Status blamed(const Status& status, std::size_t index) {
  return status.at_operation(static_cast<std::uint32_t>(index));
}

Status check_one_partition(std::span<const TransactionOperation> operations) {
  const std::string& partition = operations.front().entity.partition_key();
  for (std::size_t i = 1; i < operations.size(); ++i) {
    if (operations[i].entity.partition_key() == partition) continue;
    return blamed(
        service_error::different_partitions("the transaction is on partition " + quoted(partition) +
                                            ", this operation on " + quoted(operations[i].entity.partition_key())),
        i);
  }
  return Status();
}

Status check_each_row_once(std::span<const TransactionOperation> operations) {
  std::set<std::string_view> rows;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string& row = operations[i].entity.row_key();
    if (rows.insert(row).second) continue;
    return blamed(service_error::duplicate_row("the transaction has RowKey " + quoted(row) + " twice"), i);
  }
  return Status();
}

Status check_transaction_size(std::span<const TransactionOperation> operations, const StoreLimits& limits) {
  std::size_t bound = 0;
  for (const TransactionOperation& operation : operations) bound += accounted_size_bound(operation.entity);
  if (bound <= limits.transaction_bytes_max) return Status();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    bytes += accounted_size_bytes(operations[i].entity);
    if (bytes <= limits.transaction_bytes_max) continue;
    return blamed(service_error::request_body_too_large("the transaction counts more than " +
                                                        std::to_string(limits.transaction_bytes_max) + " bytes"),
                  i);
  }
  return Status();
}

/// What is wrong with the transaction as a whole.
Status check_transaction(std::span<const TransactionOperation> operations, const StoreLimits& limits) {
  if (operations.empty()) return service_error::invalid_input("the transaction has no operation");
  if (operations.size() > limits.transaction_operations_max) {
    return blamed(service_error::invalid_input("the transaction has " + std::to_string(operations.size()) +
                                               " operations; at most " +
                                               std::to_string(limits.transaction_operations_max) + " are allowed"),
                  limits.transaction_operations_max - 1);
  }
  if (Status checked = check_one_partition(operations); !checked.ok()) return checked;
  if (Status checked = check_each_row_once(operations); !checked.ok()) return checked;
  return check_transaction_size(operations, limits);
}

Result<ETag> commit_single(StoreCore& core, const TableName& name, NameEntry& entry, Result<PreparedWrite> write,
                           const WriteOptions& options) {
  if (!write.ok()) return write.status();
  return commit_writes(core, name, entry, std::span(&*write, 1), options, false);
}

Result<ETag> put(StoreCore& core, const TableName& name, NameEntry& entry, Kind kind, const Entity& entity,
                 ETag if_match, const WriteOptions& options) {
  return guarded([&]() -> Result<ETag> {
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    return commit_single(core, name, entry, prepare_put(kind, entity, if_match, core.limits()), options);
  });
}

}  // namespace

Table::Table(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

std::string_view Table::account() const noexcept {
  return state_->name.account;
}

std::string_view Table::name() const noexcept {
  return state_->name.spelling;
}

Result<ETag> Table::insert(const Entity& entity, const WriteOptions& options) {
  return put(*state_->core, state_->name, *state_->entry, Kind::kInsert, entity, ETag(), options);
}

Result<ETag> Table::replace(const Entity& entity, ETag if_match, const WriteOptions& options) {
  return put(*state_->core, state_->name, *state_->entry, Kind::kReplace, entity, if_match, options);
}

Result<ETag> Table::merge(const Entity& entity, ETag if_match, const WriteOptions& options) {
  return put(*state_->core, state_->name, *state_->entry, Kind::kMerge, entity, if_match, options);
}

Result<ETag> Table::insert_or_replace(const Entity& entity, const WriteOptions& options) {
  return put(*state_->core, state_->name, *state_->entry, Kind::kInsertOrReplace, entity, ETag(), options);
}

Result<ETag> Table::insert_or_merge(const Entity& entity, const WriteOptions& options) {
  return put(*state_->core, state_->name, *state_->entry, Kind::kInsertOrMerge, entity, ETag(), options);
}

Status Table::remove(std::string_view partition_key, std::string_view row_key, ETag if_match,
                     const WriteOptions& options) {
  return guarded([&]() -> Status {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    return commit_single(*state_->core, state_->name, *state_->entry,
                         prepare_remove(partition_key, row_key, if_match, state_->core->limits()), options)
        .status();
  });
}

Result<std::vector<ETag>> Table::execute(const EntityGroupTransaction& transaction, const WriteOptions& options) {
  return guarded([&]() -> Result<std::vector<ETag>> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    const std::span<const TransactionOperation> operations = transaction.operations();
    if (Status checked = check_transaction(operations, state_->core->limits()); !checked.ok()) return checked;
    std::vector<PreparedWrite> writes;
    writes.reserve(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
      Result<PreparedWrite> write = prepare_write(operations[i], state_->core->limits());
      if (!write.ok()) return blamed(write.status(), i);
      writes.push_back(*std::move(write));
    }
    std::vector<ETag> etags(operations.size());
    const Result<ETag> etag = commit_writes(*state_->core, state_->name, *state_->entry, writes, options, true);
    if (!etag.ok()) return etag.status();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (operations[i].kind != Kind::kRemove) etags[i] = *etag;
    }
    return etags;
  });
}

Result<std::optional<Entity>> Table::get(std::string_view partition_key, std::string_view row_key,
                                         const ReadOptions& options) const {
  return guarded([&]() -> Result<std::optional<Entity>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return read_entity(*state_->core, state_->name, *state_->entry, partition_key, row_key, options);
  });
}

Result<std::vector<std::optional<Entity>>> Table::get_many(std::span<const EntityKey> keys,
                                                           const ReadOptions& options) const {
  return guarded([&]() -> Result<std::vector<std::optional<Entity>>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return read_entities(*state_->core, state_->name, *state_->entry, keys, options);
  });
}

Result<Page> Table::scan(const Scan& scan) const {
  return guarded([&]() -> Result<Page> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return read_page(*state_->core, state_->name, *state_->entry, scan);
  });
}

Result<Count> Table::count(const Scan& scan) const {
  return guarded([&]() -> Result<Count> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return count_entities(*state_->core, state_->name, *state_->entry, scan);
  });
}

Result<ScanPlan> Table::explain(const Scan& scan) const {
  return guarded([&]() -> Result<ScanPlan> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    return explain_scan(*state_->core, state_->name, *state_->entry, scan);
  });
}

}  // namespace varve
