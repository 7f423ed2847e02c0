// Owns: the access policies of tables in the catalog, and the rules by which their entities end: it reads them, and
// replaces them as a whole.
// Must never: lose the creation time of the table. A row that is written again stores it as Created.
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/catalog/policy_rows.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"

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

Result<std::optional<TableExpiry>> Catalog::find_table_expiry(const engine::ReadView& view, const TableName& name) {
  Result<std::optional<TableRow>> row = find_table(view, name.account, name.lower);
  if (!row.ok()) return row.status();
  if (*row) return std::move((*row)->expiry);
  return absent(view, name);
}

Status Catalog::set_table_expiry(const TableName& name, const std::optional<TableExpiry>& expiry) {
  {
    const engine::ReadView view = backend_.view();
    const Result<std::optional<TableRow>> row = find_table(view, name.account, name.lower);
    if (!row.ok()) return row.status();
    if (!*row) return absent(view, name);
    if (expiry && has_large_values((*row)->id)) return expires_no_owners(name.spelling);
  }
  if (expiry) {
    if (Status allowed = backend_.allow_ends(); !allowed.ok()) return allowed;
  }
  // Writes that begin meanwhile read the row.
  const NameCache::DropMark mark = names_.mark_table_drop(name.account, name.lower);
  return change_row(
      table_row_key(name.account, name.lower), [&](const engine::ReadView& view) { return absent(view, name); },
      [&](const engine::Newest& row) -> Result<std::string> {
        const Result<TableRow> table = decode_table_row(name.account, name.lower, row.version, *row.value);
        if (!table.ok()) return table.status();
        // The name may belong to another table now.
        if (expiry && has_large_values(table->id)) return expires_no_owners(name.spelling);
        return with_table_expiry(*row.value, *table, expiry);
      });
}

}  // namespace varve
