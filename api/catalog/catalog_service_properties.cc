// Owns: the service properties of accounts in the catalog: it reads them, and replaces some of them.
// Must never: lose the creation time of the account. A row that is written again stores it as Created.
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/catalog/service_property_rows.h"
#include "api/model/quoted.h"

namespace varve {
namespace {

Status in_account_row(const Status& status, std::string_view account) {
  return status.in_file("catalog row of account " + quoted(account));
}

/// Returns the row of an account with the change applied.
Result<std::string> changed_row(std::string_view account, const engine::Newest& newest,
                                const ServicePropertiesChange& change) {
  const Result<AccountRow> row = decode_account_row(account, newest.version, *newest.value);
  if (!row.ok()) return row.status();
  Result<ServiceProperties> properties = decode_service_properties(*newest.value);
  if (!properties.ok()) return in_account_row(properties.status(), account);
  if (change.logging) properties->logging = *change.logging;
  if (change.hour_metrics) properties->hour_metrics = *change.hour_metrics;
  if (change.minute_metrics) properties->minute_metrics = *change.minute_metrics;
  if (change.cors_rules) properties->cors_rules = *change.cors_rules;
  const Result<std::string> renewed = with_next_table(*newest.value, *row, row->next_table);
  if (!renewed.ok()) return in_account_row(renewed.status(), account);
  return with_service_properties(*renewed, *properties);
}

}  // namespace

Result<ServiceProperties> Catalog::find_service_properties(const engine::ReadView& view, std::string_view account) {
  const auto row = view.get(account_row_key(account));
  if (!row.ok()) return row.status();
  if (!*row) return no_such_account(account);
  Result<ServiceProperties> properties = decode_service_properties((*row)->value);
  if (!properties.ok()) return in_account_row(properties.status(), account);
  return properties;
}

Status Catalog::set_service_properties(std::string_view account, const ServicePropertiesChange& change) {
  return change_row(
      account_row_key(account), [&](const engine::ReadView&) { return no_such_account(account); },
      [&](const engine::Newest& row) { return changed_row(account, row, change); });
}

}  // namespace varve
