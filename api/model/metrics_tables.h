// Owns: the names of the tables in which a service keeps the metrics of an account, and who may write them.
// Must never: accept such a name where a user creates, drops or writes a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "varve/names.h"
#include "varve/service_properties.h"
#include "varve/status.h"

namespace varve {

/// The time that one row of metrics is about.
enum class MetricsInterval : std::uint8_t { kHour, kMinute };

/// Returns the spelling of the metrics table that has this name, in any case, or nothing. The former names of the hourly
/// tables, such as `$MetricsTransactionsTable`, lead to the present ones. Source: AM-01, AM-04.
std::optional<std::string_view> metrics_table(std::string_view name) noexcept;
/// Returns the name of the table for the requests to a service: `$MetricsHourPrimaryTransactionsTable`.
std::string_view metrics_table(StorageService service, MetricsInterval interval) noexcept;
/// The name of the table for the capacity of the blob service. Source: AM-04.
inline constexpr std::string_view kCapacityTable = "$MetricsCapacityBlob";

/// Returns kForbidden (AuthorizationFailure): the table belongs to the service. Source: AM-05.
Status metrics_are_read_only(std::string_view table);

}  // namespace varve
