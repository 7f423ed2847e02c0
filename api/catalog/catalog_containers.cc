// Owns: the catalog's verbs for containers (catalog.h).
// Must never: read or write a blob.
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/catalog/policy_rows.h"
#include "api/catalog/work_rows.h"
#include "api/commit/commit.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

Status in_container_row(const Status& status, const TableName& name) {
  return status.in_file("catalog row of container " + quoted(name.lower) + " of account " + quoted(name.account));
}

}  // namespace

Status no_such_container(std::string_view account, std::string_view container) {
  return service_error::container_not_found("account " + quoted(account) + " has no container " + quoted(container));
}

Result<std::optional<ContainerRow>> Catalog::find_container(const engine::ReadView& view, const TableName& name) {
  const auto found = view.get(container_row_key(name.account, name.lower));
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<ContainerRow>();
  Result<ContainerRow> row = decode_container_row(name.account, name.lower, (*found)->version, (*found)->value);
  if (!row.ok()) return row.status();
  return std::optional<ContainerRow>(*std::move(row));
}

Result<ResolvedTable> Catalog::resolve_container(const TableName& name, NameEntry& entry) {
  return resolve(container_names_, entry, [&](const engine::ReadView& view) -> Result<format::TableId> {
    const Result<std::optional<ContainerRow>> row = find_container(view, name);
    if (!row.ok()) return row.status();
    if (!*row) return missing_container(view, name);
    return (*row)->id;
  });
}

Status Catalog::missing_container(const engine::ReadView& view, const TableName& name) const {
  if (Status free = container_release_.check(view, name.account, name.lower); !free.ok()) return free;
  return no_such_container(name.account, name.spelling);
}

Refusal Catalog::refuse_missing_container(const engine::ReadView& view, const TableName& name,
                                          const engine::Newest& row) const {
  const Result<NameRelease::Found> dropped = container_release_.look(view, name.account, name.lower);
  if (!dropped.ok()) return dropped.status();
  if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
  return {no_such_container(name.account, name.lower), row.version};
}

Status Catalog::create_container(const TableName& name, const ContainerOptions& options) {
  const std::string account_key = account_row_key(name.account);
  const std::string container_key = container_row_key(name.account, name.lower);
  const auto judge = [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& owner = rows[0];
    const engine::Newest& container = rows[1];
    if (!owner.value) return {no_such_account(name.account), owner.version};
    if (container.value) {
      return {service_error::container_already_exists("container " + quoted(name.lower) + " of account " +
                                                      quoted(name.account) + " already exists"),
              container.version};
    }
    const Result<NameRelease::Found> dropped = container_release_.look(view, name.account, name.lower);
    if (!dropped.ok()) return dropped.status();
    if (!dropped->status.ok()) return {dropped->status, dropped->rests_on};
    const Result<DrawnNumber> number = draw_table_number(name.account, owner, 2);
    if (!number.ok()) return number.status();
    batch.put(account_key, number->account_row);
    batch.put(container_key, encode_new_container_row(number->id, options));
    container_release_.forget(batch, *dropped, name.account, name.lower);
    return {};
  };
  RowChange change({account_key, container_key}, judge);
  change.paced_bytes = container_key.size();
  change.request.durability = backend_.default_durability();
  return commit(backend_, change).status();
}

Result<format::TableId> Catalog::drop_container(const TableName& name,
                                                const std::function<Status(ContainerRow&)>& admit) {
  const std::string key = container_row_key(name.account, name.lower);
  format::TableId id = 0;
  RowChange change({key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) return refuse_missing_container(view, name, row);
    Result<ContainerRow> container = decode_container_row(name.account, name.lower, row.version, *row.value);
    if (!container.ok()) return container.status();
    if (Status admitted = admit(*container); !admitted.ok()) return {admitted, row.version};
    id = container->id;
    batch.remove(key);
    batch.retire_table(fence_of(container->id));
    batch.put(work_key({WorkKind::kContainer, container->id, fence_of(container->id)}), encode_work());
    container_release_.note_drop(batch, name.account, name.lower);
    return {};
  });
  const NameCache::DropMark mark = container_names_.mark_table_drop(name.account, name.lower);
  if (Status dropped = commit_drop(change); !dropped.ok()) return dropped;
  return id;
}

Result<ContainerRow> Catalog::change_container(const TableName& name,
                                               const std::function<Status(ContainerRow&)>& change,
                                               const std::optional<std::span<const AccessPolicy>>& policies) {
  const std::string key = container_row_key(name.account, name.lower);
  std::optional<ContainerRow> changed;
  RowChange row_change({key}, [&](const auto& view, auto rows, format::BatchBuilder& batch) -> Refusal {
    const engine::Newest& row = rows[0];
    if (!row.value) return refuse_missing_container(view, name, row);
    changed.reset();
    Result<ContainerRow> container = decode_container_row(name.account, name.lower, row.version, *row.value);
    if (!container.ok()) return container.status();
    if (Status admitted = change(*container); !admitted.ok()) return {admitted, row.version};
    Result<std::string> renewed = with_container(*row.value, *container);
    if (!renewed.ok()) return in_container_row(renewed.status(), name);
    if (policies) renewed = with_access_policies(*renewed, *policies);
    if (!renewed.ok()) return in_container_row(renewed.status(), name);
    batch.put(key, *renewed);
    changed = *std::move(container);
    return {};
  });
  row_change.paced_bytes = key.size();
  const Result<engine::CommitVersion> version = commit(backend_, row_change);
  if (!version.ok()) return version.status();
  if (changed->changed == 0) changed->changed = *version;
  return *std::move(changed);
}

Result<std::vector<AccessPolicy>> Catalog::find_container_policies(const engine::ReadView& view,
                                                                   const TableName& name) const {
  const auto row = view.get(container_row_key(name.account, name.lower));
  if (!row.ok()) return row.status();
  if (!*row) return missing_container(view, name);
  Result<std::vector<AccessPolicy>> policies = decode_container_access_policies((*row)->value);
  if (!policies.ok()) return in_container_row(policies.status(), name);
  return policies;
}

}  // namespace varve
