// Owns: the access policies of tables in the catalog: it reads them, and replaces them as a whole.
// Must never: lose the creation time of the table. A row that is written again stores it as Created.
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/catalog/policy_rows.h"
#include "api/model/quoted.h"

namespace varve {
namespace {

/// Returns the error for a missing row. A missing account is reported before a missing table.
Status absent(const engine::ReadView& view, const TableName& name) {
  const Result<std::optional<AccountRow>> owner = Catalog::find_account(view, name.account);
  if (!owner.ok()) return owner.status();
  return *owner ? no_such_table(name.account, name.spelling) : no_such_account(name.account);
}

Status in_row(const Status& status, const TableName& name) {
  return status.in_file("catalog row of table " + quoted(name.lower) + " of account " + quoted(name.account));
}

/// Returns the row of a table with its policies replaced.
Result<std::string> changed_row(const TableName& name, const engine::Newest& row,
                                std::span<const AccessPolicy> policies) {
  const Result<TableRow> table = decode_table_row(name.account, name.lower, row.version, *row.value);
  if (!table.ok()) return table.status();
  const Result<std::string> renewed = with_table_id(*row.value, *table, table->id);
  if (!renewed.ok()) return in_row(renewed.status(), name);
  Result<std::string> changed = with_access_policies(*renewed, policies);
  if (!changed.ok()) return in_row(changed.status(), name);
  return changed;
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
  return absent(view, name);
}

Status Catalog::set_access_policies(const TableName& name, std::span<const AccessPolicy> policies) {
  return change_row(
      table_row_key(name.account, name.lower), [&](const engine::ReadView& view) { return absent(view, name); },
      [&](const engine::Newest& row) { return changed_row(name, row, policies); });
}

}  // namespace varve
