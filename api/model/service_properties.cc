// Owns: the limits of service properties (service_properties.h).
// Must never: know where the properties are stored.
#include "varve/service_properties.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::array<std::string_view, 8> kCorsMethods = {"DELETE",  "GET",   "HEAD", "MERGE",
                                                          "OPTIONS", "PATCH", "POST", "PUT"};

Status refuse_value(std::string_view what) {
  return service_error::invalid_xml_node_value(what);
}

Status check_retention(const std::optional<std::uint32_t>& days) {
  if (!days || (*days >= 1 && *days <= limits::kRetentionDaysMax)) return Status();
  const std::string text = "a retention is " + std::to_string(*days) + " days; 1 to 365 are allowed";
  return *days > limits::kRetentionDaysMax ? service_error::invalid_xml_document(text) : refuse_value(text);
}

Status check_metrics(const std::optional<MetricsProperties>& metrics) {
  if (!metrics) return Status();
  if (metrics->include_apis && !metrics->enabled) {
    return service_error::invalid_xml_document("metrics that are not enabled must not include APIs");
  }
  return check_retention(metrics->retention_days);
}

/// Checks an origin or the name of a header. They are joined by commas and written to headers, so nothing in them may
/// end such a header.
Status check_cors_word(std::string_view word) {
  const bool is_clean = std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < 0x7F && c != ','; });
  if (is_clean && !word.empty() && word.size() <= limits::kCorsWordCharactersMax) return Status();
  return refuse_value("the origin or header " + quoted(word) +
                      " of a CORS rule must be 1 to 256 visible ASCII characters without a comma");
}

Status check_cors_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (Status checked = check_cors_word(word); !checked.ok()) return checked;
  }
  return Status();
}

Status check_cors_headers(const std::vector<std::string>& names) {
  const auto prefixes = static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with('*'); }));
  if (prefixes > limits::kCorsHeaderPrefixesMax || names.size() - prefixes > limits::kCorsHeadersMax) {
    return refuse_value("a list of headers in a CORS rule may have at most 64 names and 2 prefixes");
  }
  return check_cors_words(names);
}

Status check_cors_rule(const CorsRule& rule) {
  if (rule.allowed_origins.empty() || rule.allowed_origins.size() > limits::kCorsOriginsMax) {
    return refuse_value("a CORS rule must have 1 to 64 origins");
  }
  if (rule.allowed_methods.empty()) return refuse_value("a CORS rule must have at least one method");
  for (const std::string& method : rule.allowed_methods) {
    if (std::find(kCorsMethods.begin(), kCorsMethods.end(), method) == kCorsMethods.end()) {
      return refuse_value(quoted(method) + " is not a method that a CORS rule can allow");
    }
  }
  if (rule.max_age_seconds > INT32_MAX)
    return refuse_value("the maximum age of a CORS rule must be at most 2^31 - 1 seconds");
  if (Status checked = check_cors_words(rule.allowed_origins); !checked.ok()) return checked;
  if (Status checked = check_cors_headers(rule.exposed_headers); !checked.ok()) return checked;
  return check_cors_headers(rule.allowed_headers);
}

/// Returns the size of the words as the document has them: joined by commas.
std::size_t joined_bytes(const std::vector<std::string>& words) {
  std::size_t bytes = words.empty() ? 0 : words.size() - 1;
  for (const std::string& word : words) bytes += word.size();
  return bytes;
}

std::size_t cors_bytes(const CorsRule& rule) {
  return joined_bytes(rule.allowed_origins) + joined_bytes(rule.allowed_methods) + joined_bytes(rule.exposed_headers) +
         joined_bytes(rule.allowed_headers) + std::to_string(rule.max_age_seconds).size();
}

Status check_cors_rules(const std::vector<CorsRule>& rules) {
  if (rules.size() > limits::kCorsRulesMax) {
    return service_error::invalid_xml_document(std::to_string(rules.size()) +
                                               " CORS rules are given; at most 5 are allowed");
  }
  std::size_t bytes = 0;
  for (const CorsRule& rule : rules) {
    if (Status checked = check_cors_rule(rule); !checked.ok()) return checked;
    bytes += cors_bytes(rule);
  }
  if (bytes <= limits::kCorsBytesMax) return Status();
  return service_error::invalid_xml_document("the CORS rules have more than 2 KiB; at most 2 KiB are allowed");
}

/// Checks that a version is a date, `YYYY-MM-DD`, or empty.
Status check_default_version(std::string_view version) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  const bool is_date = version.size() == kForm.size() &&
                       std::equal(version.begin(), version.end(), kForm.begin(),
                                  [](char c, char form) { return form == 'd' ? c >= '0' && c <= '9' : c == form; });
  if (version.empty() || is_date) return Status();
  return refuse_value("the default version " + quoted(version) + " is not a date such as 2021-12-02");
}

}  // namespace

Status check_service_properties(const ServicePropertiesChange& change) {
  if (change.logging) {
    if (Status checked = check_retention(change.logging->retention_days); !checked.ok()) return checked;
  }
  if (Status checked = check_metrics(change.hour_metrics); !checked.ok()) return checked;
  if (Status checked = check_metrics(change.minute_metrics); !checked.ok()) return checked;
  if (change.default_version) {
    if (Status checked = check_default_version(*change.default_version); !checked.ok()) return checked;
  }
  return change.cors_rules ? check_cors_rules(*change.cors_rules) : Status();
}

}  // namespace varve
