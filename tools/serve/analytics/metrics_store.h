// Owns: the metrics tables of a store: adding the figures of an interval, and deleting old rows.
// Must never: make a figure higher than it is. If the outcome of a commit is unknown, the caller must not repeat it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/model/metrics_tables.h"
#include "tools/serve/analytics/service_counters.h"
#include "varve/result.h"
#include "varve/store.h"
#include "varve/types.h"

namespace varve::serve {

/// The table for the requests to one service of an account.
struct MetricsPlace {
  std::string account;
  StorageService service = StorageService::kTables;
  MetricsInterval interval = MetricsInterval::kHour;
};

/// The sums of one row.
struct RowSums {
  std::string row_key;
  RequestSums sums;
};

/// The rows of one hour or minute.
struct IntervalRows {
  DateTime start;
  std::vector<RowSums> rows;
};

/// Creates the table if it does not exist. Errors: as ServiceTables::open().
Status make_metrics_table(Store& store, const MetricsPlace& place);

/// Adds the sums to the rows of the interval, in one commit. The rows exist already if the server was stopped within the
/// interval. The commit is buffered: the caller syncs the store. Errors: as ServiceTables::open() and Table::execute().
Status add_to_metrics(Store& store, const MetricsPlace& place, const IntervalRows& interval);

/// Deletes rows of intervals that began before `oldest`, with buffered commits. Returns whether all are deleted: one
/// call deletes a limited number. Errors: those of scans and writes. A missing table has no rows.
Result<bool> delete_old_metrics(Store& store, const MetricsPlace& place, DateTime oldest);
/// Deletes old rows of a metrics table of this name, as above.
Result<bool> delete_old_rows(Store& store, std::string_view account, std::string_view table, DateTime oldest);

}  // namespace varve::serve
