// Owns: a row of metrics as an entity: its keys and its properties.
// Must never: read a store.
#pragma once

#include <string>
#include <string_view>

#include "api/model/metrics_tables.h"
#include "tools/serve/analytics/service_counters.h"
#include "varve/types.h"

namespace varve::serve {

/// Returns the beginning of the hour or minute that contains the time.
DateTime interval_start(DateTime time, MetricsInterval interval) noexcept;
/// Returns the PartitionKey of the rows of an hour or minute, `YYYYMMDDThhmm` in UTC. Source: AM-02.
std::string interval_name(DateTime start);
/// Returns the RowKey of the requests of one type: `user;QueryEntities`. Source: AM-02.
std::string type_row_key(OperationType type);
inline constexpr std::string_view kAllRequests = "user;All";
inline constexpr std::string_view kSystemRequests = "system;All";

/// Returns the row. Source: AM-03.
Entity metrics_row(std::string partition_key, std::string row_key, const RequestSums& sums);
/// Returns the sums that a row was made of, as far as it has them. Averages are stored rounded, so the latencies may
/// differ by some nanoseconds a request.
RequestSums sums_of_row(const Entity& row);

}  // namespace varve::serve
