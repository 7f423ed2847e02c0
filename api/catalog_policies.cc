// Owns: the access policies of tables in the catalog: reading them, and replacing them as a whole.
// Must never: lose when the table was made: a row that is written again says so itself.
#include <optional>
#include <utility>

#include "api/catalog.h"
#include "api/policy_rows.h"
#include "api/quoted.h"
#include "format/batch.h"

namespace varve {
namespace {

/// The account's absence is told before the table's.
Status absent(const std::optional<AccountRow>& owner, const TableName& name) {
  return owner ? no_such_table(name.account, name.spelling) : no_such_account(name.account);
}

Status in_row(const Status& status, const TableName& name) {
  return status.in_file("catalog row of table " + quoted(name.lower) + " of account " + quoted(name.account));
}

}  // namespace

Result<std::vector<AccessPolicy>> Catalog::find_access_policies(const engine::ReadView& view, const TableName& name) {
  const auto row = view.get(table_row_key(name.account, name.lower));
  if (!row.ok()) return row.status();
  if (*row) {
    Result<std::vector<AccessPolicy>> policies = decode_access_policies((*row)->value);
    if (!policies.ok()) return in_row(policies.status(), name);
    return policies;
  }
  const Result<std::optional<AccountRow>> owner = find_account(view, name.account);
  if (!owner.ok()) return owner.status();
  return absent(*owner, name);
}

Status Catalog::set_access_policies(const TableName& name, std::span<const AccessPolicy> policies) {
  const std::string key = table_row_key(name.account, name.lower);
  engine_.pace(key.size());
  Result<engine::PartitionGuard> guard = lock_rows({key});
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> row = view->newest(key);
  if (!row.ok()) return row.status();
  if (!row->value) {
    const Result<std::optional<AccountRow>> owner = find_account(*view, name.account);
    if (!owner.ok()) return owner.status();
    return refuse(*std::move(guard), row->version, absent(*owner, name));
  }
  const Result<TableRow> table = decode_table_row(name.account, name.lower, row->version, *row->value);
  if (!table.ok()) return table.status();
  const Result<std::string> renewed = with_table_id(*row->value, *table, table->id);
  if (!renewed.ok()) return in_row(renewed.status(), name);
  const Result<std::string> changed = with_access_policies(*renewed, policies);
  if (!changed.ok()) return in_row(changed.status(), name);

  format::BatchBuilder batch;
  batch.put(key, *changed);
  view.reset();  // It would keep memory that the commit may wait for.
  engine::CommitRequest request;
  request.batch = batch.finish();
  request.locks = *std::move(guard);
  request.durability = engine::Durability::kSync;  // What is taken back must not come back after a power cut.
  return engine_.commit(std::move(request)).status();
}

}  // namespace varve
