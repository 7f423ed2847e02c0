// Owns: the service properties of accounts in the catalog: it reads them, and replaces some of them.
// Must never: lose the creation time of the account. A row that is written again stores it as Created.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/catalog/service_property_rows.h"
#include "api/commit/commit.h"
#include "api/model/quoted.h"
#include "format/keys/batch.h"

namespace varve {
namespace {

Status in_account_row(const Status& status, std::string_view account) {
  return status.in_file("catalog row of account " + quoted(account));
}

Status in_service_row(const Status& status, std::string_view account) {
  return status.in_file("catalog row of a service of account " + quoted(account));
}

void apply(const ServicePropertiesChange& change, ServiceProperties& properties) {
  if (change.logging) properties.logging = *change.logging;
  if (change.hour_metrics) properties.hour_metrics = *change.hour_metrics;
  if (change.minute_metrics) properties.minute_metrics = *change.minute_metrics;
  if (change.cors_rules) properties.cors_rules = *change.cors_rules;
  if (change.default_version) properties.default_version = *change.default_version;
}

/// Returns the row of an account with the change applied.
Result<std::string> changed_row(std::string_view account, const engine::Newest& newest,
                                const ServicePropertiesChange& change) {
  const Result<AccountRow> row = decode_account_row(account, newest.version, *newest.value);
  if (!row.ok()) return row.status();
  Result<ServiceProperties> properties = decode_service_properties(*newest.value);
  if (!properties.ok()) return in_account_row(properties.status(), account);
  apply(change, *properties);
  const Result<std::string> renewed = with_next_table(*newest.value, *row, row->next_table);
  if (!renewed.ok()) return in_account_row(renewed.status(), account);
  return with_service_properties(*renewed, *properties);
}

/// Returns the row of a service with the change applied. `owner` is the account's row.
Result<std::string> changed_service_row(std::string_view account, const engine::Newest& owner,
                                        const engine::Newest& service, const ServicePropertiesChange& change) {
  const Result<AccountRow> row = decode_account_row(account, owner.version, *owner.value);
  if (!row.ok()) return row.status();
  const bool is_there = service.value && is_row_of_account(*service.value, row->number);
  const std::string before = is_there ? std::string(*service.value) : encode_service_row(row->number);
  Result<ServiceProperties> properties = decode_service_properties(before);
  if (!properties.ok()) return in_service_row(properties.status(), account);
  apply(change, *properties);
  return with_service_properties(before, *properties);
}

}  // namespace

Result<ServiceProperties> Catalog::find_service_properties(const engine::ReadView& view, std::string_view account,
                                                           StorageService service) {
  const auto owner = view.get(account_row_key(account));
  if (!owner.ok()) return owner.status();
  if (!*owner) return no_such_account(account);
  if (service == StorageService::kTables) {
    Result<ServiceProperties> properties = decode_service_properties((*owner)->value);
    if (!properties.ok()) return in_account_row(properties.status(), account);
    return properties;
  }
  const Result<AccountRow> account_row = decode_account_row(account, (*owner)->version, (*owner)->value);
  if (!account_row.ok()) return account_row.status();
  const auto row = view.get(service_properties_key(account, service));
  if (!row.ok()) return row.status();
  if (!*row || !is_row_of_account((*row)->value, account_row->number)) return ServiceProperties();
  Result<ServiceProperties> properties = decode_service_properties((*row)->value);
  if (!properties.ok()) return in_service_row(properties.status(), account);
  return properties;
}

Status Catalog::set_service_properties(std::string_view account, const ServicePropertiesChange& change,
                                       StorageService service) {
  const std::string account_key = account_row_key(account);
  if (service == StorageService::kTables) {
    return change_row(
        account_key, [&](const engine::ReadView&) { return no_such_account(account); },
        [&](const engine::Newest& row) { return changed_row(account, row, change); });
  }
  const std::string key = service_properties_key(account, service);
  RowChange row_change({account_key, key},
                       [&](const auto& /*view*/, auto rows, format::BatchBuilder& batch) -> Refusal {
                         if (!rows[0].value) return {no_such_account(account), rows[0].version};
                         const Result<std::string> changed = changed_service_row(account, rows[0], rows[1], change);
                         if (!changed.ok()) return changed.status();
                         batch.put(key, *changed);
                         return {};
                       });
  row_change.paced_bytes = key.size();
  return commit(backend_, row_change).status();
}

}  // namespace varve
