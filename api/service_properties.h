// SPDX-License-Identifier: Apache-2.0
// Owns: an account's service properties as values: logging, metrics, CORS rules, and their limits.
// Must never: act on them; who serves the account does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "status.h"

#pragma GCC visibility push(default)

namespace varve {

/// Kept, and without effect: the store writes no log of requests. Source: P-02, P-03.
struct LoggingProperties {
  bool read = false;
  bool write = false;
  bool remove = false;
  /// Days for which is kept what was logged, 1 to limits::kRetentionDaysMax; nothing: no retention is enabled.
  std::optional<std::uint32_t> retention_days{};
  bool operator==(const LoggingProperties&) const = default;
};

/// Kept, and without effect. Source: P-02, P-03.
struct MetricsProperties {
  bool enabled = false;
  /// Only of enabled metrics.
  bool include_apis = false;
  /// As of logging.
  std::optional<std::uint32_t> retention_days{};
  bool operator==(const MetricsProperties&) const = default;
};

/// What pages of other origins may do. Source: P-10, P-11.
struct CorsRule {
  /// At least one; `*` is any.
  std::vector<std::string> allowed_origins;
  /// At least one of DELETE, GET, HEAD, MERGE, OPTIONS, PATCH, POST, PUT.
  std::vector<std::string> allowed_methods;
  std::uint32_t max_age_seconds = 0;
  /// Names of headers; one that ends in `*` stands for all that begin so.
  std::vector<std::string> exposed_headers{};
  std::vector<std::string> allowed_headers{};
  bool operator==(const CorsRule&) const = default;
};

/// See Store::set_service_properties(). A new account has them as they are here.
struct ServiceProperties {
  LoggingProperties logging{};
  MetricsProperties hour_metrics{};
  MetricsProperties minute_metrics{};
  /// In the order in which they are tried.
  std::vector<CorsRule> cors_rules{};
  bool operator==(const ServiceProperties&) const = default;
};

/// What is to be replaced; what is not there keeps its value (P-03).
struct ServicePropertiesChange {
  std::optional<LoggingProperties> logging{};
  std::optional<MetricsProperties> hour_metrics{};
  std::optional<MetricsProperties> minute_metrics{};
  std::optional<std::vector<CorsRule>> cors_rules{};
  bool operator==(const ServicePropertiesChange&) const = default;
};

/// Errors   kInvalidArgument (InvalidXmlDocument)     APIs of metrics that are not enabled; days over 365; more than
///                                                    limits::kCorsRulesMax rules, or over limits::kCorsBytesMax in all
///          kInvalidArgument (InvalidXmlNodeValue)    no days; of a rule, no origin or method, an unknown
///                                                    method, more origins or headers than limits.h has, or one that is
///                                                    empty, too long, or holds other than visible ASCII without commas
/// Source   P-03, P-10.
Status check_service_properties(const ServicePropertiesChange& change);

}  // namespace varve

#pragma GCC visibility pop
