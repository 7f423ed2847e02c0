// Owns: how service properties stand in the catalog row of their account.
// Must never: touch another property of the row.
//
// What is false, zero or not there is left out. LoggingRead, LoggingWrite, LoggingRemove (Boolean), LoggingDays
// (Int32); HourMetricsEnabled, HourMetricsIncludeAPIs (Boolean), HourMetricsDays (Int32), and the same of
// MinuteMetrics. The n-th CORS rule, from 0, is Cors<n>Origins and Cors<n>Methods (String, joined by commas), and where
// they are not empty Cors<n>ExposedHeaders and Cors<n>AllowedHeaders (the same) and Cors<n>MaxAge (Int32, seconds).
// Rules are numbered without a gap.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve {

/// Of the row of an account. Errors: kCorruption (properties that could not have been set), kUnsupported.
Result<ServiceProperties> decode_service_properties(std::string_view row);
/// The row with these properties, in place of those it has. Errors: as EntityView::open.
Result<std::string> with_service_properties(std::string_view row, const ServiceProperties& properties);

}  // namespace varve
