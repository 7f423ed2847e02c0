// Owns: the catalog's verbs for queues (catalog.h).
// Must never: read or write a message.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/catalog/policy_rows.h"
#include "api/commit/commit.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

Status in_queue_row(const Status& status, const TableName& name) {
  return status.in_file("catalog row of queue " + quoted(name.lower) + " of account " + quoted(name.account));
}

}  // namespace

Status no_such_queue(std::string_view account, std::string_view queue) {
  return service_error::queue_not_found("account " + quoted(account) + " has no queue " + quoted(queue));
}

Result<std::optional<QueueRow>> Catalog::find_queue(const engine::ReadView& view, const TableName& name) {
  const auto found = view.get(queue_row_key(name.account, name.lower));
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<QueueRow>();
  Result<QueueRow> row = decode_queue_row(name.account, name.lower, (*found)->version, (*found)->value);
  if (!row.ok()) return row.status();
  return std::optional<QueueRow>(*std::move(row));
}

Result<std::uint64_t> Catalog::queue_secret(const engine::ReadView& view) {
  const auto found = view.get(queue_secret_key());
  if (!found.ok()) return found.status();
  if (!*found) return Status::corruption("the catalog has queues, but the secret of their receipts is missing");
  return decode_queue_secret((*found)->value);
}

Result<ResolvedTable> Catalog::resolve_queue(const TableName& name, NameEntry& entry) {
  return resolve(queue_names_, entry, [&](const engine::ReadView& view) -> Result<format::TableId> {
    const Result<std::optional<QueueRow>> row = find_queue(view, name);
    if (!row.ok()) return row.status();
    if (!*row) return missing_queue(view, name);
    return (*row)->id;
  });
}

Status Catalog::missing_queue(const engine::ReadView& view, const TableName& name) const {
  if (Status free = queue_release_.check(view, name.account, name.lower); !free.ok()) return free;
  return no_such_queue(name.account, name.spelling);
}

Refusal Catalog::refuse_missing_queue(const engine::ReadView& view, const TableName& name,
                                      const engine::Newest& row) const {
  const Result<NameRelease::Found> dropped = queue_release_.look(view, name.account, name.lower);
  if (!dropped.ok()) return dropped.status();
  if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
  return {no_such_queue(name.account, name.lower), row.version};
}

Status Catalog::create_queue(const TableName& name, const QueueOptions& options) {
  const std::string account_key = account_row_key(name.account);
  const std::string queue_key = queue_row_key(name.account, name.lower);
  const std::string secret_key = queue_secret_key();
  const auto judge = [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& owner = rows[0];
    const engine::Newest& queue = rows[1];
    if (!owner.value) return {no_such_account(name.account), owner.version};
    if (queue.value) {
      return {service_error::queue_already_exists("queue " + quoted(name.lower) + " of account " +
                                                  quoted(name.account) + " already exists"),
              queue.version};
    }
    const Result<NameRelease::Found> dropped = queue_release_.look(view, name.account, name.lower);
    if (!dropped.ok()) return dropped.status();
    if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
    const Result<DrawnNumber> number = draw_table_number(name.account, owner);
    if (!number.ok()) return number.status();
    batch.put(account_key, number->account_row);
    batch.put(queue_key, encode_queue_row(number->id, options));
    queue_release_.forget(batch, *dropped, name.account, name.lower);
    if (!rows[2].value) batch.put(secret_key, encode_queue_secret(backend_.env().random.next() | 1));
    return {};
  };
  RowChange change({account_key, queue_key, secret_key}, judge);
  change.paced_bytes = queue_key.size();
  change.request.durability = backend_.default_durability();
  return commit(backend_, change).status();
}

Result<format::TableId> Catalog::drop_queue(const TableName& name) {
  format::TableId retired = 0;
  const std::string key = queue_row_key(name.account, name.lower);
  RowChange change({key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) return refuse_missing_queue(view, name, row);
    const Result<QueueRow> queue = decode_queue_row(name.account, name.lower, row.version, *row.value);
    if (!queue.ok()) return queue.status();
    batch.remove(key);
    batch.retire_table(queue->id);
    queue_release_.note_drop(batch, name.account, name.lower);
    retired = queue->id;
    return {};
  });
  const NameCache::DropMark mark = queue_names_.mark_table_drop(name.account, name.lower);
  if (Status dropped = commit_drop(change); !dropped.ok()) return dropped;
  return retired;
}

Result<format::TableId> Catalog::clear_queue(const TableName& name) {
  format::TableId retired = 0;
  const std::string account_key = account_row_key(name.account);
  const std::string queue_key = queue_row_key(name.account, name.lower);
  const auto judge = [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& owner = rows[0];
    const engine::Newest& row = rows[1];
    if (!row.value) return refuse_missing_queue(view, name, row);
    if (!owner.value) return {no_such_queue(name.account, name.lower), owner.version};
    const Result<QueueRow> queue = decode_queue_row(name.account, name.lower, row.version, *row.value);
    if (!queue.ok()) return queue.status();
    const Result<DrawnNumber> number = draw_table_number(name.account, owner);
    if (!number.ok()) return number.status();
    const Result<std::string> changed = with_queue_id(*row.value, *queue, number->id);
    if (!changed.ok()) return changed.status();
    batch.put(account_key, number->account_row);
    batch.put(queue_key, *changed);
    batch.retire_table(queue->id);
    retired = queue->id;
    return {};
  };
  RowChange change({account_key, queue_key}, judge);
  const NameCache::DropMark mark = queue_names_.mark_table_drop(name.account, name.lower);
  if (Status dropped = commit_drop(change); !dropped.ok()) return dropped;
  return retired;
}

Result<std::vector<AccessPolicy>> Catalog::find_queue_policies(const engine::ReadView& view,
                                                               const TableName& name) const {
  const auto row = view.get(queue_row_key(name.account, name.lower));
  if (!row.ok()) return row.status();
  if (!*row) return missing_queue(view, name);
  Result<std::vector<AccessPolicy>> policies = decode_queue_access_policies((*row)->value);
  if (!policies.ok()) return in_queue_row(policies.status(), name);
  return policies;
}

Status Catalog::set_queue_policies(const TableName& name, std::span<const AccessPolicy> policies) {
  return change_row(
      queue_row_key(name.account, name.lower),
      [&](const engine::ReadView& view) { return refuse_missing_queue(view, name, {}).status; },
      [&](const engine::Newest& row) -> Result<std::string> {
        const Result<QueueRow> queue = decode_queue_row(name.account, name.lower, row.version, *row.value);
        if (!queue.ok()) return queue.status();
        const Result<std::string> renewed = with_queue_id(*row.value, *queue, queue->id);
        if (!renewed.ok()) return in_queue_row(renewed.status(), name);
        Result<std::string> changed = with_access_policies(*renewed, policies);
        if (!changed.ok()) return in_queue_row(changed.status(), name);
        return changed;
      });
}

Status Catalog::set_queue_metadata(const TableName& name, const std::vector<MetadataPair>& metadata) {
  return change_row(
      queue_row_key(name.account, name.lower),
      [&](const engine::ReadView& view) { return refuse_missing_queue(view, name, {}).status; },
      [&](const engine::Newest& row) -> Result<std::string> {
        const Result<QueueRow> queue = decode_queue_row(name.account, name.lower, row.version, *row.value);
        if (!queue.ok()) return queue.status();
        return with_metadata(*row.value, *queue, metadata);
      });
}

}  // namespace varve
