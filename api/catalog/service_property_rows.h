// Owns: the encoding of service properties in the catalog, and the rows of services other than tables.
// Must never: change another property of the row.
//
// The properties of tables are in the row of their account. Each other service has a row, once they were set:
//
//   (0,6) services   PartitionKey: account name, RowKey: `queues` or `blobs`. Properties: Number (Int64), and those below
//
// Number is the account's number. A row with the number of an earlier account of the same name does not count.
//
// A value that is false, zero or not set has no property. The properties are:
// - LoggingRead, LoggingWrite, LoggingRemove (Boolean), LoggingDays (Int32);
// - HourMetricsEnabled, HourMetricsIncludeAPIs (Boolean), HourMetricsDays (Int32), and the same for MinuteMetrics;
// - for CORS rule number n, from 0: Cors<n>Origins, Cors<n>Methods, and, if not empty, Cors<n>ExposedHeaders and
//   Cors<n>AllowedHeaders (String, joined by commas), and Cors<n>MaxAge (Int32, seconds). The numbers have no gaps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve {

inline constexpr format::TableId kServicePropertiesTable = format::make_table_id(0, 6);

/// Returns the key of a service's row. The service is not kTables.
std::string service_properties_key(std::string_view account, StorageService service);
/// Returns whether the row belongs to the account with this number.
bool is_row_of_account(std::string_view row, std::uint32_t number);
/// Returns the row of a service with the default properties.
std::string encode_service_row(std::uint32_t account_number);

/// Decodes the properties of an account's row. Errors: kCorruption (properties that no caller could have set),
/// kUnsupported.
Result<ServiceProperties> decode_service_properties(std::string_view row);
/// Returns the row with its properties replaced by these. Errors: as format::EncodedEntity::open.
Result<std::string> with_service_properties(std::string_view row, const ServiceProperties& properties);

}  // namespace varve
