// Owns: the service properties of accounts in the catalog: reading them, and replacing some of them.
// Must never: lose when the account was made: a row that is written again says so itself.
#include <optional>
#include <utility>

#include "api/catalog.h"
#include "api/quoted.h"
#include "api/service_property_rows.h"
#include "format/batch.h"

namespace varve {
namespace {

Status in_account_row(const Status& status, std::string_view account) {
  return status.in_file("catalog row of account " + quoted(account));
}

/// The row of an account with a change made. `version` is the commit that wrote the row.
Result<std::string> changed_row(std::string_view account, format::CommitVersion version, std::string_view value,
                                const ServicePropertiesChange& change) {
  const Result<AccountRow> row = decode_account_row(account, version, value);
  if (!row.ok()) return row.status();
  Result<ServiceProperties> properties = decode_service_properties(value);
  if (!properties.ok()) return in_account_row(properties.status(), account);
  if (change.logging) properties->logging = *change.logging;
  if (change.hour_metrics) properties->hour_metrics = *change.hour_metrics;
  if (change.minute_metrics) properties->minute_metrics = *change.minute_metrics;
  if (change.cors_rules) properties->cors_rules = *change.cors_rules;
  const Result<std::string> renewed = with_next_table(value, *row, row->next_table);
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
  const std::string key = account_row_key(account);
  engine_.pace(key.size());
  Result<engine::PartitionGuard> guard = lock_rows({key});
  if (!guard.ok()) return guard.status();

  std::optional<engine::ReadView> view = engine_.view();
  const Result<engine::Newest> row = view->newest(key);
  if (!row.ok()) return row.status();
  if (!row->value) return refuse(*std::move(guard), row->version, no_such_account(account));
  const Result<std::string> changed = changed_row(account, row->version, *row->value, change);
  if (!changed.ok()) return changed.status();

  format::BatchBuilder batch;
  batch.put(key, *changed);
  view.reset();  // It would keep memory that the commit may wait for.
  engine::CommitRequest request;
  request.batch = batch.finish();
  request.locks = *std::move(guard);
  request.durability = engine::Durability::kSync;  // A rule that was taken back must not come back after a power cut.
  return engine_.commit(std::move(request)).status();
}

}  // namespace varve
