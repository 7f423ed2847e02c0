// Owns: reads and writes of metrics tables (metrics_store.h).
// Must never: hold a lock, or be called by a thread that carries requests.
#include "tools/serve/analytics/metrics_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/doors/service_tables.h"
#include "tools/serve/analytics/metrics_row.h"
#include "varve/limits.h"

namespace varve::serve {
namespace {

/// The pages of one call of delete_old_metrics(), so that a stop of the server is not held up.
constexpr int kPagesOfDeletion = 20;

WriteOptions buffered() {
  WriteOptions options;
  options.durability = Durability::kBuffered;
  return options;
}

Result<Table> open_to_write(Store& store, const MetricsPlace& place) {
  return ServiceTables::open(store, place.account, metrics_table(place.service, place.interval));
}

/// Deletes the entities of a page, one commit for each group of a partition.
Status delete_page(Table& table, const std::vector<Entity>& entities) {
  std::vector<WriteOperation> group;
  for (std::size_t i = 0; i < entities.size(); ++i) {
    group.push_back(WriteOperation::remove(entities[i].partition_key(), entities[i].row_key(), ETag::any()));
    const bool is_last = i + 1 == entities.size() || entities[i + 1].partition_key() != entities[i].partition_key();
    if (!is_last && group.size() < limits::kTransactionOperationsMax) continue;
    const Status deleted = table.execute(group, buffered()).status();
    if (!deleted.ok() && deleted.code() != Code::kNotFound) return deleted;  // a client deleted one meanwhile
    group.clear();
  }
  return Status();
}

}  // namespace

Status make_metrics_table(Store& store, const MetricsPlace& place) {
  return open_to_write(store, place).status();
}

Status add_to_metrics(Store& store, const MetricsPlace& place, const IntervalRows& interval) {
  Result<Table> table = open_to_write(store, place);
  if (!table.ok()) return table.status();
  const std::string name = interval_name(interval.start);
  std::vector<EntityKey> keys;
  for (const RowSums& row : interval.rows) keys.push_back({name, row.row_key});
  const Result<std::vector<std::optional<Entity>>> present = (*table).get_many(keys);
  if (!present.ok()) return present.status();
  std::vector<WriteOperation> writes;
  for (std::size_t i = 0; i < interval.rows.size(); ++i) {
    RequestSums sums = interval.rows[i].sums;
    if ((*present)[i]) sums += sums_of_row(*(*present)[i]);
    writes.push_back(WriteOperation::insert_or_replace(metrics_row(name, interval.rows[i].row_key, sums)));
  }
  return (*table).execute(writes, buffered()).status();
}

Result<bool> delete_old_metrics(Store& store, const MetricsPlace& place, DateTime oldest) {
  return delete_old_rows(store, place.account, metrics_table(place.service, place.interval), oldest);
}

Result<bool> delete_old_rows(Store& store, std::string_view account, std::string_view name, DateTime oldest) {
  Result<Table> table = store.open_table(account, name);
  if (table.code() == Code::kNotFound) return true;
  if (!table.ok()) return table.status();
  Scan scan;
  scan.range = ScanRange::partitions("", interval_name(oldest));
  scan.read.select = {"PartitionKey", "RowKey"};
  for (int pages = 0; pages < kPagesOfDeletion; ++pages) {
    const Result<Page> page = (*table).scan(scan);
    if (!page.ok()) return page.status();
    if (Status deleted = delete_page(*table, (*page).entities); !deleted.ok()) return deleted;
    if (!(*page).continuation) return true;
    scan.continuation = *(*page).continuation;
  }
  return false;
}

}  // namespace varve::serve
