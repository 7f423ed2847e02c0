// Owns: the encoding of service properties in the catalog row of their account.
// Must never: change another property of the row.
//
// A value that is false, zero or not set has no property. The properties are:
// - LoggingRead, LoggingWrite, LoggingRemove (Boolean), LoggingDays (Int32);
// - HourMetricsEnabled, HourMetricsIncludeAPIs (Boolean), HourMetricsDays (Int32), and the same for MinuteMetrics;
// - for CORS rule number n, from 0: Cors<n>Origins, Cors<n>Methods, and, if not empty, Cors<n>ExposedHeaders and
//   Cors<n>AllowedHeaders (String, joined by commas), and Cors<n>MaxAge (Int32, seconds). The numbers have no gaps.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve {

/// Decodes the properties of an account's row. Errors: kCorruption (properties that no caller could have set),
/// kUnsupported.
Result<ServiceProperties> decode_service_properties(std::string_view row);
/// Returns the row with its properties replaced by these. Errors: as format::EncodedEntity::open.
Result<std::string> with_service_properties(std::string_view row, const ServiceProperties& properties);

}  // namespace varve
