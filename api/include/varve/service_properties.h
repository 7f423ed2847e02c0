// SPDX-License-Identifier: Apache-2.0
// Owns: the properties of an account's services as values: logging, metrics, CORS rules, and their limits.
// Must never: act on them. The server of the account does that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "status.h"
#include "version.h"

namespace varve {

/// The services of an account. Each service has properties of its own.
enum class StorageService : std::uint8_t {
  kTables,
  kQueues,
  kBlobs,
};

/// Settings for request logs. The store itself only keeps them. `varve serve` writes the logs accordingly, into the
/// account's container `$logs`. Source: P-02, P-03, AL-01.
struct LoggingProperties {
  /// Whether to log reads.
  bool read = false;
  /// Whether to log writes.
  bool write = false;
  /// Whether to log deletions; the element `Delete` of the service's XML.
  bool remove = false;
  /// Days to keep the logs, 1 to limits::kRetentionDaysMax. If not set, retention is disabled.
  std::optional<std::uint32_t> retention_days{};
  /// Compares all settings.
  bool operator==(const LoggingProperties&) const = default;
};

/// Settings for request metrics. The store itself only keeps them. `varve serve` counts the requests accordingly, and
/// writes metrics tables. Source: P-02, P-03, AM-01.
struct MetricsProperties {
  /// Whether to collect metrics.
  bool enabled = false;
  /// May be true only if `enabled` is true.
  bool include_apis = false;
  /// Days to keep the metrics, 1 to limits::kRetentionDaysMax. If not set, retention is disabled.
  std::optional<std::uint32_t> retention_days{};
  /// Compares all settings.
  bool operator==(const MetricsProperties&) const = default;
};

/// What pages from other origins may do. Source: P-10, P-11.
struct CorsRule {
  /// At least one origin; `*` allows every origin.
  std::vector<std::string> allowed_origins;
  /// At least one of DELETE, GET, HEAD, MERGE, OPTIONS, PATCH, POST, PUT.
  std::vector<std::string> allowed_methods;
  /// Seconds for which a browser may keep the answer to a preflight request, at most 2^31 - 1.
  std::uint32_t max_age_seconds = 0;
  /// Response headers that the page may read. A name that ends in `*` is a prefix: "x-ms-*" matches every header that
  /// begins with "x-ms-".
  std::vector<std::string> exposed_headers{};
  /// Request headers that the page may send, with prefixes as in exposed_headers.
  std::vector<std::string> allowed_headers{};
  /// Compares all lists in their order, and the age.
  bool operator==(const CorsRule&) const = default;
};

/// All properties of one service of an account. A new account has the defaults below. See Store::set_service_properties().
struct ServiceProperties {
  /// Settings for request logs.
  LoggingProperties logging{};
  /// Settings for metrics that are collected by the hour.
  MetricsProperties hour_metrics{};
  /// Settings for metrics that are collected by the minute.
  MetricsProperties minute_metrics{};
  /// In the order in which the server tries them.
  std::vector<CorsRule> cors_rules{};
  /// The protocol version of anonymous requests to the blob service that name none, `YYYY-MM-DD`. Empty: the newest one.
  /// Source: BQ-01.
  std::string default_version{};
  /// Compares all settings; the order of CORS rules counts.
  bool operator==(const ServiceProperties&) const = default;
};

/// The properties to replace. A property that is not set keeps its value (P-03).
struct ServicePropertiesChange {
  /// @{
  /// The new value of the property of the same name in ServiceProperties.
  std::optional<LoggingProperties> logging{};
  std::optional<MetricsProperties> hour_metrics{};
  std::optional<MetricsProperties> minute_metrics{};
  std::optional<std::vector<CorsRule>> cors_rules{};
  std::optional<std::string> default_version{};
  /// @}
  /// Compares which properties are set, and their values.
  bool operator==(const ServicePropertiesChange&) const = default;
};

/// Checks the limits of the properties that the change sets.
/// Errors   kInvalidArgument (InvalidXmlDocument):
///          - `include_apis` is set for metrics that are not enabled;
///          - a retention of more than limits::kRetentionDaysMax (365) days;
///          - more than limits::kCorsRulesMax (5) CORS rules, or more than limits::kCorsBytesMax (2048) bytes in all
///            rules.
///
///          kInvalidArgument (InvalidXmlNodeValue):
///          - a retention of 0 days;
///          - a CORS rule without an origin or method, or with an unknown method;
///          - a CORS rule with more origins, headers or header prefixes than limits.h allows;
///          - an origin or header that is empty, too long, or not visible ASCII without commas;
///          - a `max_age_seconds` above 2^31 - 1;
///          - a `default_version` that is neither empty nor a date.
/// Source   P-03, P-10, BQ-01.
VARVE_EXPORT Status check_service_properties(const ServicePropertiesChange& change);

}  // namespace varve
